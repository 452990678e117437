"""The words of the command line: references, workloads, exit codes, and what a start costs."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from controller.cli import exits
from controller.cli.app import Only
from controller.cli.plan import code_of
from controller.cli.run_once import Stop
from controller.cli.run_once import code_of as code_of_tick
from controller.cli.session import Row, asked_for, parse_ref, parse_repository
from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.outcome import Outcome
from controller.domain.plan import Plan
from controller.domain.reasons import Reason
from controller.domain.values import Unseen
from controller.runtime.observe import Seen
from controller.runtime.saved import Saved, dump, load
from controller.runtime.tick import Tick
from controller.workloads.issues.planner import Desired, Observation
from tests.builders.issue import (
    HOST,
    ITEM,
    ME,
    POLICY,
    change,
    facts,
    issue,
    reviewing,
    run,
    task,
    verdict,
    working,
)
from tests.builders.plans import EVERY_ACTION, hold

GONE = Unseen(source="GET /x", reason="answered 502")


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("octo/app#58", IssueId.parse("octo/app#58")),
        ("Octo/a.b_c-d#1", IssueId.parse("Octo/a.b_c-d#1")),
        ("row:14a", Row("14a")),
        ("row:１４", Row("１４")),
    ],
)
def test_a_reference(text: str, ref: IssueId | Row) -> None:
    assert parse_ref(text, hint="REF") == ref


@pytest.mark.parametrize(
    "text",
    [
        "",
        "octo",
        "octo/app",
        "octo/app#",
        "octo/app#0",
        "octo/app#-1",
        "octo/app#５８",
        "octo/app#58 ",
        "../x#1",
        "octo/app/x#1",
        "row:",
        "row: 14",
        "row:1\n4",
        "ROW:14a",
    ],
)
def test_no_reference(text: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        parse_ref(text, hint="--item")
    assert "expected" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_repository() -> None:
    with pytest.raises(typer.BadParameter):
        parse_repository("octo", hint="REPO")


def test_an_item_implies_its_workload() -> None:
    assert asked_for(None, None) == (None, None)
    assert asked_for(Only.ORDERS, None) == (Only.ORDERS, None)
    assert asked_for(None, "octo/app#1")[0] is Only.ISSUES
    assert asked_for(Only.ORDERS, "row:1")[0] is Only.ORDERS
    for only, item in ((Only.ORDERS, "octo/app#1"), (Only.ISSUES, "row:1")):
        with pytest.raises(typer.BadParameter):
            asked_for(only, item)


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        (Plan(), exits.OK),
        (Plan(holds=(hold(1, Reason.BLOCKED),)), exits.OK),
        (Plan(actions=EVERY_ACTION[:1]), exits.ACTIONS),
        (Plan(unseen=(GONE,)), exits.FAILED),
        (Plan(actions=EVERY_ACTION[:1], unseen=(GONE,)), exits.FAILED),
    ],
    ids=["nothing", "held", "actions", "unseen", "actions and unseen"],
)
def test_the_exit_code_of_a_plan(plan: Plan, code: int) -> None:
    assert code_of(plan) == code


def _tick(*outcomes: Outcome, plan: Plan | None = None) -> Tick:
    observation = Observation(me=ME, host=HOST)
    return Tick(outcomes, None, Seen(Desired(issues=()), observation, plan or Plan()))


FAILED = Outcome(action=EVERY_ACTION[0], result="Failed", reason=Reason.ACTION_FAILED)
REFUSED = Outcome(action=EVERY_ACTION[0], result="Refused", reason=Reason.WORKTREE_TAMPERED)
LATER = Outcome(action=EVERY_ACTION[7], result="Deferred", reason=Reason.USAGE_LIMIT)


@pytest.mark.parametrize(
    ("tick", "signal", "code"),
    [
        (_tick(), None, 0),
        (_tick(REFUSED), None, 0),
        (_tick(LATER), None, 0),
        (_tick(FAILED), None, 1),
        (_tick(plan=Plan(unseen=(GONE,))), None, 1),
        (_tick(FAILED), 15, 0),
        (_tick(FAILED), 2, 130),
        (_tick(), 1, 129),
    ],
    ids=["nothing", "blocked", "usage limit", "failed", "unseen", "SIGTERM", "SIGINT", "SIGHUP"],
)
def test_the_exit_code_of_a_tick(tick: Tick, signal: int | None, code: int) -> None:
    stop = Stop()
    stop.by = signal
    assert code_of_tick(tick, stop) == code


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_a_quick_start_loads_nothing_heavy(word: str) -> None:
    program = (
        "import sys\n"
        "from controller.cli.run import run\n"
        f"code = run([{word!r}])\n"
        "heavy = {'pydantic', 'rich', 'github', 'git', 'psutil', 'requests', 'structlog'}\n"
        "print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stderr == "0 []\n"
    assert "toban" in done.stdout


class TestSaved:
    """`plan --save`: what was seen and planned, readable back as the same values."""

    def saved(self) -> Saved:
        worked = working(runs=(run(1, task(), delivery=change("h1")), run(2, task(), None)))
        return Saved(
            desired=Desired(issues=(issue(title="\ud800 \u202e 題"),), leftovers=(ITEM,)),
            observation=Observation(
                me=ME,
                host=Host(free_memory_percent=GONE, free_disk_gb=1.5),
                facts=(
                    facts(),
                    facts(issue=GONE, events=GONE, to_own=GONE, worktree_clean=GONE),
                    worked,
                    reviewing(verdict("h1", approve=False)),
                ),
                resting=(hold(1, Reason.WAITS_FOR_HUMAN),),
                passed=(hold(2, Reason.ACTION_FAILED),),
                unseen=(GONE,),
            ),
            policy=POLICY,
            plan=Plan(
                actions=EVERY_ACTION,
                holds=(hold(3, Reason.BLOCKED),),
                unseen=(GONE,),
                then=("imported",),
            ),
        )

    def test_it_comes_back_equal(self) -> None:
        saved = self.saved()
        again = load(dump(saved))
        assert again == saved
        assert [type(action) for action in again.plan.actions] == [type(a) for a in EVERY_ACTION]

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "{}", '{"schema": 2, "toban": "x"}', '{"schema": 1, "toban": "x", "plan": 3}'],
    )
    def test_anything_else_is_refused_with_a_sentence(self, text: str) -> None:
        from controller.errors import TobanError

        with pytest.raises(TobanError, match="saved plan"):
            load(text)
