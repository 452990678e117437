"""The difference of two commits as git tells it: which files, how many lines, which lines are new.

Reads the output of `diff-tree` of the trusted bare repository. Lines are counted as the hunk's
head announces them, so content that looks like a head is content.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from controller.adapters.git.runner import GitRunner
from controller.errors import RepositoryError

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}


class Touched(NamedTuple):
    """One file that differs. `source` is where a renamed one comes from."""

    path: bytes
    source: bytes | None
    sha: str
    """Object name afterwards; zeros when the file is gone."""


class Difference(NamedTuple):
    """What differs between two commits."""

    files: tuple[Touched, ...]
    added: int
    removed: int

    @property
    def paths(self) -> set[bytes]:
        """Every path that differs, both sides of a rename."""
        sources = {touched.source for touched in self.files if touched.source is not None}
        return {touched.path for touched in self.files} | sources


class Line(NamedTuple):
    """An added line: its number in the new file, its bytes without the line feed."""

    number: int
    text: bytes


def read_difference(runner: GitRunner, bare: Path, old: str, new: str) -> Difference:
    """Files and line counts between two commits; renames are found, binary files count no lines."""
    out = runner.run(
        bare, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "--numstat", old, new
    ).out
    fields = iter(out.split(b"\0")[:-1])
    files: list[Touched] = []
    added = removed = 0
    for record in fields:
        if record.startswith(b":"):
            _, _, _, sha, status = record.split(b" ")
            first = next(fields)
            renamed = status[:1] in {b"R", b"C"}
            path = next(fields) if renamed else first
            files.append(Touched(path, first if status[:1] == b"R" else None, sha.decode()))
            continue
        plus, minus, path = record.split(b"\t", 2)
        if not path:  # a rename: both names follow
            next(fields)
            next(fields)
        added += int(plus) if plus != b"-" else 0
        removed += int(minus) if minus != b"-" else 0
    return Difference(tuple(files), added, removed)


def added_lines(
    runner: GitRunner, bare: Path, old: str, new: str
) -> Iterator[tuple[bytes, list[Line]]]:
    """Path and added lines of each file that has some, in git's order."""
    argv = ("diff-tree", "-r", "-p", "-M", "--full-index", "--no-color", "--no-ext-diff")
    more = ("--no-textconv", "--irreversible-delete", "--unified=0", "--text")
    with runner.stream(bare, *argv, *more, old, new) as stream:
        path: bytes | None = None
        lines: list[Line] = []
        while row := stream.readline():
            if row.startswith(b"diff --git "):
                if path is not None and lines:
                    yield path, lines
                path, lines = None, []
            elif row.startswith(b"+++ "):
                path = _path(row[4:-1])
            elif (hunk := _HUNK.match(row)) is not None:
                lines += _hunk(stream, hunk)
        if path is not None and lines:
            yield path, lines


def _hunk(stream: IO[bytes], head: re.Match[bytes]) -> Iterator[Line]:
    removed = int(head[1] or b"1")
    number = int(head[2])
    added = int(head[3] or b"1")
    while removed or added:
        row = stream.readline()
        if row.startswith(b"-"):
            removed -= 1
        elif row.startswith(b"+"):
            yield Line(number, row[1:].removesuffix(b"\n"))
            number += 1
            added -= 1
        elif not row.startswith(b"\\"):
            raise RepositoryError("git's patch ended within a hunk")


def _path(text: bytes) -> bytes | None:
    """The file of a `+++` line, None for a removed one."""
    if text == b"/dev/null":
        return None
    if text.startswith(b'"'):
        inner = text.rstrip(b"\t")[1:-1]
        return _ESCAPE.sub(_unescape, inner).removeprefix(b"b/")
    # Git closes a name that holds blanks with a tab.
    return text.removesuffix(b"\t").removeprefix(b"b/")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) > 1:
        return bytes([int(code, 8)])
    return bytes([_LETTERS[code]]) if code in _LETTERS else code
