"""Registrations of worktrees in a bare repository, and the one way in which branches of ours move.

A registration is the folder `<bare>/worktrees/<id>` with HEAD, commondir, gitdir and index that
`git worktree add` would make (gitrepository-layout(5)); ours is written by hand, so that no git
process works in a tree.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from controller.adapters.git.files import remove_whole
from controller.adapters.git.layout import open_below, pointer, read_ref, write_whole
from controller.adapters.git.objects import is_ancestor
from controller.adapters.git.runner import GitRunner
from controller.domain.ids import IssueId, Sha
from controller.errors import UnpushedError

_ZERO = "0" * 40
_REVIEW = "review-"


def register(registration: Path, *, tree: Path, head: str) -> bytes:
    """Write a registration for `tree` with `head` as its HEAD; the bytes of the tree's `.git`."""
    registration.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(registration / "commondir", b"../..\n")
    write_whole(registration / "gitdir", f"{tree}/.git\n".encode())
    write_whole(registration / "HEAD", f"{head}\n".encode())
    return pointer(registration)


def unregister(registration: Path) -> None:
    """Take a registration away; what is gone is gone."""
    with suppress(FileNotFoundError), open_below(registration.parent, ()) as parent:
        remove_whole(parent, registration.name)


def review_registration(bare: Path, into: Path) -> Path:
    """The registration of a checkout: its name is a function of the folder."""
    return bare / "worktrees" / f"{_REVIEW}{sha256(os.fsencode(into)).hexdigest()[:16]}"


def prune_reviews(bare: Path) -> None:
    """Drop registrations of checkouts whose folder is gone. Items' worktrees are never pruned."""
    for registration in (bare / "worktrees").glob(f"{_REVIEW}*"):
        try:
            tree = Path(os.fsdecode((registration / "gitdir").read_bytes().rstrip(b"\n")))
        except OSError:
            tree = Path("/nonexistent")
        if not os.path.lexists(tree.parent):
            unregister(registration)


def branch_must_reach(runner: GitRunner, bare: Path, item: IssueId, at: Sha) -> Sha | None:
    """The local branch's tip; raises UnpushedError unless it is `at` or an ancestor of it."""
    tip = read_ref(bare, f"refs/heads/{item.branch}")
    if tip is not None and tip != at and not is_ancestor(runner, bare, tip, at):
        bare_name = f"repos/{item.repository.owner}/{item.repository.name}.git"
        saved = f"saved/issue-{item.number}-{tip[:12]}"
        raise UnpushedError(
            f"the local branch {item.branch} holds {tip}, which is not on GitHub. To save it, in "
            f"toban's root: git -C {bare_name} branch -m {item.branch} {saved}"
        )
    return tip


def leave_branch(
    runner: GitRunner, bare: Path, item: IssueId, at: Sha, *, pushed: tuple[Sha, ...]
) -> Sha | None:
    """The local branch's tip, from which it may be moved to `at`.

    A tip that the forge has in a pull request is kept by a ref of its own and may be left; for any
    other see `branch_must_reach`.
    """
    tip = read_ref(bare, f"refs/heads/{item.branch}")
    if tip is None or tip not in pushed or tip == at:
        return branch_must_reach(runner, bare, item, at)
    runner.run(bare, "update-ref", f"refs/toban/issue-{item.number}/kept/{tip}", tip)
    return tip


def move_branch(runner: GitRunner, bare: Path, item: IssueId, *, to: Sha, old: Sha | None) -> None:
    """Compare and swap: the branch moves from `old` (None = it does not exist) to `to`."""
    if old != to:
        runner.run(bare, "update-ref", f"refs/heads/{item.branch}", to, old or _ZERO)
