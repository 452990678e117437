"""New paths that some file system takes for one that is there already.

Letters of another case, or another Unicode form (a Mac writes が as か + dakuten): on macOS and
Windows both files are one, and on Linux the worker has written a second file instead of changing
the first.
"""

from collections.abc import Collection, Iterable, Iterator

from controller.adapters.git.names import folded


def collisions(
    new: Collection[bytes], everything: Iterable[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """Each of `new` (or a folder above it) with the other path of `everything` that it equals."""
    if not new:
        return
    known: dict[str, bytes] = {}
    fresh = set(new)
    for path in everything:
        if path not in fresh:
            for part in _with_folders(path):
                known.setdefault(folded(part), part)
    for path in sorted(fresh):
        for part in _with_folders(path):
            other = known.setdefault(folded(part), part)
            if other != part:
                yield path, other
                break


def _with_folders(path: bytes) -> Iterator[bytes]:
    at = path.find(b"/")
    while at > 0:
        yield path[:at]
        at = path.find(b"/", at + 1)
    yield path
