"""Laying out a worktree or a checkout, bringing a clean one forward, and taking one away.

Called by the writer. All of it is file work of our own on descriptors; the bare repository only
serves the blobs. Each way ends in a rename, so that a killed tick leaves nothing half made.
"""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

from controller.adapters.git.files import (
    Folders,
    drop_draft,
    folders,
    remove_files,
    remove_whole,
    write_files,
)
from controller.adapters.git.found import Caps, Walked
from controller.adapters.git.importing import walk_item
from controller.adapters.git.index import SUBMODULE, Entry, write_index
from controller.adapters.git.layout import DIRECTORY, Layout, open_below
from controller.adapters.git.names import shown
from controller.adapters.git.objects import Blob, Tree, read_blobs, read_tree
from controller.adapters.git.registration import (
    branch_must_reach,
    leave_branch,
    move_branch,
    prune_reviews,
    register,
    review_registration,
    unregister,
)
from controller.adapters.git.runner import GitRunner
from controller.domain.ids import IssueId, Repository, Sha
from controller.errors import RepositoryError

_MIB = 1 << 20
CLEAN = Caps(files=0, file_bytes=_MIB, total_bytes=_MIB)
"""Bounds of a walk that only asks whether anything differs: the first difference ends it."""
_FORWARD_BYTES = 256 * _MIB


@contextmanager
def translated(what: str) -> Iterator[None]:
    """File errors become RepositoryErrors that say what was going on."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RepositoryError(f"{what}: {reason}") from error


def lay_out(
    runner: GitRunner, layout: Layout, item: IssueId, at: Sha, *, pushed: tuple[Sha, ...] = ()
) -> None:
    """Make the worktree that is not there yet, on the item's branch at `at`."""
    bare = layout.bare(item.repository)
    old = leave_branch(runner, bare, item, at, pushed=pushed)
    tree = layout.tree(item)
    above = ("worktrees", item.repository.owner, item.repository.name)
    layout.root.joinpath(*above).mkdir(parents=True, exist_ok=True)
    with open_below(layout.root, above) as parent:
        _sweep(parent)
        registration = layout.registration(item)
        git_file = register(registration, tree=tree, head=f"ref: refs/heads/{item.branch}")
        draft = f".{tree.name}.new"
        _fill(runner, bare, parent, draft, sha=at, git_file=git_file, index=registration / "index")
        # After a power cut, files that never reached the disk would look like the worker's edits.
        os.sync()
        move_branch(runner, bare, item, to=at, old=old)
        os.rename(draft, tree.name, src_dir_fd=parent, dst_dir_fd=parent)


def check_out(
    runner: GitRunner, layout: Layout, repository: Repository, sha: Sha, into: Path
) -> None:
    """Write commit `sha` to the new folder `into`, with a pointer to a detached registration."""
    bare = layout.bare(repository)
    if os.path.lexists(into):
        raise RepositoryError(f"{into} exists: a checkout needs a new folder")
    prune_reviews(bare)
    into.parent.mkdir(parents=True, exist_ok=True)
    registration = review_registration(bare, into)
    git_file = register(registration, tree=into, head=sha)
    draft = f".{into.name}.new"
    with open_below(into.parent, ()) as parent:
        with suppress(FileNotFoundError):
            remove_whole(parent, draft)
        _fill(runner, bare, parent, draft, sha=sha, git_file=git_file, index=registration / "index")
        os.rename(draft, into.name, src_dir_fd=parent, dst_dir_fd=parent)


def remove_checkout(layout: Layout, repository: Repository, place: Path) -> None:
    """Remove a checkout and its registration; a place that is not there is fine."""
    registration = review_registration(layout.bare(repository), place)
    with suppress(FileNotFoundError), open_below(place.parent, ()) as parent:
        remove_whole(parent, place.name)
    unregister(registration)


