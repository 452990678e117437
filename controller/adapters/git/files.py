"""Writing and removing files below an open folder, never through a link.

Used to lay out worktrees and checkouts from the bare repository, and to take them away again. Git,
its filters, hooks and attributes have no part in it: bytes of blobs go to disk as they are.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from controller.adapters.git.index import (
    EXECUTABLE,
    LINK,
    SUBMODULE,
    UNKNOWN,
    Entry,
    stat_words,
)
from controller.adapters.git.layout import DIRECTORY
from controller.adapters.git.names import is_dotgit, shown
from controller.adapters.git.objects import Blob
from controller.errors import RepositoryError

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DRAFT = b".toban-new-file"
"""In the root of a tree, while a file of it is replaced; ours, whoever finds it."""
DEEP = 100
"""Folders held open at once while a tree is removed."""
type Written = tuple[bytes, Entry, bytes]
"""Path, entry and stat words: a line of the index."""


class Folders:
    """Keeps the folders of the current path open; paths come in git's order, so each opens once."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._names: list[bytes] = []
        self._handles: list[int] = []

    def enter(self, folder: bytes, *, make: bool) -> int:
        """A descriptor of `folder` (b"" is the root), made on the way when `make`."""
        wanted = folder.split(b"/") if folder else []
        common = 0
        for have, want in zip(self._names, wanted, strict=False):
            if have != want:
                break
            common += 1
        self._leave(common)
        for name in wanted[common:]:
            here = self._handles[-1] if self._handles else self._root
            if make:
                if is_dotgit(name):
                    raise RepositoryError(f"the commit holds {shown(folder)}, which is git's own")
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
            self._handles.append(os.open(name, DIRECTORY, dir_fd=here))
            self._names.append(name)
        return self._handles[-1] if self._handles else self._root

    def _leave(self, depth: int) -> None:
        while len(self._handles) > depth:
            os.close(self._handles.pop())
            self._names.pop()

    def close(self) -> None:
        """Close every folder that was opened here."""
        self._leave(0)


@contextmanager
def folders(root: int) -> Iterator[Folders]:
    """`Folders` of an open root, closed at the end."""
    with ExitStack() as stack:
        opened = Folders(root)
        stack.callback(opened.close)
        yield opened


def write_files(
    root: int, entries: Iterable[tuple[bytes, Entry]], blobs: Iterator[Blob], *, replace: bool
) -> Iterator[Written]:
    """Write `entries` below `root`; `blobs` are the contents of all but the submodules, in order.

    With `replace` an existing file gives way in one step; without it, nothing may stand there.
    A symbolic link is made as it stands in the commit and followed by nobody; a submodule is an
    empty folder, as in any fresh clone.
    """
    with folders(root) as opened:
        for path, entry in entries:
            folder, _, name = path.rpartition(b"/")
            here = opened.enter(folder, make=True)
            if is_dotgit(name):
                raise RepositoryError(f"the commit holds {shown(path)}, which is git's own")
            if entry.mode == SUBMODULE:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
                yield path, entry, UNKNOWN
                continue
            if replace:
                drop_draft(root)
                _write(root, DRAFT, entry.mode, next(blobs))
                os.rename(DRAFT, name, src_dir_fd=root, dst_dir_fd=here)
                found = os.lstat(name, dir_fd=here)
            else:
                found = _write(here, name, entry.mode, next(blobs))
            yield path, entry, stat_words(found, entry.mode)


def drop_draft(root: int) -> None:
    """Remove the draft that a killed tick may have left."""
    with suppress(FileNotFoundError):
        os.unlink(DRAFT, dir_fd=root)


def _write(here: int, name: bytes, mode: int, blob: Blob) -> os.stat_result:
    if mode == LINK:
        os.symlink(blob.whole(), name, dir_fd=here)
        return os.lstat(name, dir_fd=here)
    handle = os.open(name, _CREATE, 0o777 if mode == EXECUTABLE else 0o666, dir_fd=here)
    try:
        for chunk in blob.chunks():
            view = memoryview(chunk)
            while view:
                view = view[os.write(handle, view) :]
        return os.fstat(handle)
    finally:
        os.close(handle)


def remove_files(root: int, paths: Iterable[bytes]) -> None:
    """Unlink `paths` below `root`, then the folders that became empty; what is gone is gone."""
    touched: set[bytes] = set()
    with folders(root) as opened:
        for path in sorted(paths):
            folder, _, name = path.rpartition(b"/")
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(name, dir_fd=opened.enter(folder, make=False))
            while folder:
                touched.add(folder)
                folder = folder.rpartition(b"/")[0]
        for folder in sorted(touched, key=lambda name: name.count(b"/"), reverse=True):
            above, _, name = folder.rpartition(b"/")
            with suppress(OSError):  # not empty: somebody else's files live there
                os.rmdir(name, dir_fd=opened.enter(above, make=False))


def remove_whole(parent: int, name: str) -> None:
    """Remove the folder `name` of `parent` with all that is in it, following nothing.

    Folders are walked by descriptor, so a link put in their place meanwhile is unlinked, not
    entered. A folder too deep to be held open with all above it is moved up and taken later.
    """
    top = _open_any(parent, os.fsencode(name))
    try:
        moved = count(1)
        while _empty(top, top, 1, moved):
            pass
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _empty(directory: int, top: int, depth: int, moved: Iterator[int]) -> bool:
    """Unlink what is in `directory`; whether something was moved up to `top` on the way."""
    with os.scandir(directory) as listing:
        names = [(os.fsencode(e.name), e.is_dir(follow_symlinks=False)) for e in listing]
    again = False
    for name, is_folder in names:
        if not is_folder:
            os.unlink(name, dir_fd=directory)
        elif depth == DEEP:
            target = f".toban-deep-{next(moved)}-{os.urandom(8).hex()}"
            os.rename(name, target, src_dir_fd=directory, dst_dir_fd=top)
            again = True
        else:
            inner = _open_any(directory, name)
            try:
                again |= _empty(inner, top, depth + 1, moved)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=directory)
    return again


def _open_any(parent: int, name: bytes) -> int:
    """Open a folder for listing and removal, also one whose mode forbids it to its owner."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{handle}").chmod(0o700)  # the descriptor itself, not a name
        return os.open(".", DIRECTORY, dir_fd=handle)
    finally:
        os.close(handle)
