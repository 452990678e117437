"""What the disk has of an item, and what became of a worker's change: values of git.

Made by `controller.adapters.git`, read by rules and renderers. Reading them starts nothing.
"""

from typing import Literal

from controller.domain.ids import Sha
from controller.domain.values import Value


class Worktree(Value):
    """What stands at an item's worktree path."""

    state: Literal["absent", "ours", "tampered"]
    """`ours`: a directory whose `.git` pointer leads to our bare repository, with the item's
    branch checked out there. `tampered`: anything else; `detail` says what."""
    detail: str = ""
    head: Sha | None = None
    """Tip of the item's local branch in the bare repository, None while absent."""


class LocalRepository(Value):
    """What the disk has of one item's repository. Reading it never starts a network request."""

    exists: bool
    base: Sha | None = None
    """The default branch as last fetched for this item (`refs/toban/issue-N/base`)."""
    fetched_head: Sha | None = None
    """The item's remote branch as last fetched (`refs/toban/issue-N/head`)."""
    worktree: Worktree


class Change(Value):
    """The commit made of what the worker left, and what the PR's banner must say of it."""

    sha: Sha
    parent: Sha
    files: int
    added_lines: int
    removed_lines: int
    sensitive: tuple[str, ...] = ()
    """Paths under policy.sensitive_paths."""
    ignored_new: tuple[str, ...] = ()
    """New files that .gitignore keeps out of the commit."""


class Refusal(Value):
    """Why a worker's tree was not delivered."""

    kind: Literal["fixable", "ambiguous", "hold"]
    """`fixable`: the message goes back to the worker. `ambiguous`: blocked, nothing touched.
    `hold`: not the worker's fault (a check that fails on the bare base too)."""
    reason: str
    """CamelCase reason code (see controller.domain.reasons)."""
    message: str
    """Names paths and lines, never a secret's value; safe text."""


class ImportLimits(Value):
    """What a delivered change may contain (policy of interface.md section 3)."""

    protected_paths: tuple[str, ...]
    sensitive_paths: tuple[str, ...]
    max_changed_files: int
    max_file_bytes: int
    max_total_bytes: int
    secrets: tuple[str, ...] = ()
    """Values of this host's own secrets: a hit is ambiguous, not fixable. Never printed."""


class CommitText(Value):
    """Author, message and time of the commit; equal text on an equal tree gives an equal sha."""

    author_name: str
    author_email: str
    message: str
    """Already safe: no closing keywords, mentions or control characters of the model."""
    at: int
    """Seconds since 1970 (the run's recorded end), so that a repeated import makes the same sha."""
