"""The JSON of what git knows: commits, files, branches, references, contents.

Called by the routes, with the state's lock held.
"""

import base64
from urllib.parse import quote

from controller.demo.standin.gitdiff import FileChange
from controller.demo.standin.gitrepo import Commit, Person
from controller.demo.standin.shapes_repo import api, node_id, person, web
from controller.demo.standin.state import State, stamp
from controller.demo.standin.values import Json, Repo, Status

_UNSIGNED: Json = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}
_INLINE_LIMIT = 1_000_000


def _signature(who: Person) -> Json:
    return {"name": who.name, "email": who.email, "date": who.date}


def _account(state: State, who: Person) -> Json | None:
    """The account whose address the commit carries, if there is one."""
    found = next((user for user in state.users.values() if user.email == who.email), None)
    return None if found is None else person(state, found.login)


def git_commit(state: State, repo: Repo, shown: Commit) -> Json:
    """The inner part of a commit: what git itself stores."""
    url = api(state, repo, f"/git/commits/{shown.sha}")
    return {
        "author": _signature(shown.author),
        "committer": _signature(shown.committer),
        "message": shown.message,
        "tree": {"sha": shown.tree, "url": api(state, repo, f"/git/trees/{shown.tree}")},
        "url": url,
        "comment_count": 0,
        "verification": _UNSIGNED,
    }


def _parents(state: State, repo: Repo, shown: Commit) -> list[Json]:
    return [
        {
            "sha": sha,
            "url": api(state, repo, f"/commits/{sha}"),
            "html_url": web(state, repo, f"/commit/{sha}"),
        }
        for sha in shown.parents
    ]


def commit(state: State, repo: Repo, shown: Commit, files: list[FileChange] | None = None) -> Json:
    """A commit; with `files` also what it changed."""
    made: Json = {
        "sha": shown.sha,
        "node_id": node_id("Commit", shown.sha),
        "commit": git_commit(state, repo, shown),
        "url": api(state, repo, f"/commits/{shown.sha}"),
        "html_url": web(state, repo, f"/commit/{shown.sha}"),
        "comments_url": api(state, repo, f"/commits/{shown.sha}/comments"),
        "author": _account(state, shown.author),
        "committer": _account(state, shown.committer),
        "parents": _parents(state, repo, shown),
    }
    if files is not None:
        added, deleted = sum(it.additions for it in files), sum(it.deletions for it in files)
        made["stats"] = {"total": added + deleted, "additions": added, "deletions": deleted}
        made["files"] = [file(state, repo, shown.sha, it) for it in files]
    return made


def committed(state: State, repo: Repo, shown: Commit) -> Json:
    """A commit as an entry of the timeline, where it has neither actor nor accounts."""
    made = git_commit(state, repo, shown)
    del made["comment_count"]
    return {
        **made,
        "event": "committed",
        "sha": shown.sha,
        "node_id": node_id("Commit", shown.sha),
        "html_url": web(state, repo, f"/commit/{shown.sha}"),
        "parents": _parents(state, repo, shown),
    }


def file(state: State, repo: Repo, sha: str, shown: FileChange) -> Json:
    """A changed file."""
    path = quote(shown.path, errors="replace")
    made: Json = {
        "sha": shown.blob,
        "filename": shown.path.encode(errors="replace").decode(),
        "status": shown.status,
        "additions": shown.additions,
        "deletions": shown.deletions,
        "changes": shown.additions + shown.deletions,
        "blob_url": web(state, repo, f"/blob/{sha}/{path}"),
        "raw_url": web(state, repo, f"/raw/{sha}/{path}"),
        "contents_url": api(state, repo, f"/contents/{path}?ref={sha}"),
    }
    if shown.patch is not None:
        made["patch"] = shown.patch
    if shown.previous is not None:
        made["previous_filename"] = shown.previous.encode(errors="replace").decode()
    return made


def branch(state: State, repo: Repo, name: str, sha: str, *, full: bool) -> Json:
    """A branch, in the list (short) or by itself."""
    url = api(state, repo, f"/branches/{name}")
    rules = {
        "enabled": False,
        "required_status_checks": {
            "enforcement_level": "off",
            "contexts": [],
            "checks": [],
        },
    }
    if not full:
        short = {"sha": sha, "url": api(state, repo, f"/commits/{sha}")}
        return {"name": name, "commit": short, "protected": False}
    return {
        "name": name,
        "commit": commit(state, repo, state.git(repo).commit(sha)),
        "_links": {"self": url, "html": web(state, repo, f"/tree/{name}")},
        "protected": False,
        "protection": rules,
        "protection_url": f"{url}/protection",
    }


def ref(state: State, repo: Repo, name: str, sha: str) -> Json:
    """A git reference."""
    return {
        "ref": name,
        "node_id": node_id("Ref", f"{repo.id}:{name}"),
        "url": api(state, repo, f"/git/{name}"),
        "object": {
            "sha": sha,
            "type": "commit",
            "url": api(state, repo, f"/git/commits/{sha}"),
        },
    }


def content(  # noqa: PLR0917 - the parts of a tree entry
    state: State, repo: Repo, at: str, path: str, kind: str, blob: str, size: int, raw: bytes | None
) -> Json:
    """A file, folder, link or submodule of the contents API; `raw` adds the content."""
    quoted = quote(path, errors="replace")
    url = api(state, repo, f"/contents/{quoted}?ref={at}")
    html = web(state, repo, f"/blob/{at}/{quoted}")
    git = api(state, repo, f"/git/{'trees' if kind == 'dir' else 'blobs'}/{blob}")
    made: Json = {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": blob,
        "size": size,
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": web(state, repo, f"/raw/{at}/{quoted}") if kind == "file" else None,
        "type": kind,
        "_links": {"self": url, "git": git, "html": html},
    }
    if raw is not None:
        small = len(raw) <= _INLINE_LIMIT
        made["content"] = base64.encodebytes(raw).decode() if small else ""
        made["encoding"] = "base64" if small else "none"
    return made


def status(state: State, repo: Repo, shown: Status, *, simple: bool = False) -> Json:
    """A commit status; `simple` is the form inside the combined status."""
    made: Json = {
        "url": api(state, repo, f"/statuses/{shown.sha}"),
        "avatar_url": f"{state.base_url}/avatars/{state.user(shown.creator).id}",
        "id": shown.id,
        "node_id": node_id("StatusContext", shown.id),
        "state": shown.state,
        "description": shown.description,
        "target_url": shown.target_url,
        "context": shown.context,
        "created_at": stamp(shown.created_at),
        "updated_at": stamp(shown.created_at),
    }
    return made if simple else {**made, "creator": person(state, shown.creator)}
