"""How every item stands, and what the rules say of one: looks made for people. Writes nothing.

Called by `toban status` and `toban explain`. Judges nothing itself: plan and rules do.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from controller.domain.conditions import ItemStatus, RunningAgent
from controller.domain.explanation import Explanation
from controller.domain.forge import Issue
from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.plan import Plan
from controller.domain.policy import Policy
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.runtime.look import look
from controller.runtime.observe import measure, observe
from controller.runtime.tools import Readers
from controller.workloads.issues.explain import explain
from controller.workloads.issues.facts import IssueFacts, current_pull
from controller.workloads.issues.labels import PHASES, canonical, ours, replay
from controller.workloads.issues.markers import BlockRecord
from controller.workloads.issues.planner import order
from controller.workloads.issues.state import interpret

DONE = "done"
UNKNOWN_ITEM = frozenset({str(Reason.ISSUE_NOT_FOUND), str(Reason.REPOSITORY_NOT_FOUND)})


class Survey(NamedTuple):
    """Every item, the host's limits, and what could not be seen."""

    items: tuple[ItemStatus, ...]
    host: Host
    unseen: tuple[Unseen, ...]


class _Standing(NamedTuple):
    reason: Reason
    message: str
    until: datetime | None = None


def survey(r: Readers, *, busy_since: datetime | None) -> Survey:
    """Look at every item, blocked and resting ones too.

    `busy_since` is when a running tick took the lock, None when none runs: a start of Codex that
    is older and has no end was killed and runs no more.
    """
    seen = observe(r, every=True)
    me = seen.observation.me
    if me is None:
        return Survey((), seen.observation.host, seen.plan.unseen)
    known = {facts.item.key: facts for facts in seen.observation.facts}
    unseen = list(seen.plan.unseen)
    listed = {
        issue.item.key: issue for issue in (*order(seen.desired.issues), *seen.desired.issues)
    }
    rows = []
    for item in (*(issue.item for issue in listed.values()), *seen.desired.leftovers):
        facts = known.get(item.key)
        if facts is None:
            facts = look(item, me, r)
            unseen += list(facts.unseen())[:1]
        rows.append(_row(facts, listed.get(item.key), seen.plan, r.policy, busy_since))
    return Survey(tuple(rows), seen.observation.host, tuple(unseen))


def _row(
    facts: IssueFacts, issue: Issue | None, plan: Plan, policy: Policy, busy_since: datetime | None
) -> ItemStatus:
    state = interpret(facts, policy)
    standing = _standing(facts, plan)
    pull = None if isinstance(facts.pulls, Unseen) else current_pull(facts.pulls)
    label = ours(issue.labels)[0] if issue is not None else None
    found = issue or (None if isinstance(facts.issue, Unseen) else facts.issue)
    return ItemStatus(
        item=facts.item,
        title=found.title if found else "",
        phase=PHASES[label] if label else DONE,
        reason=standing.reason,
        message=standing.message,
        until=standing.until,
        since=_since(facts, label),
        pull=pull.number if pull else None,
        reworks=None if isinstance(state, Unseen) else state.rounds,
        budget=len(policy.rework),
        agent=_agent(facts, busy_since),
    )


def _standing(facts: IssueFacts, plan: Plan) -> _Standing:
    """What the plan says of the item; of a blocked one, why it was blocked."""
    for action in plan.actions:
        if action.item.key == facts.item.key:
            return _Standing(action.reason, action.message)
    for hold in plan.holds:
        if hold.item.key != facts.item.key:
            continue
        told = _blocked_for(facts) if hold.reason is Reason.BLOCKED else None
        if told is not None:
            return _Standing(told, MEANINGS[told].text)
        return _Standing(hold.reason, hold.message, hold.until)
    return _Standing(Reason.DONE, MEANINGS[Reason.DONE].text)


def _blocked_for(facts: IssueFacts) -> Reason | None:
    """The reason of our last block in this epoch, None when it was blocked by hand."""
    if isinstance(facts.records, Unseen) or isinstance(facts.events, Unseen):
        return None
    epoch = replay(facts.events).epoch
    blocks = [
        each.record
        for each in facts.records
        if each.intact and isinstance(each.record, BlockRecord)
    ]
    mine = [block for block in blocks if block.epoch == (epoch.event if epoch else None)]
    return mine[-1].reason if mine else None


def _since(facts: IssueFacts, label: str | None) -> datetime | None:
    """When the item entered its phase: the label's last event, or the end of the pull request."""
    if label is not None and not isinstance(facts.events, Unseen):
        shown = [
            e.at for e in facts.events if e.kind == "labeled" and canonical(e.label or "") == label
        ]
        if shown:
            return max(shown)
    pull = None if isinstance(facts.pulls, Unseen) else current_pull(facts.pulls)
    if label is None and pull is not None and pull.closed_at is not None:
        return pull.closed_at
    return None if isinstance(facts.issue, Unseen) else facts.issue.updated_at


def _agent(facts: IssueFacts, busy_since: datetime | None) -> RunningAgent | None:
    last = facts.runs[-1] if facts.runs else None
    if last is None or last.ended_at is not None or busy_since is None:
        return None
    if last.started_at < busy_since:
        return None
    return RunningAgent(phase=last.task.phase, run=last.seq, since=last.started_at)


def inquire(item: IssueId, r: Readers) -> Explanation | None:
    """Every rule's word on one item, None when the forge knows no such issue."""
    seen = observe(r)
    me = seen.observation.me
    if me is None:
        return Explanation(item=item, title="", unseen=seen.plan.unseen)
    known: Iterator[IssueFacts] = (f for f in seen.observation.facts if f.item.key == item.key)
    facts = next(known, None) or look(item, me, r)
    if isinstance(facts.issue, Unseen) and facts.issue.code in UNKNOWN_ITEM:
        return None
    return explain(facts, measure(r), r.policy, plan=seen.plan)
