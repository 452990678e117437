"""Which issue goes next, and why every other one waits."""

from datetime import timedelta

import pytest

from controller.domain.actions import (
    ACTIONS,
    Block,
    Claim,
    CreateWorktree,
    Explain,
    FetchSource,
    HandOver,
    ImportChange,
    OpenPullRequest,
    PrepareWorktree,
    PublishCommit,
    RecordVerdict,
    RemoveWorktree,
    ShowPhase,
    StartAgent,
)
from controller.domain.forge import Issue
from controller.domain.ids import IssueId
from controller.domain.plan import Hold
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.repository import Change
from controller.domain.values import Unseen
from controller.planning.rules import first_said, name_of, sentence_of
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.planner import Desired, Observation, order, plan
from controller.workloads.issues.rules import RULES, review
from controller.workloads.issues.state import IssueState, interpret
from tests.builders.issue import (
    BASE,
    HOST,
    ITEM,
    LUNA,
    ME,
    POLICY,
    T0,
    facts,
    issue,
    reviewing,
    sha,
    stored,
    task,
    verdict,
    working,
)

DOWN = Unseen(source="GET /x", reason="502", code="NoSuchCode")


def listed(number: int, *labels: str, age: int = 0) -> Issue:
    """An issue `age` days older than the others."""
    found = issue(*labels)
    return found.model_copy(
        update={
            "item": IssueId(repository=ITEM.repository, number=number),
            "created_at": T0 - timedelta(days=age),
        }
    )


def seen(number: int, base: IssueFacts) -> IssueFacts:
    return base.model_copy(update={"item": IssueId(repository=ITEM.repository, number=number)})


def observed(*known: IssueFacts, **more: object) -> Observation:
    return Observation(me=ME, host=HOST, facts=known).model_copy(update=more)


def test_started_before_new_then_the_oldest() -> None:
    issues = (
        listed(1, "agent:ready", age=9),
        listed(2, "agent:working"),
        listed(3, "agent:blocked"),
        listed(4, "agent:review"),
        listed(5, "agent:rework"),
        listed(6, "agent:ready", age=10),
        listed(7, "human:review"),
        listed(8, "bug"),
        listed(9, "agent:working", age=1),
    )
    assert [each.item.number for each in order(issues)] == [5, 4, 9, 2, 7, 6, 1]


def test_one_acts_and_the_rest_wait_their_turn() -> None:
    desired = Desired(issues=(listed(1), listed(2), listed(3, "agent:blocked")))
    found = plan(desired, observed(seen(1, facts())), POLICY)
    assert [(a.item.number, a.kind) for a in found.actions] == [(1, "Claim")]
    assert {h.item.number: h.reason for h in found.holds} == {
        2: Reason.WAITS_FOR_TURN,
        3: Reason.BLOCKED,
    }
    assert found.complete
    assert found.then[0] == "rework allowed"


def test_a_held_item_starves_nobody() -> None:
    held = seen(1, facts(permission=DOWN))
    desired = Desired(issues=(listed(1, age=5), listed(2)))
    found = plan(desired, observed(held, seen(2, facts())), POLICY)
    assert [a.item.number for a in found.actions] == [2]
    assert not found.complete
    assert found.holds[0].reason == Reason.FORGE_UNSEEN
    assert "502" in found.holds[0].message


def test_what_failed_in_this_tick_is_passed_over_and_rest_needs_no_look() -> None:
    hold = Hold(item=seen(1, facts()).item, reason=Reason.ACTION_FAILED, message="disk full")
    rest = Hold(item=seen(3, facts()).item, reason=Reason.WAITS_FOR_HUMAN, message="approved")
    desired = Desired(issues=(listed(1), listed(2), listed(3, "human:review")))
    observation = observed(seen(2, facts()), passed=(hold,), resting=(rest,))
    found = plan(desired, observation, POLICY)
    assert [a.item.number for a in found.actions] == [2]
    assert hold in found.holds
    assert rest in found.holds


def test_what_nobody_looked_at_waits() -> None:
    found = plan(Desired(issues=(listed(1),)), observed(), POLICY)
    assert [h.reason for h in found.holds] == [Reason.WAITS_FOR_TURN]
    assert found.then == ()


