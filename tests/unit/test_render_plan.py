"""What a plan and a tick look like, for people and for programs."""

import json
import unicodedata

import pytest

from controller.domain import actions as a
from controller.domain.outcome import Outcome, Result
from controller.domain.plan import Plan
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.render.lines import plain
from controller.render.plan_json import plan_document, tick_document
from controller.render.plan_text import particulars, plan_lines, symbol, what
from controller.render.progress import agent_line, end_lines, outcome_line
from tests.builders.issue import ITEM
from tests.builders.plans import EVERY_ACTION, NOON, hold

HOSTILE = "\x1b]0;own\x07\x1b[2J\u202eevil\u200b\r\n\x9b31m::error::x"
CLAIM, START = EVERY_ACTION[0], EVERY_ACTION[7]
GONE = Unseen(
    source="GET /repos/octo/gone/issues", reason="answered 404", code="RepositoryNotFound"
)

PLAN = """\
toban would do this now:

  > StartAgent  octo/app#58 "題名"
      what  Run Codex to its end for one task.
            implement, attempt 2, luna (medium), at most 60 min, on 000000000000
      why   WorkDue: no answer yet
      risk  starts Codex in its sandbox

  then: imported, published

Waiting:
  WaitsForTurn: another item goes first
    octo/app#59: octo/app#58 goes first
    octo/app#60 "三"

  UsageLimit: the model's usage limit is reached
    next: wait for its reset
    octo/app#61 (until 2026-11-30 12:00:00 UTC)

Not seen (an error is not an absence):
  GET /repos/octo/gone/issues: answered 404
    next: check its name and the token's access

Plan: 1 action, 3 waiting, 1 unseen.
"""


def invisible(text: str) -> list[str]:
    return [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}]


def test_a_plan_reads_from_what_to_why_to_what_waits() -> None:
    plan = Plan(
        actions=(START,),
        holds=(
            hold(59, Reason.WAITS_FOR_TURN, "octo/app#58 goes first"),
            hold(61, Reason.USAGE_LIMIT, until=NOON),
            hold(60, Reason.WAITS_FOR_TURN),
        ),
        unseen=(GONE,),
        then=("imported", "published"),
    )
    assert plain(plan_lines(plan, {ITEM.key: "題名", "octo/app#60": "三"})) == PLAN


def test_nothing_to_do_is_a_result_and_an_error_is_none() -> None:
    assert plain(plan_lines(Plan(), {})) == (
        "Nothing to do.\n\nPlan: 0 actions, 0 waiting, 0 unseen.\n"
    )
    blind = plain(plan_lines(Plan(unseen=(GONE,)), {}))
    assert blind.startswith("Nothing to do among what could be seen.\n")


def test_the_samples_are_all_kinds() -> None:
    assert [type(action) for action in EVERY_ACTION] == list(a.ACTIONS)


@pytest.mark.parametrize("action", EVERY_ACTION, ids=lambda action: action.kind)
def test_every_action_says_what_it_is(action: a.Action) -> None:
    assert symbol(action).text in {"+", "~", ">", "-"}
    assert what(action).endswith(".")
    assert "None" not in particulars(action)
    shown = plain(plan_lines(Plan(actions=(action,)), {}))
    assert action.kind in shown
    assert f"{action.reason}: {action.message}" in shown


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_shown_with_what_to_do(reason: Reason) -> None:
    shown = plain(plan_lines(Plan(holds=(hold(1, reason),)), {}))
    assert f"{reason}: {MEANINGS[reason].text}" in shown
    advice = MEANINGS[reason].advice
    assert advice in shown or advice == "nothing to do"


def test_foreign_text_cannot_act_anywhere() -> None:
    plan = Plan(
        actions=(CLAIM.model_copy(update={"message": HOSTILE}),),
        holds=(hold(59, Reason.BLOCKED, HOSTILE),),
        unseen=(Unseen(source=HOSTILE, reason=HOSTILE),),
    )
    for text in (
        plain(plan_lines(plan, {ITEM.key: HOSTILE})),
        plain([outcome_line(Outcome(action=plan.actions[0], result="Failed", message=HOSTILE))]),
        plain([agent_line(HOSTILE)]),
        plain(end_lines((), rest=plan.holds[0], plan=plan, titles={"octo/app#59": HOSTILE})),
        json.dumps(plan_document(plan), ensure_ascii=False),
    ):
        assert invisible(text) == []
        assert not any(line.startswith("::error") for line in text.splitlines())


