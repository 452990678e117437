"""The walk of a worktree that a hostile hand has filled: what differs from a commit, what is odd.

First half of an import, and all of "is it clean?". Each folder is opened by descriptor without
following links, each file is opened once, checked after opening, and read once; sizes and counts
are capped before reading. Nothing is written, no git runs, nothing in the tree is obeyed except
its `.gitignore` files (`scope`).
"""

import hashlib
import os
import stat
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from controller.adapters.git.collisions import collisions
from controller.adapters.git.found import (
    MAX_IGNORED,
    MAX_PROBLEMS,
    Caps,
    Content,
    Problem,
    Walked,
    blob_name,
)
from controller.adapters.git.index import (
    EXECUTABLE,
    LINK,
    PLAIN,
    SUBMODULE,
    UNKNOWN,
    Entry,
    stat_words,
)
from controller.adapters.git.layout import DIRECTORY
from controller.adapters.git.links import leaves_tree
from controller.adapters.git.names import is_dotgit, name_problem, shown
from controller.adapters.git.objects import CHUNK, Tree
from controller.adapters.git.scope import READ, Scope, read_at_most
from controller.domain.reasons import Reason

MAX_DEPTH = 100
MAX_ENTRIES = 1_000_000
"""Names in the tree, ignored folders counted as one: beyond it the walk gives up."""
MAX_FOLDER = 200_000
"""Names in one folder."""
MAX_TRIALS = 20_000_000
"""Patterns of `.gitignore` tried on names: some ten seconds, then the walk gives up."""
_COMPILED = 100
"""Trials that making one pattern is worth."""
_GITDIR = frozenset({b"HEAD", b"objects", b"refs"})
_SPECIAL = "is a FIFO, socket or device"


class _Place(NamedTuple):
    """One name in an open folder."""

    here: int
    name: bytes
    path: bytes
    known: Entry | None
    """What the commit has at this path."""


class _EnoughError(Exception):
    """Nothing further can change the answer."""


def walk(root: int, tree: Tree, *, caps: Caps, size_of: Callable[[str], int | None]) -> Walked:
    """Compare the open folder `root` with the files of a commit.

    Args:
        root: descriptor of the worktree.
        tree: files of the commit.
        caps: bounds; a tree beyond them has a problem and is walked no further.
        size_of: size of an object of the commit, asked for files above `caps.file_bytes` only.
    """
    walker = _Walker(tree, caps, size_of)
    try:
        walker.folder(root, b"", Scope().below(root, b"", ignored=False))
        walker.finish()
    except _EnoughError:
        pass
    return walker.found


