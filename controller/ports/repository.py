"""What runtime needs of git: a trusted bare repository per remote, worktrees, import and push.

Implemented by `controller.adapters.git`; the reader is all that `plan` is handed. No method can
force, reset, clean, stash or merge: such a thing does not exist here.
"""

from pathlib import Path
from typing import Protocol

from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.repository import (
    Change,
    CommitText,
    ImportLimits,
    LocalRepository,
    Refusal,
    Worktree,
)
from controller.domain.values import Seen, Unseen


class RepositoryReader(Protocol):
    """All that `plan` may know of git. Starts no fetch and writes nothing."""

    def local(self, item: IssueId) -> Seen[LocalRepository]:
        """What the disk has for this item."""

    def is_ancestor(self, repository: Repository, old: Sha, new: Sha) -> bool | None:
        """Whether `old` is an ancestor of `new`; None when the disk lacks one of them."""

    def worktree_is_clean(self, item: IssueId) -> Seen[bool]:
        """Whether the import walk of the worktree equals its head's tree, ignored files apart."""

    def items_on_disk(self) -> tuple[IssueId, ...]:
        """Items that have a worktree below `root`, finished ones too."""


class RepositoryWriter(Protocol):
    """Changes of the trusted bare repository and the worktree; nothing destructive exists."""

    def fetch(self, item: IssueId, *, base: str) -> Unseen | None:
        """Make the bare repository if it is missing; fetch branch `base` and the item's branch.

        Writes only below `refs/toban/issue-N/`. A vanished remote branch removes that ref.
        None when done. Never touches a branch that a worktree has checked out.
        """

    def create_worktree(self, item: IssueId, *, at: Sha, pushed: tuple[Sha, ...] = ()) -> Worktree:
        """Check out a worktree on the item's branch at commit `at`.

        A local branch that stands on one of `pushed` is moved, and its old tip kept by a ref below
        `refs/toban/`; any other tip that does not lead to `at` raises UnpushedError.

        The local branch is made at `at`, or kept when it already is there or fast-forwarded to it.
        Files are written by our own hand: no hook, filter or attribute takes part.
        Raises RepositoryError when a different branch tip or anything else stands there.
        """

    def import_change(
        self, item: IssueId, *, parent: Sha, base: Sha, limits: ImportLimits, text: CommitText
    ) -> Change | Refusal:
        """Import the worktree as one commit on `parent` and check it; no branch moves.

        `base` is the commit whose attributes and protected paths decide. The walk follows no link
        and reads each byte once. The commit is kept by `refs/toban/issue-N/import`.
        """

    def advance(self, item: IssueId, *, sha: Sha, parent: Sha) -> None:
        """Move the local branch from `parent` to its child `sha`; write the index anew from it.

        Already there is done. Raises RepositoryError when the branch is elsewhere.
        """

    def push(self, item: IssueId, *, sha: Sha, expected: Sha | None) -> Refusal | Unseen | None:
        """Push `sha` to the item's branch by its literal URL, fast-forward only.

        `expected` is the remote tip that was decided on (None = the branch does not exist). None
        when the remote branch is at `sha` afterwards. A diverged remote is an ambiguous Refusal.
        """

    def checkout(self, repository: Repository, *, sha: Sha, into: Path) -> None:
        """Write commit `sha` as plain files plus a read-only `.git` pointer into a new folder."""

    def remove_checkout(self, repository: Repository, place: Path) -> None:
        """Remove what `checkout` made, by our own walk without following links; absent is done."""

    def diff(self, repository: Repository, *, base: Sha, head: Sha, limit: int) -> tuple[str, bool]:
        """The full text diff, and whether it was cut at `limit` bytes."""

    def read_file(self, repository: Repository, *, sha: Sha, path: str) -> str | None:
        """Text of one file of a commit (UTF-8, 256 KiB at most), None when it is not there."""

    def remove_worktree(self, item: IssueId) -> None:
        """Remove a clean worktree by our own walk and prune its registration.

        Raises RepositoryError, and removes nothing, when it is not clean.
        """
