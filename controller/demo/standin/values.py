"""The records the stand-in keeps: what GitHub would have in its database.

Plain mutable dataclasses, changed only by the modules `issues`, `pulls` and `world` under the
world's lock. Nothing here is derived from git: heads, files, commits and mergeability are asked of
the bare repositories at request time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from controller.demo.standin.accounts import Role

type Json = dict[str, Any]
type Reason = Literal["completed", "reopened", "not_planned", "duplicate"]

BODY_LIMIT = 65_536
"""Characters in a body; GitHub answers 422 beyond (seen for comments)."""


@dataclass(kw_only=True)
class Label:
    """A label of a repository; names are unique without regard to case."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One version of a body, as GraphQL's ``userContentEdits`` lists them."""

    id: int
    at: int
    editor: str
    body: str


@dataclass(kw_only=True)
class Comment:
    """A comment on an issue or a pull request."""

    id: int
    number: int
    user: str
    body: str
    created_at: int
    updated_at: int
    order: int
    edits: list[Edit] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Event:
    """An entry of the issue's history; `detail` holds what only this kind of event has."""

    id: int
    event: str
    actor: str
    created_at: int
    order: int
    commit_id: str | None = None
    detail: Json = field(default_factory=dict)


@dataclass(kw_only=True)
class Review:
    """A review of a pull request."""

    id: int
    user: str
    body: str
    state: str
    commit_id: str
    submitted_at: int
    order: int


@dataclass(kw_only=True)
class Pull:
    """What an issue has in addition when it is a pull request.

    `head_sha` and `base_sha` follow the branches while the pull request is open and stay when it is
    closed. `known` is the (base, head) pair for which mergeability was already asked once.
    """

    id: int
    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool = False
    merged_at: int | None = None
    merged_by: str | None = None
    merge_commit_sha: str | None = None
    known: tuple[str, str] | None = None
    reviews: list[Review] = field(default_factory=list)


@dataclass(kw_only=True)
class Issue:
    """An issue, or a pull request when `pull` is set; both share the numbers."""

    id: int
    number: int
    title: str
    body: str | None
    user: str
    created_at: int
    updated_at: int
    state: Literal["open", "closed"] = "open"
    state_reason: Reason | None = None
    closed_at: int | None = None
    closed_by: str | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    pull: Pull | None = None

    @property
    def last_edited_at(self) -> int | None:
        """When the body was last edited; a new title does not count, as on GitHub."""
        return self.edits[-1].at if self.edits else None

    def has_label(self, name: str) -> bool:
        """Whether the label is on, whatever the case of `name`."""
        return any(label.name.lower() == name.lower() for label in self.labels)


@dataclass(frozen=True, kw_only=True)
class Push:
    """One reference that moved. `old` or `new` is None for a creation or a deletion."""

    repo: str
    repo_id: int
    ref: str
    old: str | None
    new: str | None
    user: str
    fast_forward: bool
    via: Literal["git", "api", "control"]


@dataclass(frozen=True, kw_only=True)
class Status:
    """A commit status."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: str
    created_at: int


@dataclass(kw_only=True)
class Repo:
    """A repository: the records beside the bare repository at `path`."""

    id: int
    owner: str
    name: str
    path: Path
    default_branch: str
    private: bool
    created_at: int
    pushed_at: int
    description: str | None = None
    archived: bool = False
    next_number: int = 1
    collaborators: dict[str, Role] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    issues: dict[int, Issue] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        """owner/name."""
        return f"{self.owner}/{self.name}"

    def role(self, login: str | None) -> Role:
        """The role of `login`, None being a caller without a token."""
        if login is not None:
            if login.lower() == self.owner.lower():
                return Role.ADMIN
            if login.lower() in self.collaborators:
                return self.collaborators[login.lower()]
        return Role.NONE if self.private else Role.READ

    def label(self, name: str) -> Label | None:
        """The repository's label of that name, without regard to case."""
        return next((it for it in self.labels if it.name.lower() == name.lower()), None)

    def pulls(self) -> Iterator[tuple[Issue, Pull]]:
        """Every pull request with its issue."""
        return ((issue, issue.pull) for issue in self.issues.values() if issue.pull is not None)

    def comment(self, comment_id: int) -> tuple[Issue, Comment] | None:
        """The comment of that id with its issue."""
        for issue in self.issues.values():
            for comment in issue.comments:
                if comment.id == comment_id:
                    return issue, comment
        return None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request that reached the stand-in. `user` is None without a valid token."""

    method: str
    path: str
    query: str
    status: int | None
    user: str | None
    conditional: bool
    fault: bool


def unique(names: Iterable[str]) -> list[str]:
    """`names` without repetitions that differ in case only, first spelling kept."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.lower(), name)
    return list(kept.values())
