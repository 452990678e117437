"""All that was seen of one issue: raw facts of forge, git and disk, before any judgement.

Made by `controller.runtime.observe`, read by `controller.workloads.issues.state`. Every source that
could fail is `Seen`; nothing risky is planned from one that is Unseen.
"""

from collections.abc import Iterator
from datetime import datetime

from controller.domain.forge import (
    Commit,
    Comparison,
    Event,
    Issue,
    Permission,
    Person,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.ids import IssueId, Sha
from controller.domain.repository import LocalRepository
from controller.domain.runs import Run
from controller.domain.values import Seen, Unseen, Value
from controller.workloads.issues.markers import Stored


class PullFacts(Value):
    """What stands around the item's pull request."""

    records: Seen[tuple[Stored, ...]]
    """Our records in its conversation."""
    commits: Seen[tuple[Commit, ...]]
    to_base: Seen[Comparison]
    """The pull request's base branch against its head."""


class IssueFacts(Value):
    """One issue as it was seen at `taken_at`."""

    item: IssueId
    taken_at: datetime
    me: Person
    issue: Seen[Issue]
    repository: Seen[RepositoryInfo]
    events: Seen[tuple[Event, ...]]
    edited_at: Seen[datetime | None]
    """Last edit of the body, None = never."""
    permission: Seen[Permission]
    """Of whoever opened the current epoch; `none` when nobody did."""
    records: Seen[tuple[Stored, ...]]
    """Our records on the issue."""
    base_branch: str
    base_tip: Seen[Sha | None]
    remote_tip: Seen[Sha | None]
    own_below: Sha | None = None
    """Our newest commit that the forge knows; asked when the remote tip is not ours."""
    to_own: Seen[Comparison] | None = None
    """`own_below` against the remote tip."""
    to_base: Seen[Comparison] | None = None
    """The base branch against the remote tip; asked when there is a tip."""
    pulls: Seen[tuple[PullRequest, ...]]
    pull: PullFacts | None = None
    """Of the pull request that `current_pull` chooses, None when there is none."""
    local: Seen[LocalRepository]
    worktree_clean: Seen[bool] | None = None
    """Asked when the worktree may have to go."""
    head_on_forge: bool | None = None
    """Whether the worktree's head is a pull request's head, or in the history of the remote tip."""
    head_on_base: bool | None = None
    """Whether the worktree's head lies in the fetched base's history; asked without a tip."""
    prepared: bool = False
    runs: tuple[Run, ...] = ()

    def unseen(self) -> Iterator[Unseen]:
        """Every source of the forge or disk that did not answer, in the order of asking."""
        sources: list[object] = [
            self.issue,
            self.repository,
            self.events,
            self.edited_at,
            self.permission,
            self.records,
            self.base_tip,
            self.remote_tip,
            self.to_own,
            self.to_base,
            self.pulls,
            self.local,
            self.worktree_clean,
        ]
        if self.pull is not None:
            sources += [self.pull.records, self.pull.commits, self.pull.to_base]
        yield from (source for source in sources if isinstance(source, Unseen))


def current_pull(pulls: tuple[PullRequest, ...]) -> PullRequest | None:
    """The pull request that counts: the open one, else the newest. `pulls` is oldest first."""
    return next((pull for pull in pulls if pull.is_open), pulls[-1] if pulls else None)
