"""What runtime needs of GitHub: find work, read one item, read its pull request, write.

Implemented by `controller.adapters.github`; `plan` is handed the readers only. No method can merge,
delete a branch, or touch a label that is not ours.
"""

from datetime import datetime
from typing import Protocol

from controller.domain.forge import (
    Comment,
    Commit,
    Comparison,
    Event,
    Issue,
    Permission,
    Person,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.values import Seen, Unseen, Value


class Listing(Value):
    """All open issues with one of our labels that could be seen, and the sources that could not."""

    issues: tuple[Issue, ...]
    unseen: tuple[Unseen, ...] = ()


class WorkFinder(Protocol):
    """Lists work with conditional requests; every page; pull requests are not issues."""

    def identity(self) -> Seen[Person]:
        """Who we are on the forge."""

    def find(self, labels: tuple[str, ...]) -> Listing:
        """Open issues with at least one of `labels`, each once."""

    def open_pulls(self, repository: Repository) -> Seen[tuple[PullRequest, ...]]:
        """Open pull requests from branches `agent/issue-*` of the repository itself."""


class ItemReader(Protocol):
    """Reads one issue. A 404 of the issue itself is Unseen: it is not known what became of it."""

    def issue(self, item: IssueId) -> Seen[Issue]:
        """The issue now."""

    def timeline(self, item: IssueId) -> Seen[tuple[Event, ...]]:
        """All events, oldest first, every page."""

    def comments(self, repository: Repository, number: int) -> Seen[tuple[Comment, ...]]:
        """All comments of an issue or a pull request's conversation, oldest first."""

    def last_body_edit(
        self, issue: Issue, events: tuple[Event, ...], comments: tuple[Comment, ...]
    ) -> Seen[datetime | None]:
        """When the body was last edited after creation, None = never.

        Where the forge serves no GraphQL: the issue's `updated_at`, if it is later than everything
        that an event or a comment explains. Renames are events and not told here.
        """

    def permission(self, repository: Repository, login: str) -> Seen[Permission]:
        """The account's role; `none` for a stranger."""


class PullReader(Protocol):
    """Reads what stands around an item's branch."""

    def repository(self, repository: Repository) -> Seen[RepositoryInfo]:
        """Default branch and state; a renamed repository is Unseen with code RepositoryMoved."""

    def branch_tip(self, repository: Repository, branch: str) -> Seen[Sha | None]:
        """Tip of a branch, None when the forge says that it does not exist."""

    def pulls(self, item: IssueId) -> Seen[tuple[PullRequest, ...]]:
        """All pull requests from the item's branch, open and closed, oldest first."""

    def commits(self, repository: Repository, number: int) -> Seen[tuple[Commit, ...]]:
        """Commits of a pull request, oldest first (the forge shows at most 250)."""

    def compare(self, repository: Repository, base: str, head: str) -> Seen[Comparison]:
        """How `head` stands to `base` (branch names or shas)."""

    def mergeable(self, repository: Repository, number: int) -> Seen[bool | None]:
        """Whether it merges without conflict; None while the forge is still computing."""


class LabelText(Value):
    """Name, colour (six hex digits) and description of one of our labels."""

    name: str
    color: str
    description: str


class PullText(Value):
    """Title and body of a pull request, safe Markdown."""

    title: str
    body: str


class ForgeWriter(Protocol):
    """Every change toban makes on the forge. Each is looked up before it is repeated.

    All raise ForgeError (nothing changed), ForgeUnknownError (answer lost, state looked up in vain)
    or ForgeLimitedError (pause). None of them is retried blindly.
    """

    def set_label(self, item: IssueId, *, label: str, remove: tuple[str, ...]) -> None:
        """Add `label` first, then take `remove` off. Labels that are absent are AlreadyTrue."""

    def comment(self, repository: Repository, number: int, *, body: str, marker: str) -> Comment:
        """Post a comment that starts with `marker`.

        One of our own with the same first line that exists already is returned instead.
        """

    def open_pull(self, item: IssueId, *, base: str, text: PullText) -> PullRequest:
        """Open the pull request, or return our own open one (422 "already exists" included)."""

    def assign(self, item: IssueId, *, login: str) -> bool:
        """Add an assignee; False when the forge dropped it silently (read back)."""

    def ensure_labels(
        self, repository: Repository, labels: tuple[LabelText, ...]
    ) -> tuple[str, ...]:
        """Create or repair the labels; say which were changed."""
