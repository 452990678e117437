"""Which new files of a worktree are ignored, folder by folder on the way down.

Used by the walk. The rules are the bytes of the tree's own `.gitignore` files, read without
following a link; a file that is tracked is never ignored, which the walk sees to.
"""

import os
import stat
from typing import NamedTuple, Self

from controller.adapters.git.ignore import MAX_BYTES, Patterns

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class _Rules(NamedTuple):
    """The `.gitignore` of one folder; `start` is the length of that folder's path and slash."""

    start: int
    patterns: Patterns


class Scope(NamedTuple):
    """What holds in one folder."""

    ignored: bool = False
    """The folder itself is ignored: nothing new below it is delivered."""
    rules: tuple[_Rules, ...] = ()

    def below(self, here: int, prefix: bytes, *, ignored: bool) -> Self:
        """The scope of the open folder `here`, whose `.gitignore` joins the rules from above."""
        patterns = None if ignored else _read_patterns(here)
        rules = self.rules if patterns is None else (*self.rules, _Rules(len(prefix), patterns))
        return self._replace(ignored=ignored, rules=rules)

    @property
    def cost(self) -> int:
        """How many patterns one question may have to try."""
        return sum(len(rule.patterns) for rule in self.rules)

    def hides(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether a new file or folder at `path` is left out; the nearest rule decides."""
        if self.ignored:
            return True
        text = path.decode("latin-1")
        for rule in reversed(self.rules):
            verdict = rule.patterns.verdict(text[rule.start :], is_directory=is_directory)
            if verdict is not None:
                return verdict
        return False


def read_at_most(handle: int, size: int) -> bytes:
    """`size` bytes of an open file, and one more when there is one."""
    data = os.read(handle, size + 1)
    while len(data) <= size and (piece := os.read(handle, size + 1 - len(data))):
        data += piece
    return data


def _read_patterns(here: int) -> Patterns | None:
    try:
        handle = os.open(b".gitignore", READ, dir_fd=here)
    except OSError:
        return None  # a link or unreadable: the walk reports it when its turn comes
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return Patterns.of_file(read_at_most(handle, MAX_BYTES))
        return None
    finally:
        os.close(handle)
