"""API: branches, references, commits, comparisons and commit statuses."""

from controller.demo.standin import pulls, shapes_git, shapes_repo
from controller.demo.standin.accounts import Role
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.gitdiff import FileChange
from controller.demo.standin.gitrepo import BareRepo, Commit
from controller.demo.standin.state import Refusal, invalid, not_found
from controller.demo.standin.values import Json, Status

routes = Routes()
_REPO = "/repos/{owner}/{repo}"
_HEADS = "refs/heads/"
_STATES = frozenset({"error", "failure", "pending", "success"})


def readable(call: Call) -> BareRepo:
    """The repository's git; Refusal 403 for a token that may not read contents."""
    call.look("contents")
    return call.state.git(call.repo)


def _sha(call: Call, name: str) -> str:
    """The commit that a branch, tag or id names; Refusal 422 as GitHub words it."""
    sha = readable(call).revision(name)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {name}")
    return sha


@routes("GET", _REPO + "/branches")
def branches(call: Call) -> Reply:
    """Every branch by name."""
    heads = readable(call).refs(_HEADS)
    rows = [] if call.query.get("protected") == "true" else sorted(heads.items())
    return call.page(
        rows,
        lambda it: shapes_git.branch(
            call.state, call.repo, it[0].removeprefix(_HEADS), it[1], full=False
        ),
    )


@routes("GET", _REPO + "/branches/{branch:path}")
def branch(call: Call) -> Reply:
    """One branch."""
    name = call.params["branch"]
    sha = readable(call).head(name)
    if sha is None:
        raise Refusal(404, "Branch not found")
    return Reply(body=shapes_git.branch(call.state, call.repo, name, sha, full=True))


@routes("GET", _REPO + "/git/ref/{ref:path}")
def ref(call: Call) -> Reply:
    """One reference, exactly that one."""
    name = f"refs/{call.params['ref']}"
    sha = readable(call).refs(name).get(name)
    if sha is None:
        raise not_found()
    return Reply(body=shapes_git.ref(call.state, call.repo, name, sha))


@routes("GET", _REPO + "/git/matching-refs/{ref:path}")
def matching_refs(call: Call) -> Reply:
    """Every reference that starts with the given one."""
    start = f"refs/{call.params['ref']}"
    found = [it for it in sorted(readable(call).refs("refs/").items()) if it[0].startswith(start)]
    return call.page(found, lambda it: shapes_git.ref(call.state, call.repo, *it))


@routes("POST", _REPO + "/git/refs")
def create_ref(call: Call) -> Reply:
    """A new reference."""
    by = call.need(Role.WRITE, "contents")
    git, name = readable(call), call.text("ref", "Reference")
    sha = git.resolve(call.text("sha", "Reference"))
    if not git.valid_ref(name) or name.startswith("refs/pull/"):
        raise Refusal(422, f"{name} is not a valid ref name.")
    if sha is None:
        raise Refusal(422, "Object does not exist")
    if git.resolve(name) is not None:
        raise Refusal(422, "Reference already exists")
    git.update_ref(name, sha)
    pulls.pushed(call.state, call.repo, by, [(name, None, sha)], "api")
    shown = shapes_git.ref(call.state, call.repo, name, sha)
    return Reply(status=201, body=shown, headers={"Location": shown["url"]})


def _existing(call: Call) -> tuple[str, str]:
    name = f"refs/{call.params['ref']}"
    old = call.state.git(call.repo).resolve(name)
    if old is None or name.startswith("refs/pull/"):
        raise Refusal(422, "Reference does not exist")
    return name, old


@routes("PATCH", _REPO + "/git/refs/{ref:path}")
def move_ref(call: Call) -> Reply:
    """Move a reference; not a fast-forward only with ``force``."""
    by = call.need(Role.WRITE, "contents")
    git, (name, old) = readable(call), _existing(call)
    sha = git.resolve(call.text("sha", "Reference"))
    if sha is None:
        raise Refusal(422, "Object does not exist")
    if not git.is_ancestor(old, sha) and call.body.get("force") is not True:
        raise Refusal(422, "Update is not a fast forward")
    git.update_ref(name, sha)
    pulls.pushed(call.state, call.repo, by, [(name, old, sha)], "api")
    return Reply(body=shapes_git.ref(call.state, call.repo, name, sha))


@routes("DELETE", _REPO + "/git/refs/{ref:path}")
def delete_ref(call: Call) -> Reply:
    """Delete a reference."""
    by = call.need(Role.WRITE, "contents")
    name, old = _existing(call)
    if name == _HEADS + call.repo.default_branch:
        raise Refusal(422, "Cannot delete the default branch")
    call.state.git(call.repo).update_ref(name, None)
    pulls.pushed(call.state, call.repo, by, [(name, old, None)], "api")
    return Reply(status=204)


# Commits


def _changed(git: BareRepo, shown: Commit) -> list[FileChange]:
    parent = shown.parents[0] if shown.parents else git.empty_tree()
    return git.changes(parent, shown.sha)


