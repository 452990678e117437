"""A plan, and what a tick did, as JSON documents (interface.md section 2).

Called by `controller.cli`. Shapes only: every text is made safe, nothing is left out or decided.
"""

from collections.abc import Iterable
from datetime import datetime

from controller.domain.actions import Action
from controller.domain.outcome import Outcome
from controller.domain.plan import Hold, Plan
from controller.domain.text import safe_text
from controller.domain.values import Unseen

type Document = dict[str, object]

SCHEMA = 1
LONGEST = 20_000
"""Characters of one text in a document; the output of a failed check has several lines."""


def plan_document(plan: Plan) -> Document:
    """`plan --json`."""
    return {
        "schema": SCHEMA,
        "complete": plan.complete,
        "actions": [_action(action) for action in plan.actions],
        "holds": holds_document(plan.holds),
        "unseen": unseen_document(plan.unseen),
    }


def tick_document(outcomes: Iterable[Outcome], *, rest: Hold | None, plan: Plan) -> Document:
    """`run-once --json`: what was done, where it rests, and the last plan's holds."""
    return {
        "schema": SCHEMA,
        "complete": plan.complete,
        "outcomes": [_outcome(outcome) for outcome in outcomes],
        "rest": None if rest is None else _hold(rest),
        "holds": holds_document(plan.holds),
        "unseen": unseen_document(plan.unseen),
    }


def holds_document(holds: Iterable[Hold]) -> list[Document]:
    """Why each item waits."""
    return [_hold(hold) for hold in holds]


def unseen_document(unseen: Iterable[Unseen]) -> list[Document]:
    """What could not be seen."""
    return [{"source": safe(each.source), "reason": safe(each.reason)} for each in unseen]


def stamp(when: datetime | None) -> str | None:
    """A point in time in ISO 8601, with its offset."""
    return None if when is None else when.isoformat()


def safe(text: str) -> str:
    """Text from outside in which nothing acts; its lines stay lines."""
    return safe_text(text, limit=LONGEST, lines=True)


def _action(action: Action) -> Document:
    return {
        "kind": action.kind,
        "item": str(action.item),
        "key": action.key,
        "reason": str(action.reason),
        "message": safe(action.message),
        "risk": action.risk,
    }


def _hold(hold: Hold) -> Document:
    return {
        "item": str(hold.item),
        "reason": str(hold.reason),
        "message": safe(hold.message),
        "until": stamp(hold.until),
    }


def _outcome(outcome: Outcome) -> Document:
    return {
        "item": str(outcome.action.item),
        "kind": outcome.action.kind,
        "key": outcome.action.key,
        "result": outcome.result,
        "reason": str(outcome.reason or outcome.action.reason),
        "message": safe(outcome.message),
    }
