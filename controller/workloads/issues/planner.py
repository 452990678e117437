"""From what was seen to a plan: which issue goes next, what is done, why everything else waits.

Pure. `toban plan` and `toban run-once` call the same `plan`; `order` tells observe in which order
to look, and `decide` when to stop looking.
"""

from collections.abc import Iterable
from datetime import datetime

from controller.domain.actions import Claim, StartAgent
from controller.domain.forge import Issue, Person
from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.plan import Hold, Plan, Said
from controller.domain.policy import Policy
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen, Value
from controller.planning.admission import admit_agent
from controller.planning.rules import first_said, name_of
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.labels import BLOCKED, HUMAN, READY, REVIEW, REWORK, WORKING, ours
from controller.workloads.issues.rules import RULES
from controller.workloads.issues.state import interpret

_RANK = {label: rank for rank, label in enumerate((REWORK, REVIEW, WORKING, HUMAN, READY))}
"""Started work before new work; among equals the oldest."""


class Desired(Value):
    """What is wanted: the labelled issues of the forge, and leftovers of finished items."""

    issues: tuple[Issue, ...]
    leftovers: tuple[IssueId, ...] = ()
    """Items with a worktree whose issue carries no label of ours or is closed."""
    asked: IssueId | None = None
    """The one item that somebody asked for by name: what cannot be seen of it is missed."""


class Observation(Value):
    """What was seen in one look."""

    me: Person | None
    host: Host
    facts: tuple[IssueFacts, ...] = ()
    resting: tuple[Hold, ...] = ()
    """Items that stood at rest at an earlier look and that nobody touched since."""
    passed: tuple[Hold, ...] = ()
    """Items whose action failed in this tick: passed over, so that they starve nobody."""
    unseen: tuple[Unseen, ...] = ()


def order(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """Candidates in the order of choice; blocked ones are none (decisions 6, 10)."""
    candidates = [issue for issue in issues if ours(issue.labels)[:1] not in ((), (BLOCKED,))]
    return tuple(
        sorted(
            candidates,
            key=lambda issue: (_RANK[ours(issue.labels)[0]], issue.created_at, issue.item.key),
        )
    )


def decide(facts: IssueFacts, host: Host, policy: Policy) -> Said | Unseen:
    """What the rules and the host say of one issue."""
    state = interpret(facts, policy)
    if isinstance(state, Unseen):
        return state
    said = first_said(RULES, state, policy).said
    # New work is not even claimed while its worker could not be started.
    if isinstance(said, StartAgent | Claim):
        return admit_agent(facts.item, host, policy, now=facts.taken_at) or said
    return said


def plan(desired: Desired, observation: Observation, policy: Policy) -> Plan:
    """Choose one issue, and say of every other one why it waits.

    Leftovers of finished items are housekeeping: theirs is done beside the chosen issue.
    """
    known = _Known(observation, policy)
    said = {item.key: known.said(item, wanted=item == desired.asked) for item in desired.leftovers}
    chosen: IssueId | None = None
    for issue in order(desired.issues):
        key = issue.item.key
        if chosen is not None:
            said[key] = _hold(issue.item, Reason.WAITS_FOR_TURN, f"{chosen} goes first")
            continue
        said[key] = known.said(issue.item)
        if not isinstance(said[key], Hold | None):
            chosen = issue.item
    blocked = [each.item for each in desired.issues if ours(each.labels)[:1] == (BLOCKED,)]
    said |= {item.key: _hold(item, Reason.BLOCKED) for item in blocked}
    return Plan(
        actions=tuple(each for each in said.values() if not isinstance(each, Hold | None)),
        holds=tuple(each for each in said.values() if isinstance(each, Hold)),
        unseen=(*observation.unseen, *known.unseen),
        then=_then(known.facts.get(chosen.key) if chosen else None, policy),
    )


class _Known:
    """What one look knows, by item."""

    def __init__(self, observation: Observation, policy: Policy) -> None:
        self.facts = {facts.item.key: facts for facts in observation.facts}
        self.unseen: list[Unseen] = []
        self._holds = {h.item.key: h for h in (*observation.resting, *observation.passed)}
        self._host, self._policy = observation.host, policy

    def said(self, item: IssueId, *, wanted: bool = True) -> Said:
        """Passed over, at rest, judged by the rules, or not looked at.

        What could not be seen of an item that nobody asks for any more leaves the plan complete.
        """
        if item.key in self._holds:
            return self._holds[item.key]
        facts = self.facts.get(item.key)
        if facts is None:
            return _hold(item, Reason.WAITS_FOR_TURN)
        found = decide(facts, self._host, self._policy)
        if not isinstance(found, Unseen):
            return found
        if wanted:
            self.unseen.append(found)
        return hold_of(item, found)


def hold_of(item: IssueId, unseen: Unseen) -> Hold:
    """The hold of an item of which something could not be seen."""
    reason = Reason(unseen.code) if unseen.code in _CODES else Reason.FORGE_UNSEEN
    return _hold(item, reason, f"{unseen.source}: {unseen.reason}", until=unseen.until)


_CODES = frozenset(str(reason) for reason in Reason)


def _hold(
    item: IssueId, reason: Reason, message: str = "", *, until: datetime | None = None
) -> Hold:
    return Hold(item=item, reason=reason, message=message or MEANINGS[reason].text, until=until)


def _then(facts: IssueFacts | None, policy: Policy) -> tuple[str, ...]:
    """Conditions that the chosen issue has not reached yet, in their order."""
    state = interpret(facts, policy) if facts is not None else None
    if state is None or isinstance(state, Unseen):
        return ()
    spoke = first_said(RULES, state, policy).rule
    names = [name_of(rule) for rule in RULES]
    return tuple(names[names.index(name_of(spoke)) + 1 :]) if spoke is not None else ()
