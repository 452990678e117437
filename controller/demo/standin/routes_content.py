"""API: files and folders of a branch or commit."""

from controller.demo.standin import shapes_git
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.routes_git import readable
from controller.demo.standin.state import Refusal, not_found

routes = Routes()
_REPO = "/repos/{owner}/{repo}"
_KINDS = {"040000": "dir", "160000": "submodule", "120000": "symlink"}


@routes("GET", _REPO + "/contents/{path:path}")
def contents(call: Call) -> Reply:
    """A file or folder; an empty path is the top folder."""
    return _content(call, call.params["path"].strip("/"))


def _content(call: Call, path: str) -> Reply:
    git = readable(call)
    at = call.query.get("ref") or call.repo.default_branch
    sha = git.revision(at)
    if sha is None:
        raise Refusal(
            404, f"No commit found for the ref {at}" if git.refs() else "This repository is empty."
        )
    entry = ("040000", "tree", git.commit(sha).tree) if not path else git.entry(sha, path)
    if entry is None:
        raise not_found()
    mode, kind, blob = entry
    if kind == "tree":
        rows = [
            shapes_git.content(
                call.state, call.repo, at, f"{path}/{name}".lstrip("/"), _kind(its), oid, size, None
            )
            for its, _, oid, size, name in git.listing(blob)
        ]
        return Reply(body=rows)
    raw = b"" if kind == "commit" else git.blob(blob)
    if call.wants() == "raw":
        return Reply(body=raw, media="raw")
    shown = shapes_git.content(call.state, call.repo, at, path, _kind(mode), blob, len(raw), raw)
    return Reply(body=shown)


def _kind(mode: str) -> str:
    return _KINDS.get(mode, "file")
