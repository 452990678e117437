"""What a walk of a worktree may read, and what it found: values of the import."""

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from controller.domain.reasons import Reason

MAX_PROBLEMS = 20
MAX_IGNORED = 200


class Caps(NamedTuple):
    """Bounds of what is read into memory."""

    files: int
    file_bytes: int
    total_bytes: int


class Problem(NamedTuple):
    """Something that cannot be delivered; `text` is a safe sentence that names the path."""

    reason: Reason
    text: str


class Content(NamedTuple):
    """A new or changed file."""

    mode: int
    sha: str
    data: bytes


@dataclass(slots=True)
class Walked:
    """What the walk found."""

    changed: dict[bytes, Content] = field(default_factory=dict)
    removed: list[bytes] = field(default_factory=list)
    same: dict[bytes, bytes] = field(default_factory=dict)
    """Stat words of the files that equal the commit."""
    words: dict[bytes, bytes] = field(default_factory=dict)
    """Stat words of the files in `changed`."""
    ignored: list[str] = field(default_factory=list)
    """New files and folders that `.gitignore` leaves out, `MAX_IGNORED` at most."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether the tree equals the commit, ignored files apart."""
        return not (self.changed or self.removed or self.problems)


def blob_name(data: bytes) -> str:
    """Git's object name of a file with this content."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