def _fill(
    runner: GitRunner,
    bare: Path,
    parent: int,
    name: str,
    *,
    sha: Sha,
    git_file: bytes,
    index: Path,
) -> None:
    entries = read_tree(runner, bare, sha)
    os.mkdir(name, dir_fd=parent)
    root = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        with _blobs(runner, bare, entries.items()) as blobs:
            write_index(index, write_files(root, entries.items(), blobs, replace=False))
        handle = os.open(
            ".git", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444, dir_fd=root
        )
        with os.fdopen(handle, "wb") as file:
            file.write(git_file)
    finally:
        os.close(root)


def forward(runner: GitRunner, layout: Layout, item: IssueId, *, old: Sha, at: Sha) -> None:
    """Bring a clean worktree from `old` to its descendant `at`.

    A file that already is as `at` wants it counts as clean: so a killed tick is simply done again.
    """
    bare = layout.bare(item.repository)
    branch_must_reach(runner, bare, item, at)
    before, after = read_tree(runner, bare, old), read_tree(runner, bare, at)
    differing = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}
    caps = Caps(len(differing), _FORWARD_BYTES, _FORWARD_BYTES)
    with layout.open_tree(item) as root:
        drop_draft(root)
    walked = walk_item(runner, layout, item, tree=before, caps=caps)
    _must_be_between(walked, after)
    gone = [path for path in before if path not in after]
    wanted = [
        (path, entry)
        for path, entry in after.items()
        if path in differing and path not in walked.changed
    ]
    with layout.open_tree(item) as root:
        _must_be_free(root, [path for path, _ in wanted if path not in before])
        remove_files(root, gone)
        with _blobs(runner, bare, wanted) as blobs:
            written = {
                path: words for path, _, words in write_files(root, wanted, blobs, replace=True)
            }
    known = walked.same | walked.words | written
    rows = ((path, entry, known[path]) for path, entry in after.items())
    write_index(layout.registration(item) / "index", rows)
    move_branch(runner, bare, item, to=at, old=old)


def take_away(layout: Layout, item: IssueId) -> None:
    """Remove the worktree (already judged clean) and its registration."""
    tree = layout.tree(item)
    with open_below(layout.root, ("worktrees", *item.folder.split("/")[:-1])) as parent:
        _sweep(parent)
        gone = f".{tree.name}.old"
        with suppress(FileNotFoundError):
            os.rename(tree.name, gone, src_dir_fd=parent, dst_dir_fd=parent)
            unregister(layout.registration(item))
            remove_whole(parent, gone)


def _sweep(parent: int) -> None:
    """Remove what a killed tick left of our own half-made or half-removed trees."""
    with os.scandir(parent) as listing:
        names = [entry.name for entry in listing if entry.is_dir(follow_symlinks=False)]
    for name in names:
        if name.startswith(".issue-") and name.endswith((".new", ".old")):
            remove_whole(parent, name)


def _blobs(
    runner: GitRunner, bare: Path, entries: Iterable[tuple[bytes, Entry]]
) -> AbstractContextManager[Generator[Blob]]:
    shas = (entry.sha for _, entry in entries if entry.mode != SUBMODULE)
    return closing(read_blobs(runner, bare, shas))


def _must_be_between(walked: Walked, after: Tree) -> None:
    for problem in walked.problems:
        raise RepositoryError(f"the worktree holds work of its own: {problem.text}")
    for path, content in walked.changed.items():
        if after.get(path) != Entry(content.mode, content.sha):
            raise RepositoryError(f"the worktree holds work of its own: {shown(path)} is changed")
    for path in walked.removed:
        if path in after:
            raise RepositoryError(f"the worktree holds work of its own: {shown(path)} is removed")


def _must_be_free(root: int, paths: list[bytes]) -> None:
    """New files must not replace ignored ones that only this host has."""
    with folders(root) as opened:
        for path in paths:
            if _exists(opened, path):
                raise RepositoryError(f"{shown(path)}: an ignored file stands in the way")


def _exists(opened: Folders, path: bytes) -> bool:
    folder, _, name = path.rpartition(b"/")
    try:
        os.lstat(name, dir_fd=opened.enter(folder, make=False))
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return False  # a file that the new commit turns into a folder
    return True
