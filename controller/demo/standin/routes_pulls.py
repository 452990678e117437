"""API: pull requests, their files, commits and reviews, and merging."""

from controller.demo.standin import issues, pulls, shapes_git, shapes_pulls
from controller.demo.standin.accounts import Role
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.state import Refusal, invalid, not_found
from controller.demo.standin.values import Issue, Pull

routes = Routes()
_PULLS = "/repos/{owner}/{repo}/pulls"
_PULL = _PULLS + "/{number:int}"
_MOST_COMMITS = 250
_MOST_FILES = 3000


def _pull(call: Call) -> tuple[Issue, Pull]:
    pulls.refresh(call.state, call.repo)
    return call.pull()


def _shown(call: Call, issue: Issue, pull: Pull, *, status: int = 200, ask: bool = False) -> Reply:
    body = shapes_pulls.pull(call.state, call.repo, issue, pull, call.login, ask=ask)
    return Reply(status=status, body=body)


@routes("GET", _PULLS)
def listed(call: Call) -> Reply:
    """Pull requests, filtered by state, head (``owner:branch``) and base."""
    call.look("pull_requests")
    pulls.refresh(call.state, call.repo)
    state, base = call.query.get("state", "open"), call.query.get("base")
    if state not in {"open", "closed", "all"}:
        raise invalid("PullRequest", "state", "invalid")
    owner, _, branch = call.query.get("head", "").rpartition(":")
    found = [
        (issue, pull)
        for issue, pull in call.repo.pulls()
        if state in {issue.state, "all"}
        and (not owner or (owner.lower(), branch) == (call.repo.owner.lower(), pull.head))
        and base in {None, pull.base}
    ]
    key = "updated_at" if call.query.get("sort") == "updated" else "created_at"
    newest = call.query.get("direction", "asc" if "sort" in call.query else "desc") == "desc"
    found.sort(key=lambda it: (getattr(it[0], key), it[0].number), reverse=newest)
    return call.page(
        found, lambda it: shapes_pulls.pull_simple(call.state, call.repo, *it, call.login)
    )


@routes("POST", _PULLS)
def create(call: Call) -> Reply:
    """A new pull request."""
    by = call.need(Role.READ, "pull_requests")
    issue = pulls.open_pull(
        call.state,
        call.repo,
        by=by,
        title=call.text("title", "PullRequest"),
        head=call.text("head", "PullRequest"),
        base=call.text("base", "PullRequest"),
        body=call.text("body", "PullRequest", default="") or None,
        draft=call.given("draft") and call.body["draft"] is True,
    )
    if issue.pull is None:
        raise not_found()
    return _shown(call, issue, issue.pull, status=201)


@routes("GET", _PULL)
def get(call: Call) -> Reply:
    """One pull request, or its diff or patch."""
    issue, pull = _pull(call)
    git = call.state.git(call.repo)
    start = git.merge_base(pull.base_sha, pull.head_sha) or git.empty_tree()
    match call.wants():
        case "diff":
            return Reply(body=git.diff_text(start, pull.head_sha), media="diff")
        case "patch":
            return Reply(body=git.patch_text(start, pull.head_sha), media="patch")
        case _:
            return _shown(call, issue, pull, ask=True)


@routes("PATCH", _PULL)
def change(call: Call) -> Reply:
    """Title, body, base and state; each only where it is given."""
    issue, pull = _pull(call)
    by = call.need(Role.READ, "pull_requests")
    if call.role < Role.WRITE and by.lower() != issue.user.lower():
        raise Refusal(403, f"Must have write access to {call.repo.full_name}.")
    if call.given("title"):
        issues.retitle(call.state, issue, by, call.text("title", "PullRequest"))
    if isinstance(call.body, dict) and "body" in call.body:
        issues.rewrite(call.state, issue, by, call.text("body", "PullRequest", default=""))
    if call.given("base"):
        pulls.retarget(call.state, call.repo, issue, by, call.text("base", "PullRequest"))
    match call.body.get("state") if isinstance(call.body, dict) else None:
        case None:
            pass
        case "closed":
            issues.close(call.state, issue, by)
        case "open":
            issues.reopen(call.state, issue, by)
        case _:
            raise invalid("PullRequest", "state", "invalid")
    return _shown(call, issue, pull)


@routes("GET", _PULL + "/files")
def files(call: Call) -> Reply:
    """What the pull request changes, from the merge base to its head."""
    _, pull = _pull(call)
    changed = pulls.extent(call.state, call.repo, pull)[1][:_MOST_FILES]
    return call.page(changed, lambda it: shapes_git.file(call.state, call.repo, pull.head_sha, it))


@routes("GET", _PULL + "/commits")
def commits(call: Call) -> Reply:
    """The commits of the pull request, oldest first."""
    _, pull = _pull(call)
    listed = pulls.extent(call.state, call.repo, pull)[0][:_MOST_COMMITS]
    return call.page(listed, lambda it: shapes_git.commit(call.state, call.repo, it))


@routes("GET", _PULL + "/comments")
def inline_comments(call: Call) -> Reply:
    """Comments on lines, of which the stand-in keeps none."""
    _pull(call)
    return Reply(body=[])


@routes("GET", _PULL + "/reviews")
def reviews(call: Call) -> Reply:
    """The submitted reviews, oldest first."""
    issue, pull = _pull(call)
    return call.page(pull.reviews, lambda it: shapes_pulls.review(call.state, call.repo, issue, it))


@routes("POST", _PULL + "/reviews")
def review(call: Call) -> Reply:
    """Submit a review; comments on lines are refused, as the stand-in keeps none."""
    issue, pull = _pull(call)
    by = call.need(Role.READ, "pull_requests")
    if call.given("comments") and call.body["comments"]:
        raise Refusal(422, "Unprocessable Entity", ["comments on lines are not kept here"])
    event = call.text("event", "PullRequestReview", default="COMMENT")
    body = call.text("body", "PullRequestReview", default="")
    made = pulls.review(call.state, issue, pull, by=by, body=body, event=event)
    return Reply(body=shapes_pulls.review(call.state, call.repo, issue, made))


@routes("GET", _PULL + "/reviews/{id:int}")
def one_review(call: Call) -> Reply:
    """One review."""
    issue, pull = _pull(call)
    for made in pull.reviews:
        if made.id == call.params["id"]:
            return Reply(body=shapes_pulls.review(call.state, call.repo, issue, made))
    raise not_found()


@routes("GET", _PULL + "/merge")
def is_merged(call: Call) -> Reply:
    """204 when merged, 404 otherwise."""
    _, pull = _pull(call)
    if pull.merged_at is None:
        raise not_found()
    return Reply(status=204)


@routes("PUT", _PULL + "/merge")
def merge(call: Call) -> Reply:
    """Merge (or squash) with a real commit."""
    issue, _ = _pull(call)
    by = call.need(Role.WRITE, "contents")
    match call.text("merge_method", "PullRequest", default="merge"):
        case "merge":
            method: pulls.Method = "merge"
        case "squash":
            method = "squash"
        case other:
            raise Refusal(405, f"Merge method {other} is not allowed on this repository.")

    def given(name: str) -> str | None:
        return call.text(name, "PullRequest") if call.given(name) else None

    commit = pulls.merge(
        call.state,
        call.repo,
        issue,
        by=by,
        method=method,
        sha=given("sha"),
        title=given("commit_title"),
        message=given("commit_message"),
    )
    message = "Pull Request successfully merged"
    return Reply(body={"sha": commit, "merged": True, "message": message})