class _Walker:
    def __init__(self, tree: Tree, caps: Caps, size_of: Callable[[str], int | None]) -> None:
        self._tree = tree
        self._caps = caps
        self._size_of = size_of
        self._folders = _folders_of(tree)
        self._seen: set[bytes] = set()
        self._links: dict[bytes, bytes] = {}
        self._bytes = 0
        self._entries = 0
        self._trials = 0
        self.found = Walked()

    def folder(self, here: int, prefix: bytes, scope: Scope) -> None:
        """Walk one open folder; `prefix` is its path with a closing slash."""
        if prefix.count(b"/") > MAX_DEPTH:
            self._problem(Reason.ODD_NAME, prefix, f"lies deeper than {MAX_DEPTH} folders")
            return
        with os.scandir(here) as listing:
            entries = {os.fsencode(e.name): e for e in islice(listing, MAX_FOLDER + 1)}
        self._entries += len(entries)
        if len(entries) > MAX_FOLDER or self._entries > MAX_ENTRIES:
            text = f"more than {MAX_FOLDER} names in a folder, or {MAX_ENTRIES} in the tree"
            self._stop(Reason.TOO_MANY_FILES, text)
        tracked = prefix + b"HEAD" in self._tree
        if prefix and not tracked and not scope.ignored and entries.keys() >= _GITDIR:
            self._problem(Reason.NESTED_REPOSITORY, prefix, "looks like a git repository")
            return
        if not prefix:
            entries.pop(b".git", None)
        for name in sorted(entries):
            path = prefix + name
            place = _Place(here, name, path, self._tree.get(path))
            try:
                self._one(place, entries[name], scope)
            except OSError as error:
                self._seen.add(path)
                why = f"cannot be read ({error.strerror})"
                self._problem(Reason.UNREADABLE_FILE, path, why)

    def _one(self, place: _Place, entry: "os.DirEntry[str]", scope: Scope) -> None:
        path, known = place.path, place.known
        is_directory = entry.is_dir(follow_symlinks=False)
        if known is None and path not in self._folders:
            self._try(scope.cost)
            if scope.hides(path, is_directory=is_directory):
                self._leave_out(path, "/" if is_directory else "")
                return
            if is_dotgit(place.name):
                what = "is a name of git's own; no repository may lie in the tree"
                self._problem(Reason.NESTED_REPOSITORY, path, what)
                return
            if wrong := name_problem(place.name):
                if not is_directory or self._holds_something(place):
                    self._problem(Reason.ODD_NAME, path, wrong)
                return
        if is_directory:
            self._directory(place, scope)
            return
        self._seen.add(path)
        if known is not None and known.mode == SUBMODULE:
            self._problem(Reason.NESTED_REPOSITORY, path, "replaces a submodule")
        elif entry.is_symlink():
            self._link(place)
        elif entry.is_file(follow_symlinks=False):
            self._file(place)
        else:
            self._problem(Reason.SPECIAL_FILE, path, _SPECIAL)

    def _directory(self, place: _Place, scope: Scope) -> None:
        path, known = place.path, place.known
        if known is not None and known.mode == SUBMODULE:
            self._seen.add(path)
            self.found.same[path] = UNKNOWN
            if self._holds_something(place):
                what = "is a submodule; what lies in it cannot be delivered"
                self._problem(Reason.NESTED_REPOSITORY, path, what)
            return
        inner = os.open(place.name, DIRECTORY, dir_fd=place.here)
        try:
            hidden = scope.hides(path, is_directory=True)
            prefix = path + b"/"
            below = scope.below(inner, prefix, ignored=hidden)
            self._try((below.cost - scope.cost) * _COMPILED)
            self.folder(inner, prefix, below)
        finally:
            os.close(inner)

    def _link(self, place: _Place) -> None:
        target = os.readlink(place.name, dir_fd=place.here)
        words = stat_words(os.lstat(place.name, dir_fd=place.here), LINK)
        self._links[place.path] = target
        self._take(place, Content(LINK, blob_name(target), target), words)

    def _file(self, place: _Place) -> None:
        handle = os.open(place.name, READ, dir_fd=place.here)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                self._problem(Reason.SPECIAL_FILE, place.path, _SPECIAL)
                return
            if found.st_size > self._caps.file_bytes:
                self._large(handle, place, found)
                return
            data = read_at_most(handle, found.st_size)
            mode = _mode_of(found)
            if len(data) != found.st_size:
                why = "changed while it was read"
                self._problem(Reason.UNREADABLE_FILE, place.path, why)
                return
            content = Content(mode, blob_name(data), data)
            if found.st_nlink > 1 and place.known != content[:2]:
                self._problem(Reason.SPECIAL_FILE, place.path, "is a hard link to another file")
                return
            self._take(place, content, stat_words(found, mode))
        finally:
            os.close(handle)

    def _large(self, handle: int, place: _Place, found: os.stat_result) -> None:
        """A file above the cap is only compared with the commit's, piece by piece."""
        size, mode = found.st_size, _mode_of(found)
        if place.known is not None and self._size_of(place.known.sha) == size:
            digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            left = size
            while left and (piece := os.read(handle, min(left, CHUNK))):
                digest.update(piece)
                left -= len(piece)
            if place.known == (mode, digest.hexdigest()):
                self.found.same[place.path] = stat_words(found, mode)
                return
        cap = self._caps.file_bytes
        self._problem(Reason.FILE_TOO_LARGE, place.path, f"has {size} bytes, {cap} are allowed")

    def _take(self, place: _Place, content: Content, words: bytes) -> None:
        if place.known == content[:2]:
            self.found.same[place.path] = words
            return
        self._bytes += len(content.data)
        self.found.changed[place.path] = content
        self.found.words[place.path] = words
        if self._bytes > self._caps.total_bytes:
            cap = self._caps.total_bytes
            self._stop(Reason.CHANGE_TOO_LARGE, f"the change has more than {cap} bytes")
        if len(self.found.changed) > self._caps.files:
            some = ", ".join(shown(path) for path in list(self.found.changed)[:5])
            text = f"more than {self._caps.files} files are changed, among them {some}"
            self._stop(Reason.TOO_MANY_FILES, text)

    def finish(self) -> None:
        """What can be said only of the whole: what is gone, how much, where links lead."""
        found = self.found
        gone = [path for path in self._tree if path not in self._seen]
        # A submodule whose empty folder is gone was not removed from the project.
        found.same.update((p, UNKNOWN) for p in gone if self._tree[p].mode == SUBMODULE)
        found.removed = [p for p in gone if self._tree[p].mode != SUBMODULE]
        count = len(found.changed) + len(found.removed)
        if count > self._caps.files:
            text = f"{count} files are changed or removed, {self._caps.files} are allowed"
            self._stop(Reason.TOO_MANY_FILES, text)
        new = [path for path in found.changed if path not in self._tree]
        for path, other in collisions(new, (*found.same, *found.changed)):
            why = f"differs from {shown(other)} only in case or Unicode form (NFC, NFD)"
            self._problem(Reason.ODD_NAME, path, why)
        for path, content in found.changed.items():
            if content.mode == LINK and (why := leaves_tree(path, self._links)):
                self._problem(Reason.LINK_OUTSIDE, path, why)

    def _try(self, patterns: int) -> None:
        self._trials += patterns
        if self._trials > MAX_TRIALS:
            self._stop(Reason.TOO_MANY_FILES, "too many new files for so many .gitignore patterns")

    def _leave_out(self, path: bytes, end: str) -> None:
        if len(self.found.ignored) < MAX_IGNORED:
            self.found.ignored.append(shown(path) + end)

    @staticmethod
    def _holds_something(place: _Place) -> bool:
        inner = os.open(place.name, DIRECTORY, dir_fd=place.here)
        try:
            with os.scandir(inner) as listing:
                return next(listing, None) is not None
        finally:
            os.close(inner)

    def _problem(self, reason: Reason, path: bytes, text: str) -> None:
        self.found.problems.append(Problem(reason, f"{shown(path)}: {text}"))
        if len(self.found.problems) >= MAX_PROBLEMS:
            raise _EnoughError

    def _stop(self, reason: Reason, text: str) -> None:
        self.found.problems.append(Problem(reason, text))
        raise _EnoughError


def _mode_of(found: os.stat_result) -> int:
    return EXECUTABLE if found.st_mode & stat.S_IXUSR else PLAIN


def _folders_of(tree: Tree) -> set[bytes]:
    folders: set[bytes] = set()
    for path in tree:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    return folders
