"""One look at everything that is wanted, stopping where the choice is made. Writes nothing.

Called by `toban plan`, `status`, `explain` and by every tick. The order of looking and the moment
to stop are decided by `controller.workloads.issues.planner`.
"""

from datetime import timedelta
from typing import NamedTuple

from controller.domain.forge import Issue, Person, PullRequest
from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.plan import Hold, Plan
from controller.domain.values import Unseen
from controller.runtime.look import look
from controller.runtime.rest import lasting, may_rest, versions
from controller.runtime.tools import Readers
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.labels import STRENGTH
from controller.workloads.issues.planner import Desired, Observation, decide, order, plan

_DAY = timedelta(days=1)


class Seen(NamedTuple):
    """One look: what is wanted, what was seen, and what follows."""

    desired: Desired
    observation: Observation
    plan: Plan
    rests: tuple[tuple[IssueId, str, Hold], ...] = ()
    """Items found at rest with their versions: a tick may remember them."""


def measure(r: Readers) -> Host:
    """Memory, disk and the shared limits of the day."""
    usage = r.records.usage(now=r.clock.now())
    return Host(
        free_memory_percent=r.host.free_memory_percent(),
        free_disk_gb=r.host.free_disk_gb(),
        agents_pause_until=r.records.pause_until(),
        runs_last_day=usage.runs,
        tokens_last_day=usage.tokens,
        day_ends_at=usage.oldest + _DAY if usage.oldest else None,
    )


def observe(
    r: Readers, *, only: IssueId | None = None, passed: tuple[Hold, ...] = (), every: bool = False
) -> Seen:
    """List the work, look at items in the order of choice until one acts, and plan.

    `only` restricts the candidates to one item; `passed` are items whose action failed in this
    tick; `every` looks at all items (status). Sources that fail are in the plan's `unseen`.
    """
    host = measure(r)
    me = r.me()
    if isinstance(me, Unseen):
        blind = Observation(me=None, host=host, unseen=(me,))
        return Seen(Desired(issues=()), blind, Plan(unseen=(me,)))
    listing = r.finder.find(STRENGTH)
    issues = tuple(i for i in listing.issues if only is None or i.item.key == only.key)
    leftovers = _leftovers(r, issues, only, listing.unseen)
    desired = Desired(issues=issues, leftovers=leftovers, asked=only)
    gather = _Gather(r, me, host, passed=passed)
    for item in desired.leftovers:
        gather.take(item)
    for issue in order(issues):
        if gather.take(issue.item, issue=issue) and not every:
            break
    observation = Observation(
        me=me,
        host=host,
        facts=tuple(gather.facts),
        resting=tuple(hold for _, _, hold in gather.rested),
        passed=passed,
        unseen=(*listing.unseen, *gather.unseen),
    )
    rests = (*gather.found, *gather.rested)
    return Seen(desired, observation, plan(desired, observation, r.policy), rests)


def _leftovers(
    r: Readers, issues: tuple[Issue, ...], only: IssueId | None, unseen: tuple[Unseen, ...]
) -> tuple[IssueId, ...]:
    """Items with a worktree that the lists no longer show; `only` is looked at wherever it stands.

    While a list could not be seen nothing counts as finished: an error is not an absence.
    """
    listed = {issue.item.key for issue in issues}
    if only is not None:
        return () if only.key in listed else (only,)
    if unseen:
        return ()
    return tuple(item for item in r.repository.items_on_disk() if item.key not in listed)


class _Gather:
    """Looks at items one by one and keeps what was seen."""

    def __init__(self, r: Readers, me: Person, host: Host, *, passed: tuple[Hold, ...]) -> None:
        self.facts: list[IssueFacts] = []
        self.unseen: list[Unseen] = []
        self.rested: list[tuple[IssueId, str, Hold]] = []
        self.found: list[tuple[IssueId, str, Hold]] = []
        self._r, self._me, self._host = r, me, host
        self._passed = {hold.item.key for hold in passed}
        self._pulls: dict[str, tuple[PullRequest, ...] | None] = {}

    def take(self, item: IssueId, *, issue: Issue | None = None) -> bool:
        """Look at an item; whether it has an action, so that the choice is made."""
        if item.key in self._passed:
            return False
        seen = self._versions(issue) if issue is not None and may_rest(issue) else None
        note = self._r.records.rest(item) if seen is not None else None
        if seen is not None and note is not None and note.versions == seen:
            self.rested.append((item, seen, note.hold))
            return False
        facts = look(item, self._me, self._r)
        self.facts.append(facts)
        said = decide(facts, self._host, self._r.policy)
        rest = lasting(said)
        if seen is not None and rest is not None:
            self.found.append((item, seen, rest))
        return not isinstance(said, Hold | Unseen | None)

    def _versions(self, issue: Issue) -> str | None:
        """What the item looks like now, None when its pull requests cannot be seen."""
        repository = issue.item.repository
        if repository.key not in self._pulls:
            pulls = self._r.finder.open_pulls(repository)
            if isinstance(pulls, Unseen):
                self.unseen.append(pulls)
            self._pulls[repository.key] = None if isinstance(pulls, Unseen) else pulls
        found = self._pulls[repository.key]
        if found is None:
            return None
        mine = tuple(p for p in found if p.head_branch == issue.item.branch)
        return versions(issue, mine, self._r.policy)