def test_many_items_of_one_reason_are_counted() -> None:
    shown = plain(plan_lines(Plan(holds=tuple(hold(n, Reason.BLOCKED) for n in range(1, 31))), {}))
    assert "    and 10 more (--json names all)\n" in shown
    assert "Plan: 0 actions, 30 waiting, 0 unseen." in shown


def test_a_long_way_ahead_is_folded() -> None:
    plan = Plan(actions=(START,), then=tuple(f"condition number {n}" for n in range(12)))
    lines = plain(plan_lines(plan, {})).splitlines()
    ahead = [line for line in lines if "condition number" in line]
    assert len(ahead) > 1
    assert all(len(line) <= 121 for line in ahead)
    assert " ".join(" ".join(ahead).split()).count("condition number") == 12


def test_the_document_of_a_plan() -> None:
    plan = Plan(actions=(START,), holds=(hold(61, Reason.USAGE_LIMIT, until=NOON),), unseen=(GONE,))
    assert plan_document(plan) == {
        "schema": 1,
        "complete": False,
        "actions": [
            {
                "kind": "StartAgent",
                "item": "octo/app#58",
                "key": START.key,
                "reason": "WorkDue",
                "message": "no answer yet",
                "risk": "agent",
            }
        ],
        "holds": [
            {
                "item": "octo/app#61",
                "reason": "UsageLimit",
                "message": MEANINGS[Reason.USAGE_LIMIT].text,
                "until": "2026-11-30T12:00:00+00:00",
            }
        ],
        "unseen": [{"source": "GET /repos/octo/gone/issues", "reason": "answered 404"}],
    }


def test_the_document_of_a_tick() -> None:
    done = Outcome(action=CLAIM, result="Applied")
    rest = hold(58, Reason.WAITS_FOR_HUMAN)
    document = tick_document((done,), rest=rest, plan=Plan())
    assert set(document) == {"schema", "complete", "outcomes", "rest", "holds", "unseen"}
    assert document["outcomes"] == [
        {
            "item": "octo/app#58",
            "kind": "Claim",
            "key": CLAIM.key,
            "result": "Applied",
            "reason": "ReadyLabel",
            "message": "",
        }
    ]
    assert document["rest"] == {
        "item": "octo/app#58",
        "reason": "WaitsForHuman",
        "message": "approved; a human decides",
        "until": None,
    }


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("Applied", "done"),
        ("AlreadyTrue", "was so already"),
        ("Skipped", "no longer needed"),
        ("Deferred", "not now"),
        ("Failed", "failed"),
        ("Refused", "refused"),
    ],
)
def test_an_outcome_in_words(result: Result, words: str) -> None:
    outcome = Outcome(action=START, result=result, reason=Reason.USAGE_LIMIT, message="later")
    said = plain([outcome_line(outcome)])
    assert said.startswith(f"> octo/app#58 StartAgent (implement, attempt 2): {words}")
    assert "; UsageLimit: later\n" in said


def test_a_tick_ends_with_where_it_rests() -> None:
    rest = hold(58, Reason.WAITS_FOR_HUMAN)
    plan = Plan(actions=(CLAIM,), holds=(hold(59, Reason.WAITS_FOR_TURN),))
    outcomes = (Outcome(action=CLAIM, result="Applied"),)
    assert plain(end_lines(outcomes, rest=rest, plan=plan, titles={ITEM.key: "題名"})) == (
        'octo/app#58 "題名" rests: WaitsForHuman: approved; a human decides\n'
        "  next: merge the pull request, or put `agent:ready` on alone\n"
        "\n"
        "Waiting:\n"
        "  WaitsForTurn: another item goes first\n"
        "    octo/app#59\n"
        "\n"
        "Tick: 1 action done, 0 not done, 1 waiting, 0 unseen.\n"
    )


def test_a_stopped_tick_says_so() -> None:
    shown = plain(end_lines((), rest=None, plan=Plan(), titles={}, stopped=True))
    assert shown.startswith("Stopped as asked; the work is kept.\n")
