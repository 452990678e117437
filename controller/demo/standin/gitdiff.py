"""Reading what git prints about differences: raw records, line counts and patches.

Called by `gitrepo` only. Pure functions of text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied"}


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One changed file between two commits; `patch` is None for binary files."""

    path: str
    previous: str | None
    status: str
    blob: str | None
    additions: int
    deletions: int
    patch: str | None


def changes(raw: str, diff: str) -> list[FileChange]:
    """Combine ``git diff --raw --numstat -z`` with the text of the same diff.

    Git lists the files in the same order in all three parts.
    """
    records, counts = _split(raw.split("\0"))
    patches = list(_patches(diff))
    if len(patches) != len(records):
        patches = [None] * len(records)
    return [
        FileChange(
            path=names[-1],
            previous=names[0] if len(names) > 1 else None,
            status=_WORDS.get(facts[4][0], "changed"),
            blob=facts[3] if set(facts[3]) != {"0"} else facts[2],
            additions=added,
            deletions=deleted,
            patch=patch,
        )
        for (facts, names), (added, deleted), patch in zip(records, counts, patches, strict=True)
    ]


type _Record = tuple[list[str], list[str]]


def _split(tokens: list[str]) -> tuple[list[_Record], list[tuple[int, int]]]:
    """Raw records as (facts, names) and the line counts of each."""
    records: list[_Record] = []
    counts: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens) and tokens[at]:
        token = tokens[at]
        if token.startswith(":"):
            facts = token[1:].split(" ")
            width = 2 if facts[4][0] in "RC" else 1
            records.append((facts, tokens[at + 1 : at + 1 + width]))
            at += 1 + width
        else:
            added, deleted, name = token.split("\t", 2)
            counts.append((_number(added), _number(deleted)))
            at += 1 if name else 3
    return records, counts


def _number(count: str) -> int:
    return 0 if count == "-" else int(count)


def _patches(diff: str) -> Iterator[str | None]:
    """The hunks of each file, in order; None for a file without any."""
    for section in ("\n" + diff).split("\ndiff --git ")[1:]:
        _, mark, hunks = section.partition("\n@@")
        yield ("@@" + hunks.rstrip("\n")) if mark else None
