"""One tick of issues: choose ONE issue and drive it until it rests; finished ones are cleaned up.

Called by `toban run-once` under the workload's lock. After every act everything is looked at again;
nothing is remembered but what this tick must not try twice.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from controller.domain.actions import Action, Block
from controller.domain.ids import IssueId
from controller.domain.outcome import Outcome
from controller.domain.plan import Hold, Said
from controller.domain.reasons import Reason
from controller.domain.values import Unseen
from controller.ports.records import RestNote
from controller.runtime.apply import apply
from controller.runtime.context import Context, failed
from controller.runtime.look import look
from controller.runtime.observe import Seen, measure, observe
from controller.runtime.tools import Readers, Writers
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.labels import replay
from controller.workloads.issues.planner import decide, hold_of

MAX_ACTIONS = 100
"""Acts on one issue in one tick: far beyond any honest flow, so that a loop ends as a failure."""
LAG_LOOKS, LAG_SECONDS = 5, 2.0
"""How often, and how long apart, the forge is read again when it lags behind our own write."""


FOR_ALL = frozenset(
    {
        Reason.AGENT_NOT_STARTED,
        Reason.MODEL_UNREACHABLE,
        Reason.USAGE_LIMIT,
        Reason.STOPPED,
        Reason.RATE_LIMITED,
        Reason.TOKEN_REFUSED,
    }
)
"""Reasons that are not the item's own: no other item is begun after one of these."""
NO_FAULT = frozenset({Reason.USAGE_LIMIT, Reason.STOPPED})
"""Deferrals that are as they should be."""


def _never() -> bool:
    return False


class Told(NamedTuple):
    """How a tick speaks, one call per outcome and one per line of a running agent, and hears."""

    outcome: Callable[[Outcome], None]
    line: Callable[[str], None]
    stopping: Callable[[], bool] = _never
    """Whether toban was told to stop: no further act is begun then."""


class Tick(NamedTuple):
    """What a tick did and where it came to rest."""

    outcomes: tuple[Outcome, ...]
    rest: Hold | None
    """Where the chosen issue rests, None when nothing was chosen."""
    seen: Seen
    """The last look."""

    @property
    def well(self) -> bool:
        """Whether everything wanted was seen and nothing failed."""
        bad = [o for o in self.outcomes if o.result in ("Failed", "Deferred")]
        return self.seen.plan.complete and all(o.reason in NO_FAULT for o in bad)


def run_issues(r: Readers, w: Writers, told: Told, *, only: IssueId | None = None) -> Tick:
    """Drive one issue until it rests. Items whose action fails are passed over for this tick."""
    outcomes: list[Outcome] = []
    passed: list[Hold] = []
    while True:
        seen = observe(r, only=only, passed=tuple(passed))
        for item, versions, hold in seen.rests:
            w.records.note_rest(item, RestNote(versions=versions, hold=hold))
        todo = _chosen(seen)
        if todo is None or told.stopping():
            return Tick(tuple(outcomes), None, seen)
        driven = list(_drive(todo, r, w, told))
        seen = _with_unseen(seen, [each for each in driven if isinstance(each, Unseen)])
        outcomes += [each for each in driven if isinstance(each, Outcome)]
        rest = next((each for each in driven if isinstance(each, Hold)), None)
        worked = any(o.result == "Applied" for o in driven if isinstance(o, Outcome))
        last = _last(driven)
        ends = told.stopping() or (last is not None and last.reason in FOR_ALL)
        if ends or (worked and not todo.leftover):
            return Tick(tuple(outcomes), rest, seen)
        passed.append(rest or _passed_over(todo.action.item, last))


def _with_unseen(seen: Seen, unseen: list[Unseen]) -> Seen:
    """The look, with what a later look of the same tick could not see."""
    if not unseen:
        return seen
    plan = seen.plan.model_copy(update={"unseen": (*seen.plan.unseen, *unseen)})
    return seen._replace(plan=plan)


class _Todo(NamedTuple):
    action: Action
    facts: IssueFacts
    leftover: bool


def _chosen(seen: Seen) -> _Todo | None:
    """The first action of the plan, with the facts it was planned from."""
    facts = {each.item.key: each for each in seen.observation.facts}
    leftovers = {item.key for item in seen.desired.leftovers}
    for action in seen.plan.actions:
        found = facts.get(action.item.key)
        if found is not None:
            return _Todo(action, found, action.item.key in leftovers)
    return None


def _last(driven: list[Outcome | Hold | Unseen]) -> Outcome | None:
    return next((each for each in reversed(driven) if isinstance(each, Outcome)), None)


def _passed_over(item: IssueId, last: Outcome | None) -> Hold:
    """Why an item whose act did not work waits for the next tick."""
    if last is None:
        return Hold(item=item, reason=Reason.DONE, message="nothing more to do in this tick")
    reason = last.reason or Reason.ACTION_FAILED
    return Hold(item=item, reason=reason, message=last.message, until=last.until)


def _drive(todo: _Todo, r: Readers, w: Writers, told: Told) -> Iterator[Outcome | Hold | Unseen]:
    """Act, look again, and so on, until the issue rests or an act does not work."""
    action, facts = todo.action, todo.facts
    for _ in range(MAX_ACTIONS):
        outcome = apply(action, Context(facts=facts, r=r, w=w, tell=told.line))
        told.outcome(outcome)
        yield outcome
        if told.stopping():
            return
        if outcome.result == "Refused" and not isinstance(action, Block):
            action = _block_after(outcome, facts)
            continue
        if outcome.result in ("Failed", "Deferred", "Refused"):
            return
        facts, said = _look_again(action, facts, r)
        if isinstance(said, Hold):
            # An error is not an absence, and not a success either: the tick is not complete.
            yield from itertools.islice(facts.unseen(), 1)
            yield said
            return
        action = said
    yield failed(action, Reason.ACTION_FAILED, f"no rest after {MAX_ACTIONS} acts")


def _block_after(outcome: Outcome, facts: IssueFacts) -> Block:
    """What the world refused is for a human."""
    epoch = None if isinstance(facts.events, Unseen) else replay(facts.events).epoch
    return Block(
        item=facts.item,
        reason=outcome.reason or Reason.ACTION_FAILED,
        message=outcome.message,
        epoch=epoch.event if epoch else None,
    )


def _look_again(done: Action, before: IssueFacts, r: Readers) -> tuple[IssueFacts, Action | Hold]:
    """The next word on the item; while the forge lags behind our own write it is read again."""
    item = done.item
    facts, said = _one_look(item, before, r)
    for _ in range(LAG_LOOKS):
        if not _lags(said, done):
            return facts, said
        r.clock.pause(LAG_SECONDS)
        facts, said = _one_look(item, before, r)
    if isinstance(said, Hold) or not _lags(said, done):
        return facts, said
    message = "GitHub or the disk does not show what was just done"
    return facts, Hold(item=item, reason=Reason.FORGE_BEHIND, message=message)


def _one_look(item: IssueId, before: IssueFacts, r: Readers) -> tuple[IssueFacts, Action | Hold]:
    facts = look(item, before.me, r)
    return facts, _word(item, decide(facts, measure(r), r.policy))


def _word(item: IssueId, said: Said | Unseen) -> Action | Hold:
    if said is None:
        return Hold(item=item, reason=Reason.DONE, message="every condition is satisfied")
    return hold_of(item, said) if isinstance(said, Unseen) else said


def _lags(said: Action | Hold, done: Action) -> bool:
    """Whether what was just done cannot be seen yet."""
    if isinstance(said, Hold):
        return said.reason is Reason.FORGE_BEHIND
    return said.key == done.key
