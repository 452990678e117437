"""The full difference of two commits as text for the reviewer and for people.

Binary files are named with their sizes instead of shown. Attributes of the tree cannot hide a
file: the bare repository reads none.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from controller.adapters.git.objects import read_sizes
from controller.adapters.git.runner import GitRunner

_INDEX = re.compile(rb"index ([0-9a-f]{40})\.\.([0-9a-f]{40})")
_BINARY = re.compile(r"\0([0-9a-f]{40}) ([0-9a-f]{40})\0")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ENCODINGS = ("utf-8", "euc_jp", "cp932")
"""Strict tries in this order: text in EUC-JP nearly always passes for CP932, not the reverse."""
_SLICE = 1 << 16


def read_diff(
    runner: GitRunner, bare: Path, *, base: str, head: str, limit: int
) -> tuple[str, bool]:
    """The diff as text of at most `limit` bytes (UTF-8), and whether it was cut."""
    argv = ("diff-tree", "-r", "-p", "-M", "--full-index", "--no-color", "--no-ext-diff")
    sections: list[str] = []
    size = 0
    with runner.stream(bare, *argv, "--no-textconv", base, head) as stream:
        for section in _sections(stream, limit):
            sections.append(section)
            size += len(section.encode())
            if size > limit:
                break
    text = _with_sizes(runner, bare, "".join(sections))
    data = text.encode()
    if len(data) <= limit:
        return text, False
    return data[:limit].decode(errors="ignore"), True


def _sections(stream: IO[bytes], limit: int) -> Iterator[str]:
    """One text per file. A section beyond `limit` bytes is cut: nobody will see its rest."""
    rows: list[bytes] = []
    size = inside = 0
    while row := stream.readline(limit + 1):
        if inside:
            # A row without its line feed goes on in the next read and is counted there.
            inside -= _weight(row)
        elif (hunk := _HUNK.match(row)) is not None:
            inside = int(hunk[1] or b"1") + int(hunk[2] or b"1")
        elif row.startswith(b"diff --git ") and rows:
            yield _decode(rows)
            rows, size = [], 0
        elif row.startswith(b"Binary files "):
            row = _binary(rows)
        rows.append(row)
        size += len(row)
        if size > limit:
            break
    if rows:
        yield _decode(rows)


def _weight(row: bytes) -> int:
    """Lines of old and new file for which a row of a hunk stands."""
    return {b" ": 2, b"+": 1, b"-": 1}.get(row[:1], 0)


def _binary(rows: list[bytes]) -> bytes:
    found = next(m for row in reversed(rows) if (m := _INDEX.match(row)) is not None)
    return b"\0%s %s\0\n" % (found[1], found[2])


def _decode(rows: list[bytes]) -> str:
    data = b"".join(rows)
    for encoding in _ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def _with_sizes(runner: GitRunner, bare: Path, text: str) -> str:
    shas = {sha for found in _BINARY.finditer(text) for sha in found.groups()} - {"0" * 40}
    sizes = read_sizes(runner, bare, sorted(shas))

    def sentence(found: re.Match[str]) -> str:
        old, new = (sizes.get(sha) for sha in found.groups())
        before = f"{old} bytes" if old is not None else "no file"
        after = f"{new} bytes" if new is not None else "no file"
        return f"Binary file changed: {before} before, {after} after"

    return _BINARY.sub(sentence, text)
