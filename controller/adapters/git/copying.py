"""Copying what lies in a worktree beside its tracked files: what `prepare` made there.

Called by the writer before the AI starts. Links are copied as links and followed by nobody; FIFOs,
sockets and devices are left out.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from controller.adapters.git.files import DEEP
from controller.adapters.git.layout import DIRECTORY, open_below
from controller.adapters.git.objects import CHUNK, Tree
from controller.errors import RepositoryError

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_untracked(root: int, tree: Tree, into: Path) -> None:
    """Copy everything of the open folder `root` that is not a file of `tree` to the new `into`.

    Folders that hold tracked files appear in `into` only when something beside them was copied.
    """
    into.mkdir(parents=True)
    with open_below(into, ()) as target:
        _copy(root, target, b"", _Tracked(tree), depth=1)


class _Tracked:
    def __init__(self, tree: Tree) -> None:
        self.files = tree
        self.folders = {
            path[:at] for path in tree for at, byte in enumerate(path) if byte == ord("/")
        }


def _copy(source: int, target: int, prefix: bytes, tracked: _Tracked, depth: int) -> None:
    if depth > DEEP:
        raise RepositoryError(f"the worktree is deeper than {DEEP} folders")
    with os.scandir(source) as listing:
        entries = [(os.fsencode(entry.name), entry) for entry in listing]
    for name, entry in entries:
        path = prefix + name
        if path == b".git" or path in tracked.files:
            continue
        if entry.is_symlink():
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        elif entry.is_dir(follow_symlinks=False):
            _copy_folder(source, target, path, tracked, depth)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(source, target, name)


def _copy_folder(source: int, target: int, path: bytes, tracked: _Tracked, depth: int) -> None:
    name = path.rpartition(b"/")[2]
    inner = os.open(name, DIRECTORY, dir_fd=source)
    try:
        os.mkdir(name, dir_fd=target)
        made = os.open(name, DIRECTORY, dir_fd=target)
        try:
            _copy(inner, made, path + b"/", tracked, depth + 1)
            os.fchmod(made, stat.S_IMODE(os.fstat(inner).st_mode) | stat.S_IRWXU)
        finally:
            os.close(made)
        if path in tracked.folders:
            with suppress(OSError):  # something was copied: it stays
                os.rmdir(name, dir_fd=target)
    finally:
        os.close(inner)


def _copy_file(source: int, target: int, name: bytes) -> None:
    handle = os.open(name, _READ, dir_fd=source)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return
        made = os.open(name, _WRITE, 0o600, dir_fd=target)
        try:
            done = 0
            while sent := os.sendfile(made, handle, done, CHUNK):
                done += sent
            os.fchmod(made, stat.S_IMODE(found.st_mode) & 0o777)
            os.utime(made, ns=(found.st_atime_ns, found.st_mtime_ns))
        finally:
            os.close(made)
    finally:
        os.close(handle)
