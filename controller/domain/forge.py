"""What the forge says: people, issues, events, comments, pull requests. Raw facts, no judgement.

Made by `controller.adapters.github`; interpreted by `controller.workloads.issues`. Times are aware
datetimes of the forge's clock with its resolution of one second.
"""

from datetime import datetime
from typing import Literal

from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.values import Value


class Person(Value):
    """An account. The numeric id is the identity: logins can be renamed and look alike."""

    id: int
    login: str
    is_bot: bool = False


class Issue(Value):
    """One issue as a list or a single read shows it. Never a pull request."""

    item: IssueId
    title: str
    body: str
    """Empty when the forge says null."""
    labels: tuple[str, ...]
    """Label names in the forge's spelling, foreign ones too."""
    is_open: bool
    author: Person | None
    """None for a deleted account."""
    created_at: datetime
    updated_at: datetime


class Event(Value):
    """One entry of an issue's timeline that has an id of its own."""

    id: int
    kind: str
    """`labeled`, `unlabeled`, `renamed`, `closed`, ... as the forge says; others pass through."""
    actor: Person | None
    at: datetime
    label: str | None = None
    """Name of the label for `labeled` and `unlabeled`."""


class Comment(Value):
    """One comment of an issue or of a pull request's conversation."""

    id: int
    author: Person | None
    body: str
    created_at: datetime
    updated_at: datetime

    @property
    def unedited(self) -> bool:
        """Whether it still is what its author posted, as far as the forge's clock can tell."""
        return self.created_at == self.updated_at


class RepositoryInfo(Value):
    """What the forge says of a repository."""

    repository: Repository
    """With the forge's own spelling, which may differ in case from what was asked."""
    default_branch: str
    archived: bool


class PullRequest(Value):
    """A pull request whose head branch is the item's branch in the same repository."""

    number: int
    is_open: bool
    merged: bool
    author: Person | None
    head: Sha
    base_branch: str
    created_at: datetime
    closed_at: datetime | None
    updated_at: datetime
    url: str
    base_tip: Sha | None = None
    head_branch: str = ""
    """Name of the head branch; a list of open pull requests is told apart by it."""


class Commit(Value):
    """One commit of a pull request, in the order of the forge (oldest first)."""

    sha: Sha
    parents: tuple[Sha, ...]
    message: str


class Comparison(Value):
    """How a head stands to a base."""

    merge_base: Sha
    ahead: int
    behind: int

    @property
    def is_ancestor(self) -> bool:
        """Whether the base is an ancestor of (or equal to) the head."""
        return self.behind == 0


type Permission = Literal["none", "read", "triage", "write", "maintain", "admin"]
RANK: dict[Permission, int] = {
    "none": 0,
    "read": 1,
    "triage": 2,
    "write": 3,
    "maintain": 4,
    "admin": 5,
}
"""GitHub's repository roles, least first (repository roles for an organization)."""