def test_leftovers_are_cleaned_beside_the_chosen_issue() -> None:
    over = facts(issue=issue("agent:review", is_open=False))
    lost = seen(8, facts(issue=DOWN))
    desired = Desired(issues=(listed(1),), leftovers=(seen(7, over).item, lost.item))
    found = plan(desired, observed(seen(7, over), lost, seen(1, facts())), POLICY)
    assert [a.item.number for a in found.actions] == [1]
    assert {h.item.number for h in found.holds} == {7, 8}
    assert found.complete, "what nobody asks for any more leaves nothing wanted unseen"


MADE = Change(sha=sha("h1"), parent=BASE, files=1, added_lines=1, removed_lines=0)
EXAMPLES = (
    Claim(item=ITEM, reason=Reason.READY_LABEL, message="", epoch=1, digest="d", head=None),
    Block(item=ITEM, reason=Reason.NO_CLAIM, message="", epoch=None),
    Explain(item=ITEM, reason=Reason.ISSUE_CLOSED, message="", epoch=1, on=2),
    FetchSource(item=ITEM, reason=Reason.SOURCE_MISSING, message="", base_branch="main"),
    CreateWorktree(item=ITEM, reason=Reason.WORKTREE_MISSING, message="", at=BASE),
    PrepareWorktree(item=ITEM, reason=Reason.PREPARE_DUE, message=""),
    RemoveWorktree(item=ITEM, reason=Reason.FINISHED, message=""),
    StartAgent(
        item=ITEM,
        reason=Reason.WORK_DUE,
        message="",
        task=task(),
        attempt=1,
        model=LUNA,
        base=BASE,
        head=BASE,
    ),
    ImportChange(
        item=ITEM, reason=Reason.CHANGE_MADE, message="", run=1, task=task(), parent=BASE, base=BASE
    ),
    PublishCommit(
        item=ITEM,
        reason=Reason.CHANGE_VALIDATED,
        message="",
        epoch=1,
        task=task(),
        run=1,
        change=MADE,
        expected=None,
        tokens=0,
    ),
    OpenPullRequest(
        item=ITEM,
        reason=Reason.HEAD_PUSHED,
        message="",
        base_branch="main",
        base=BASE,
        head=sha("h1"),
        change=None,
    ),
    ShowPhase(item=ITEM, reason=Reason.LABEL_BEHIND, message="", label="agent:review"),
    RecordVerdict(
        item=ITEM,
        reason=Reason.VERDICT_GIVEN,
        message="",
        pull=7,
        epoch=1,
        base=BASE,
        base_branch="main",
        head=sha("h1"),
        run=2,
    ),
    HandOver(
        item=ITEM,
        reason=Reason.APPROVED,
        message="",
        pull=7,
        epoch=1,
        base=BASE,
        head=sha("h1"),
    ),
)


def test_every_kind_has_a_key_of_identity_fields_only() -> None:
    assert tuple(type(example) for example in EXAMPLES) == ACTIONS
    for example in EXAMPLES:
        assert example.key.startswith(f"{example.kind}:{ITEM.key}")
        other = example.model_copy(update={"message": "said otherwise"})
        assert other.key == example.key


def test_every_reason_has_a_meaning_and_advice() -> None:
    assert set(MEANINGS) == set(Reason)
    assert all(meaning.text and meaning.advice for meaning in MEANINGS.values())


def test_every_rule_says_what_it_establishes() -> None:
    assert all(sentence_of(rule).endswith(".") for rule in RULES)
    assert len({name_of(rule) for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("source", ["issue", "events", "records", "pulls", "local", "remote_tip"])
def test_the_first_unseen_source_is_told(source: str) -> None:
    found = interpret(facts(**{source: DOWN}), POLICY)
    assert found == DOWN


def test_satisfied_rules_say_nothing() -> None:
    state = interpret(working(), POLICY)
    assert isinstance(state, IssueState)
    assert first_said((), state, POLICY).said is None


def test_without_a_review_nothing_is_handed_over() -> None:
    state = interpret(working(), POLICY)
    assert isinstance(state, IssueState)
    assert review.handed_over(state, POLICY) is None


def test_a_verdict_of_an_edited_comment_cannot_act() -> None:
    known = reviewing()
    assert known.pull is not None
    edited = known.pull.model_copy(
        update={"records": stored(verdict("h1", approve=False), intact=False)}
    )
    state = interpret(known.model_copy(update={"pull": edited}), POLICY)
    assert isinstance(state, IssueState)
    assert state.review is not None
    assert state.review.verdict is None
