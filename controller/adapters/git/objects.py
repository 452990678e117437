"""Reading the trusted bare repository: trees, blobs, ancestry.

Used by reader, writer and importer; writes nothing. Every command names a full object id.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from controller.adapters.git.index import Entry
from controller.adapters.git.runner import GitRunner
from controller.errors import RepositoryError

CHUNK = 1 << 20
type Tree = Mapping[bytes, Entry]
"""Every file of a commit: path (bytes) to mode and object name, in git's order."""

_HEADER = re.compile(rb"([0-9a-f]{40}) (blob|commit|tree|tag) (\d+)\n")


def read_tree(runner: GitRunner, bare: Path, sha: str) -> dict[bytes, Entry]:
    """All files of commit `sha`."""
    out = runner.run(bare, "ls-tree", "-r", "-z", "--full-tree", sha).out
    tree: dict[bytes, Entry] = {}
    for record in out.split(b"\0")[:-1]:
        # "100644 blob <40 hex>\t<path>": the fields before the tab have a fixed width.
        mode, _, rest = record.partition(b" ")
        at = rest.index(b"\t")
        tree[rest[at + 1 :]] = Entry(int(mode, 8), rest[at - 40 : at].decode())
    return tree


class Blob:
    """One object on its way out of `cat-file`: read it once, in pieces or whole."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self.size = size
        self._left = size

    def chunks(self) -> Iterator[bytes]:
        """The content, at most `CHUNK` bytes at a time."""
        while self._left:
            piece = self._stream.read(min(self._left, CHUNK))
            if not piece:
                raise RepositoryError("git ended within an object")
            self._left -= len(piece)
            yield piece

    def whole(self) -> bytes:
        """The content at once."""
        return b"".join(self.chunks())

    def skip(self) -> None:
        """Read what nobody wanted, so that the next object can follow."""
        for _ in self.chunks():
            pass
        self._stream.read(1)


def read_blobs(runner: GitRunner, bare: Path, shas: Iterable[str]) -> Generator[Blob]:
    """The objects of `shas`, in that order, by one process. Each is used before the next comes."""
    wanted = list(shas)
    if not wanted:
        return
    lines = (f"{sha}\n".encode() for sha in wanted)
    with runner.stream(bare, "cat-file", "--batch", "--buffer", lines=lines) as stream:
        for sha in wanted:
            found = _HEADER.fullmatch(stream.readline())
            if found is None:
                raise RepositoryError(f"object {sha} is missing in {bare.name}")
            blob = Blob(stream, int(found[3]))
            yield blob
            blob.skip()


def read_sizes(runner: GitRunner, bare: Path, shas: Iterable[str]) -> dict[str, int]:
    """Sizes in bytes of the objects of `shas`; missing ones are left out."""
    wanted = list(dict.fromkeys(shas))
    if not wanted:
        return {}
    text = "".join(f"{sha}\n" for sha in wanted).encode()
    out = runner.run(bare, "cat-file", "--batch-check", "--buffer", stdin=text).out
    return {found[1].decode(): int(found[3]) for found in _HEADER.finditer(out)}


def parents_of(runner: GitRunner, bare: Path, sha: str) -> tuple[str, ...] | None:
    """Parents of commit `sha`, None when it is not there."""
    out = runner.run(bare, "cat-file", "--batch", "--buffer", stdin=f"{sha}\n".encode()).out
    header, _, body = out.partition(b"\n")
    found = _HEADER.fullmatch(header + b"\n")
    if found is None or found[2] != b"commit":
        return None
    lines = body.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
    return tuple(line.removeprefix("parent ") for line in lines if line.startswith("parent "))


def is_ancestor(runner: GitRunner, bare: Path, old: str, new: str) -> bool | None:
    """Whether `old` is reachable from `new`; None when one of them is not there."""
    answer = runner.run(bare, "merge-base", "--is-ancestor", old, new, expect=(0, 1, 128))
    return None if answer.code not in {0, 1} else answer.code == 0
