"""How items stand: the closed mapping of reasons, the table, the document, the page."""

from datetime import timedelta
from html.parser import HTMLParser

import pytest

from controller.domain.conditions import (
    PROGRESSING,
    READY,
    STALLED,
    UNKNOWN,
    ItemStatus,
    RunningAgent,
    Standing,
    conditions,
    standing,
)
from controller.domain.host import Host
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.render.lines import plain
from controller.render.page import status_page
from controller.render.status import Frame, age, status_document, status_lines
from tests.builders.issue import HOST, ITEM, POLICY
from tests.builders.plans import NOON

FRAME = Frame(host=HOST, policy=POLICY, unseen=(), now=NOON, tick="")


def item(**changes: object) -> ItemStatus:
    plain_one = ItemStatus(
        item=ITEM,
        title="題名",
        phase="rework",
        reason=Reason.REWORK_ASKED,
        message="the reviewer asked for rework",
        until=None,
        since=NOON - timedelta(hours=2, minutes=5),
        pull=7,
        reworks=1,
        budget=2,
        agent=RunningAgent(phase="rework", run=3, since=NOON - timedelta(minutes=4)),
    )
    return plain_one.model_copy(update=changes)


def test_every_reason_means_exactly_one_condition() -> None:
    groups = (READY, PROGRESSING, STALLED, UNKNOWN)
    assert sum(len(group) for group in groups) == len(Reason)
    assert frozenset().union(*groups) == frozenset(Reason)


@pytest.mark.parametrize("reason", list(Reason))
def test_at_most_one_condition_is_true(reason: Reason) -> None:
    found = {each.type: each.status for each in conditions(reason, "m", NOON)}
    assert set(found) == {"Ready", "Progressing", "Stalled"}
    if standing(reason) is Standing.UNKNOWN:
        assert set(found.values()) == {"Unknown"}
    else:
        assert [kind for kind, status in found.items() if status == "True"] == [standing(reason)]


@pytest.mark.parametrize("reason", sorted(STALLED))
def test_whatever_is_stalled_tells_a_person_what_to_do(reason: Reason) -> None:
    assert MEANINGS[reason].advice != "nothing to do"


def test_the_table() -> None:
    blocked = item(
        item=ITEM.model_copy(update={"number": 9}),
        phase="blocked",
        reason=Reason.NOT_PERMITTED,
        message="stranger has permission read",
        pull=None,
        reworks=None,
        agent=None,
        since=None,
        title="二",
    )
    assert plain(status_lines((item(), blocked), FRAME._replace(tick="pid 1"))) == (
        "ITEM         PHASE    CONDITION    REASON        AGE   PR  REWORKS  AGENT      TITLE\n"
        "octo/app#58  rework   Progressing  ReworkAsked   2h5m  #7  1/2      rework 4m  題名\n"
        "    the reviewer asked for rework\n"
        "octo/app#9   blocked  Stalled      NotPermitted  -     -   -        -          二\n"
        "    stranger has permission read\n"
        "\n"
        "free disk: 50.0 GB (at least 6 GB); free memory: 50.0 % (at least 12 %)\n"
        "last 24 hours: 0 runs (no limit), 0 tokens (no limit)\n"
        "running tick: pid 1\n"
    )


def test_the_limits_of_a_machine_that_cannot_be_measured() -> None:
    gone = Unseen(source="memory", reason="no /proc")
    host = Host(free_memory_percent=gone, free_disk_gb=1.0, agents_pause_until=NOON)
    shown = plain(status_lines((), FRAME._replace(host=host)))
    assert shown.startswith("No item carries a label of toban's.\n")
    assert "free memory: unknown (no /proc)" in shown
    assert "usage limit: no start of Codex before 2026-11-30 12:00:00 UTC" in shown


def test_nothing_seen_is_not_nothing_there() -> None:
    unseen = (Unseen(source="GET /user", reason="refused", code="TokenRefused"),)
    shown = plain(status_lines((), FRAME._replace(unseen=unseen)))
    assert "No item" not in shown
    assert shown.startswith("Not seen")
    assert "No item" not in status_page((), FRAME._replace(unseen=unseen))


def test_the_document_has_the_shape_of_the_contract() -> None:
    document = status_document((item(),))
    assert document == {
        "schema": 1,
        "items": [
            {
                "item": "octo/app#58",
                "phase": "rework",
                "reason": "ReworkAsked",
                "message": "the reviewer asked for rework",
                "pr": 7,
                "reworks": 1,
                "agent": {"phase": "rework", "run": 3, "since": "2026-11-30T11:56:00+00:00"},
                "conditions": [
                    {
                        "type": kind,
                        "status": status,
                        "reason": "ReworkAsked",
                        "message": "the reviewer asked for rework",
                        "since": "2026-11-30T09:55:00+00:00",
                    }
                    for kind, status in (
                        ("Ready", "False"),
                        ("Progressing", "True"),
                        ("Stalled", "False"),
                    )
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=-5), "0s"),
        (timedelta(seconds=59), "59s"),
        (timedelta(minutes=7, seconds=5), "7m"),
        (timedelta(hours=2, minutes=5), "2h5m"),
        (timedelta(days=3, hours=4, minutes=59), "3d4h"),
    ],
)
def test_age(span: timedelta, words: str) -> None:
    assert age(span) == words


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    attack = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00"
    page = Page(status_page((item(title=attack, message=attack),), FRAME._replace(tick=attack)))
    assert not {tag for tag, _ in page.tags} & {"script", "img", "link", "iframe", "object", "a"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert sum("alert(1)" in text for text in page.texts) >= 3
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_page_has_the_cells_of_the_table() -> None:
    page = Page(status_page((item(),), FRAME))
    for cell in (
        "octo/app#58",
        "rework",
        "Progressing",
        "ReworkAsked",
        "2h5m",
        "#7",
        "1/2",
        "題名",
    ):
        assert cell in page.texts
