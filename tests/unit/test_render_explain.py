"""`toban explain`: every rule's word in order, from the facts of an issue to lines and document."""

from typing import Any

import pytest

from controller.domain.explanation import Explanation
from controller.domain.host import Host
from controller.domain.plan import Plan
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.planning.rules import name_of
from controller.render.explain import explain_document, explain_lines
from controller.render.lines import plain
from controller.workloads.issues.explain import ADMISSION, explain
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.planner import decide
from controller.workloads.issues.rules import RULES
from tests.builders.issue import (
    HOST,
    POLICY,
    facts,
    issue,
    reviewing,
    verdict,
    working,
)
from tests.builders.plans import hold

SITUATIONS: dict[str, IssueFacts] = {
    "new": facts(),
    "forbidden": facts(permission="read"),
    "blocked": facts(issue=issue("agent:blocked")),
    "working": working(),
    "reviewing": reviewing(),
    "asked to rework": reviewing(verdict("h1", approve=False)),
    "approved": reviewing(verdict("h1", approve=True)),
}


def told(seen: IssueFacts, **given: Any) -> Explanation:
    return explain(seen, given.get("host", HOST), POLICY, plan=given.get("plan", Plan()))


@pytest.mark.parametrize("seen", SITUATIONS.values(), ids=SITUATIONS.keys())
def test_every_rule_has_its_word_and_the_same_one_as_the_planner(seen: IssueFacts) -> None:
    explanation = told(seen)
    names = [word.rule for word in explanation.rules if word.rule != ADMISSION]
    assert names == [name_of(rule) for rule in RULES]
    words = [word.word for word in explanation.rules]
    spoke = next(at for at, word in enumerate(words) if word in ("acts", "holds"))
    assert set(words[:spoke]) <= {"satisfied"}
    assert set(words[spoke + 1 :]) <= {"not reached"}
    said = decide(seen, HOST, POLICY)
    assert said is not None
    assert not isinstance(said, Unseen)
    assert explanation.rules[spoke].reason is said.reason
    assert explanation.rules[spoke].message == said.message


def test_the_place_of_the_decision_is_named() -> None:
    approved = told(SITUATIONS["approved"])
    acts = next(word for word in approved.rules if word.word == "acts")
    assert acts.action == "HandOver"
    assert acts.where == "controller.workloads.issues.rules.review.handed_over"
    assert "decided in controller.workloads.issues.rules.review.handed_over" in plain(
        explain_lines(approved)
    )


def test_a_host_without_memory_holds_what_would_start() -> None:
    explanation = told(working(), host=Host(free_memory_percent=1.0, free_disk_gb=50.0))
    word = next(word for word in explanation.rules if word.word == "holds")
    assert (word.rule, word.reason) == (ADMISSION, Reason.MEMORY_LOW)
    assert not [word for word in explanation.rules if word.word == "acts"]


def test_what_is_unseen_is_not_judged() -> None:
    gone = Unseen(source="GET /x", reason="answered 502")
    explanation = told(facts(events=gone))
    assert explanation.rules == ()
    shown = plain(explain_lines(explanation))
    assert "Nothing is judged while something is unseen." in shown
    assert "GET /x: answered 502" in shown
    document = explain_document(explanation)
    assert document["complete"] is False
    assert document["unseen"] == [{"source": "GET /x", "reason": "answered 502"}]


def test_another_item_that_goes_first_is_said() -> None:
    waits = hold(58, Reason.WAITS_FOR_TURN, "octo/app#57 goes first")
    explanation = told(facts(), plan=Plan(holds=(waits,)))
    assert plain(explain_lines(explanation)).endswith(
        "It waits all the same: WaitsForTurn: octo/app#57 goes first\n"
    )
    waiting = explain_document(explanation)["waits"]
    assert waiting == {
        "reason": "WaitsForTurn",
        "message": "octo/app#57 goes first",
        "until": None,
    }


def test_the_lines_of_a_hold() -> None:
    lines = plain(explain_lines(told(SITUATIONS["blocked"]))).splitlines()
    assert lines[0] == 'octo/app#58 "題名"'
    at = next(i for i, line in enumerate(lines) if line.startswith("  HOLDS        not blocked: "))
    assert lines[at + 1 : at + 4] == [
        "               Blocked: `agent:blocked` stands on the issue",
        f"               next: {MEANINGS[Reason.BLOCKED].advice}",
        "               decided in controller.workloads.issues.rules.authority.not_blocked",
    ]
    assert lines[at + 4].startswith("  not reached  ")
    assert lines[-1] == "It waits: Blocked."


def test_the_document_names_every_rule() -> None:
    document = explain_document(told(facts()))
    rules = document["rules"]
    assert isinstance(rules, list)
    acting = [rule for rule in rules if rule["word"] == "acts"]
    assert [(rule["rule"], rule["action"], rule["reason"]) for rule in acting] == [
        ("claimed", "Claim", "ReadyLabel")
    ]
    assert all(rule["sentence"] and rule["where"] for rule in rules)