@routes("GET", _REPO + "/commits")
def commits(call: Call) -> Reply:
    """History of a branch or commit, newest first, optionally of one path."""
    git = readable(call)
    start = call.query.get("sha") or call.repo.default_branch
    sha = git.revision(start)
    if sha is None:
        if not git.refs():
            raise Refusal(409, "Git Repository is empty.")
        raise not_found()
    path = call.query.get("path")
    listed = git.history(sha, path)
    return call.page(listed, lambda it: shapes_git.commit(call.state, call.repo, it))


@routes("GET", _REPO + "/commits/{ref:path}/status")
def combined(call: Call) -> Reply:
    """The newest status of each context, and what they amount to."""
    sha = _sha(call, call.params["ref"])
    latest = {it.context: it for it in call.repo.statuses if it.sha == sha}
    states = {it.state for it in latest.values()}
    word = "pending" if not states or "pending" in states else "success"
    if states & {"error", "failure"}:
        word = "failure"
    rows, headers = call.slice(list(latest.values()))
    url = shapes_repo.api(call.state, call.repo, f"/commits/{sha}")
    body: Json = {
        "state": word,
        "statuses": [shapes_git.status(call.state, call.repo, it, simple=True) for it in rows],
        "sha": sha,
        "total_count": len(latest),
        "repository": shapes_repo.repository(call.state, call.repo, call.login),
        "commit_url": url,
        "url": f"{url}/status",
    }
    return Reply(body=body, headers=headers)


@routes("GET", _REPO + "/commits/{ref:path}/statuses")
def statuses(call: Call) -> Reply:
    """Every status of a commit, newest first."""
    sha = _sha(call, call.params["ref"])
    found = [it for it in call.repo.statuses if it.sha == sha][::-1]
    return call.page(found, lambda it: shapes_git.status(call.state, call.repo, it))


@routes("POST", _REPO + "/statuses/{sha}")
def set_status(call: Call) -> Reply:
    """A new status of a commit."""
    by = call.need(Role.WRITE, "statuses")
    sha, word = _sha(call, call.params["sha"]), call.text("state", "Status")
    if word not in _STATES:
        raise invalid("Status", "state", "invalid")

    def given(name: str) -> str | None:
        return call.text(name, "Status") if call.given(name) else None

    made = Status(
        id=call.state.next_id(),
        sha=sha,
        state=word,
        context=call.text("context", "Status", default="default"),
        description=given("description"),
        target_url=given("target_url"),
        creator=by,
        created_at=call.state.now(),
    )
    call.repo.statuses.append(made)
    return Reply(status=201, body=shapes_git.status(call.state, call.repo, made))


@routes("GET", _REPO + "/commits/{ref:path}")
def commit(call: Call) -> Reply:
    """One commit with its files, or its diff, patch or bare id."""
    git, sha = readable(call), _sha(call, call.params["ref"])
    shown = git.commit(sha)
    parent = shown.parents[0] if shown.parents else git.empty_tree()
    if call.accept.endswith(".sha"):
        return Reply(body=sha, media="sha")
    match call.wants():
        case "diff":
            return Reply(body=git.diff_text(parent, sha), media="diff")
        case "patch":
            return Reply(
                body=git.patch_text(f"{sha}^" if shown.parents else "--root", sha), media="patch"
            )
        case _:
            return Reply(body=shapes_git.commit(call.state, call.repo, shown, _changed(git, shown)))


@routes("GET", _REPO + "/compare/{basehead:path}")
def compare(call: Call) -> Reply:
    """Two commits: merge base, how far apart, commits and files on the head's side."""
    git = readable(call)
    first, dots, second = call.params["basehead"].partition("...")
    sides = [git.revision(name.rpartition(":")[2]) for name in (first, second)]
    base, head = sides
    if not dots or base is None or head is None:
        raise not_found()
    middle = git.merge_base(base, head)
    if middle is None:
        raise Refusal(404, f"No common ancestor between {first} and {second}.")
    if call.wants() is not None:
        text = git.diff_text if call.wants() == "diff" else git.patch_text
        return Reply(body=text(middle, head), media=call.wants())
    ahead, behind = git.ahead_behind(base, head)
    listed = git.commits("--topo-order", f"{base}..{head}")[::-1]
    rows, headers = call.slice(listed)
    url = shapes_repo.api(call.state, call.repo, f"/compare/{first}...{second}")
    html = shapes_repo.web(call.state, call.repo, f"/compare/{first}...{second}")
    state, repo = call.state, call.repo
    body: Json = {
        "url": url,
        "html_url": html,
        "permalink_url": shapes_repo.web(state, repo, f"/compare/{base}...{head}"),
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "base_commit": shapes_git.commit(state, repo, git.commit(base)),
        "merge_base_commit": shapes_git.commit(state, repo, git.commit(middle)),
        "status": _relation(ahead, behind),
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [shapes_git.commit(state, repo, it) for it in rows],
        "files": [shapes_git.file(state, repo, head, it) for it in git.changes(middle, head)[:300]],
    }
    return Reply(body=body, headers=headers)


def _relation(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"
