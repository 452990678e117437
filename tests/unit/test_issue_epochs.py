"""Which label event opens an epoch: the order to work that a person stands behind."""

import pytest

from controller.workloads.issues.labels import (
    BLOCKED,
    HUMAN,
    LABELS,
    READY,
    STRENGTH,
    WORKING,
    canonical,
    ours,
    replay,
)
from tests.builders.issue import event

ON, OFF = "labeled", "unlabeled"
ROWS: dict[str, tuple[list[tuple[int, str, str]], int | None]] = {
    "nothing ever": ([], None),
    "a first label": ([(1, ON, READY)], 1),
    "foreign labels say nothing": ([(1, ON, "bug"), (2, ON, READY), (3, OFF, "bug")], 2),
    "our own claim opens nothing": ([(1, ON, READY), (2, ON, WORKING), (3, OFF, READY)], 1),
    "taken off and put on again": ([(1, ON, READY), (2, OFF, READY), (3, ON, READY)], 3),
    "while working it waits": (
        [(1, ON, READY), (2, ON, WORKING), (3, OFF, READY), (4, ON, READY)],
        1,
    ),
    "until working goes": (
        [(1, ON, READY), (2, ON, WORKING), (3, OFF, READY), (4, ON, READY), (5, OFF, WORKING)],
        4,
    ),
    "ready beside human:review waits for its going": (
        [(1, ON, READY), (2, OFF, READY), (3, ON, HUMAN), (4, ON, READY), (5, OFF, HUMAN)],
        4,
    ),
    "a crash between two labels opens nothing": (
        [(1, ON, READY), (2, ON, WORKING), (3, OFF, WORKING)],
        1,
    ),
    "blocked taken off, ready put on": (
        [(1, ON, READY), (2, ON, BLOCKED), (3, OFF, READY), (4, OFF, BLOCKED), (5, ON, READY)],
        5,
    ),
    "another kind of event that names a label": ([(1, ON, READY), (2, "seen", READY)], 1),
    "other case": ([(1, ON, "Agent:Ready")], 1),
    "pages out of order": ([(3, ON, READY), (1, ON, READY), (2, OFF, READY)], 3),
}


@pytest.mark.parametrize(("events", "epoch"), ROWS.values(), ids=ROWS.keys())
def test_the_epoch(events: list[tuple[int, str, str]], epoch: int | None) -> None:
    found = replay([event(number, kind, label) for number, kind, label in events]).epoch
    assert (found.event if found else None) == epoch


def test_standing_labels_follow_the_events() -> None:
    events = [event(1, ON, READY), event(2, ON, WORKING), event(3, OFF, READY)]
    assert replay(events).standing == {WORKING}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("agent:ready", READY),
        ("AGENT:Ready", READY),
        ("agent：ready", None),
        ("ａgent:ready", None),
        ("agent:ready ", None),
        ("İ", None),
        ("", None),
    ],
    ids=[
        "same",
        "case",
        "full-width colon",
        "full-width a",
        "trailing blank",
        "long case",
        "empty",
    ],
)
def test_whose_label(name: str, known: str | None) -> None:
    assert canonical(name) == known


def test_the_most_careful_label_decides() -> None:
    assert ours(reversed(["bug", *STRENGTH])) == STRENGTH


def test_every_label_has_a_look() -> None:
    assert {look.name for look in LABELS} == set(STRENGTH)
    assert all(len(look.description) <= 100 for look in LABELS), "GitHub's limit"
