"""The six labels, which of them decides when several stand, and the epochs that they open.

Pure; used by rules and observe. Label names compare without ASCII case, as GitHub compares them.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from controller.domain.forge import Event, Person
from controller.domain.values import Value

READY = "agent:ready"
WORKING = "agent:working"
REVIEW = "agent:review"
REWORK = "agent:rework"
BLOCKED = "agent:blocked"
HUMAN = "human:review"

STRENGTH = (BLOCKED, HUMAN, REVIEW, REWORK, WORKING, READY)
"""The first of these that stands decides (decisions 6): the most careful state wins."""
STARTED = (REWORK, REVIEW, WORKING)
"""Started work in the order in which it is finished, before anything new."""
PHASES = {
    READY: "ready",
    WORKING: "working",
    REVIEW: "review",
    REWORK: "rework",
    BLOCKED: "blocked",
    HUMAN: "human-review",
}
"""Phase names of `status --json`."""


class LabelLook(NamedTuple):
    """How a label of ours looks on GitHub."""

    name: str
    color: str
    description: str


LABELS: tuple[LabelLook, ...] = (
    LabelLook(READY, "0e8a16", "toban: work on this (puts a person's authority behind the text)"),
    LabelLook(WORKING, "fbca04", "toban: the worker is on it"),
    LabelLook(REVIEW, "1d76db", "toban: a second agent reviews the pull request"),
    LabelLook(REWORK, "d4a72c", "toban: the worker mends what the review found"),
    LabelLook(BLOCKED, "b60205", "toban: stopped; a comment says why and what to do"),
    LabelLook(HUMAN, "5319e7", "toban: approved; a human decides and merges"),
)


def canonical(name: str) -> str | None:
    """Our spelling of a label name, None for a foreign one."""
    folded = name.lower() if name.isascii() else name
    return folded if folded in PHASES else None


def ours(names: Iterable[str]) -> tuple[str, ...]:
    """Our labels among `names`, strongest first."""
    present = {canonical(name) for name in names}
    return tuple(label for label in STRENGTH if label in present)


class Epoch(Value):
    """One order to work: the label event by which a person put their authority behind the text."""

    event: int
    at: datetime
    actor: Person | None
    """None for a deleted account, which authorises nothing."""


class Replay(NamedTuple):
    """Where the label events lead."""

    standing: frozenset[str]
    """Our labels that stand according to the events."""
    epoch: Epoch | None


def replay(events: Iterable[Event]) -> Replay:
    """Follow the label events from the first to the last.

    A `labeled` event of `agent:ready` opens an epoch as soon as no other label of ours stands
    (decisions 3); the last one opened is the current one.
    """
    standing: set[str] = set()
    last_ready: Event | None = None
    epoch: Epoch | None = None
    for event in sorted(events, key=lambda each: (each.at, each.id)):
        label = canonical(event.label or "")
        if label is None:
            continue
        if event.kind == "labeled":
            standing.add(label)
            last_ready = event if label == READY else last_ready
        elif event.kind == "unlabeled":
            standing.discard(label)
        else:
            continue
        opened = epoch.event if epoch else None
        if standing == {READY} and last_ready is not None and last_ready.id != opened:
            epoch = Epoch(event=last_ready.id, at=last_ready.at, actor=last_ready.actor)
    return Replay(standing=frozenset(standing), epoch=epoch)
