"""Attributes of paths as the base commit says, and as nobody in the worktree can change.

Git reads `.gitattributes` from an index that holds those files of the base commit and nothing
else; no worktree takes part.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from controller.adapters.git.index import UNKNOWN, write_index
from controller.adapters.git.objects import Tree
from controller.adapters.git.runner import GitRunner

_FILE = b".gitattributes"


class Attributes(NamedTuple):
    """Values of one path: `unspecified`, `set`, `unset`, or the text after `=`."""

    whitespace: str = "unspecified"
    diff: str = "unspecified"
    filter: str = "unspecified"


NONE = Attributes()


def read_attributes(
    runner: GitRunner, bare: Path, *, base: Tree, paths: Iterable[bytes]
) -> dict[bytes, Attributes]:
    """Attributes of `paths`; those of which the base says nothing may be left out."""
    files = [
        (path, entry, UNKNOWN)
        for path, entry in base.items()
        if path == _FILE or path.endswith(b"/" + _FILE)
    ]
    if not files:
        return {}
    index = bare / "toban-attributes-index"
    write_index(index, sorted(files))
    argv = ("check-attr", "-z", "--stdin", "--cached", "whitespace", "diff", "filter")
    out = runner.run(bare, *argv, stdin=b"".join(path + b"\0" for path in paths), index=index).out
    found: dict[bytes, dict[str, str]] = {}
    fields = out.split(b"\0")[:-1]
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        found.setdefault(path, {})[name.decode()] = value.decode(errors="replace")
    return {path: Attributes(**values) for path, values in found.items()}
