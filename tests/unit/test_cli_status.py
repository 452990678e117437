"""Looks made for people, through the real adapters: every item's row, and who is running."""

import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from controller import bootstrap
from controller.adapters.records import FileRecords
from controller.cli.run_once import Stop, obeying
from controller.config import load_config
from controller.demo.standin import Standin
from controller.domain.conditions import ItemStatus, Standing
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.runs import Task
from controller.runtime.status import inquire, survey
from controller.runtime.tools import Readers
from tests.cli import REPO, Desk, furnished


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "forge") as standin:
        furnished(standin)
        yield standin


@pytest.fixture
def desk(tmp_path: Path, forge: Standin) -> Desk:
    return Desk(tmp_path, url=forge.url)


@pytest.fixture
def readers(desk: Desk) -> Iterator[Readers]:
    config = load_config(desk.config, {"HOME": str(desk.home)})
    ports = bootstrap.issues(config, writes=False)
    yield ports.readers
    ports.close()


def rows(readers: Readers, *, busy_since: datetime | None = None) -> dict[int, ItemStatus]:
    found = survey(readers, busy_since=busy_since)
    assert found.unseen == ()
    return {each.item.number: each for each in found.items}


def test_every_labelled_issue_has_a_row_in_the_order_of_choice(
    readers: Readers, forge: Standin
) -> None:
    world = forge.world
    for label in ("agent:blocked", "human:review", "agent:working"):
        world.add_label(REPO, world.create_issue(REPO, label, "").number, label, by="octo")
    world.create_issue(REPO, "nobody asked", "")
    found = rows(readers)
    assert list(found) == [4, 3, 1, 2], "started before new, blocked last"
    assert [each.phase for each in found.values()] == [
        "working",
        "human-review",
        "ready",
        "blocked",
    ]
    assert found[4].reason is Reason.NO_CLAIM
    assert found[3].reason is Reason.WAITS_FOR_TURN
    assert found[2].standing is Standing.STALLED
    assert all(each.pull is None and each.budget == 2 for each in found.values())


def test_since_when_is_told_by_the_label(readers: Readers, forge: Standin) -> None:
    forge.world.advance(600)
    forge.world.comment(REPO, 1, "something else", by="octo")
    since = rows(readers)[1].since
    assert since is not None
    assert forge.world.now() - since >= timedelta(seconds=600)


def test_a_run_without_an_end_is_running_only_under_the_lock(readers: Readers, desk: Desk) -> None:
    item = IssueId.parse(f"{REPO}#1")
    records = FileRecords(desk.root)
    now = readers.clock.now()
    task = Task(phase="implement", epoch=1, on="x")
    records.begin(item, task, at=now)
    assert rows(readers)[1].agent is None, "no tick is running"
    assert rows(readers, busy_since=now + timedelta(hours=1))[1].agent is None, "killed before"
    running = rows(readers, busy_since=now - timedelta(minutes=1))[1].agent
    assert running is not None
    assert (running.phase, running.run, running.since) == ("implement", 1, now)
    run = records.runs(item)[0]
    records.finish(item, run.model_copy(update={"ended_at": now, "end": "complete"}))
    assert rows(readers, busy_since=now - timedelta(minutes=1))[1].agent is None


def test_explaining_asks_whose_turn_it_is(readers: Readers, forge: Standin) -> None:
    second = forge.world.create_issue(REPO, "二", "").number
    forge.world.add_label(REPO, second, "agent:ready", by="octo")
    explanation = inquire(IssueId.parse(f"{REPO}#{second}"), readers)
    assert explanation is not None
    assert explanation.title == "二"
    assert explanation.in_plan is not None
    assert explanation.in_plan.message == f"{REPO}#1 goes first"


def test_what_nobody_labelled_is_explained_too(readers: Readers, forge: Standin) -> None:
    number = forge.world.create_issue(REPO, "三", "").number
    explanation = inquire(IssueId.parse(f"{REPO}#{number}"), readers)
    assert explanation is not None
    assert [w.reason for w in explanation.rules if w.word == "holds"] == [Reason.LABEL_REMOVED]


def test_an_unknown_issue_is_none(readers: Readers) -> None:
    assert inquire(IssueId.parse(f"{REPO}#99"), readers) is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_first_signal_asks_and_the_second_insists(number: signal.Signals) -> None:
    stop, ended = Stop(), []
    before = signal.getsignal(number)
    with obeying(stop, lambda: ended.append("agent")):
        assert not stop.asked()
        signal.raise_signal(number)
        assert stop.by == number
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert ended == ["agent"]
    assert signal.getsignal(number) is before
