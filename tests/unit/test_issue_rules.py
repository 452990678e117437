"""A decision is a row: what is there, and what happens. No fakes, no set-up."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from controller.domain.actions import StartAgent
from controller.domain.forge import Comparison, Event, Person
from controller.domain.host import Host
from controller.domain.plan import Hold
from controller.domain.policy import RepositoryPolicy
from controller.domain.reasons import Reason
from controller.domain.repository import Refusal
from controller.domain.runs import Delivery, Run
from controller.domain.values import Unseen
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.markers import ExplainRecord
from controller.workloads.issues.planner import decide
from controller.workloads.issues.state import IssueState, asks_for_clean, interpret
from tests.builders.issue import (
    EPOCH,
    HOST,
    ITEM,
    ME,
    OCTO,
    POLICY,
    READY,
    at,
    change,
    claim,
    event,
    facts,
    issue,
    local,
    pull,
    push,
    reviewing,
    run,
    sha,
    stored,
    task,
    verdict,
    working,
)

BOT = Person(id=9, login="helper[bot]", is_bot=True)
FIXABLE = Refusal(kind="fixable", reason="WhitespaceError", message="a.py:3: trailing blank")
AMBIGUOUS = Refusal(kind="ambiguous", reason="WorktreeTampered", message="HEAD is detached")
HELD = Refusal(kind="hold", reason="CheckFailsOnBase", message="make test fails")
DOWN = Unseen(source="GET /x", reason="502")
NO, YES = verdict("h1", approve=False), verdict("h1", approve=True)
REWORK = task("rework", on=sha("h1"), round_=1)
REVIEW = task("review", on=f"{sha('base')}..{sha('h1')}")
APPROVE = '{"version":1,"verdict":"approve","summary":"","findings":[]}'
EXTENDED: dict[str, Any] = {
    "remote_tip": sha("x"),
    "own_below": sha("h1"),
    "to_own": Comparison(merge_base=sha("h1"), ahead=1, behind=0),
    "pulls": (pull("x"),),
    "local": local("h1", fetched="x"),
}
REWORKING: dict[str, Any] = {"issue": issue("agent:rework"), "worktree_clean": True}


def explained(reason: Reason) -> ExplainRecord:
    return ExplainRecord(issue=ITEM.key, epoch=EPOCH, reason=reason)


def refused_start(*events: Event, **changes: Any) -> IssueFacts:
    return facts(events=events or READY, **changes)


def failures(count: int) -> tuple[Run, ...]:
    return tuple(run(seq, task(), "incomplete") for seq in range(1, count + 1))


def sent_back(count: int) -> tuple[Run, ...]:
    delivery = Delivery(refusal=FIXABLE)
    return tuple(run(seq, task(), delivery=delivery) for seq in range(1, count + 1))


ROWS: dict[str, tuple[IssueFacts, str]] = {
    # authority
    "a ready issue is claimed": (facts(), "Claim"),
    "a label in other case is the same label": (facts(issue=issue("Agent:READY")), "Claim"),
    "a full-width colon is another label": (facts(issue=issue("agent：ready")), "LabelRemoved"),
    "a forge that does not answer is no refusal": (facts(permission=DOWN), "ForgeUnseen"),
    "a triage user starts nothing": (facts(permission="triage"), "Block NotPermitted"),
    "a stranger starts nothing": (facts(permission="none"), "Block NotPermitted"),
    "a deleted account starts nothing": (
        refused_start(event(EPOCH, "labeled", "agent:ready", by=None)),
        "Block NotPermitted",
    ),
    "a bot with write access starts nothing": (
        refused_start(event(EPOCH, "labeled", "agent:ready", by=BOT)),
        "Block NotPermitted",
    ),
    "an edit of the body after the label": (facts(edited_at=at(11)), "Block TextChanged"),
    "an edit in the label's own second": (facts(edited_at=at(10)), "Block TextChanged"),
    "an edit before the label is what was meant": (facts(edited_at=at(9)), "Claim"),
    "a rename after the label": (
        refused_start(*READY, event(EPOCH + 1, "renamed")),
        "Block TextChanged",
    ),
    "an event that is not visible yet": (refused_start(event(1, "assigned")), "ForgeBehind"),
    "an archived repository": (
        facts(repository=facts().repository.model_copy(update={"archived": True})),
        "RepositoryArchived",
    ),
    "a repository that moved": (
        facts(repository=Unseen(source="GET", reason="now octo/new", code="RepositoryMoved")),
        "RepositoryMoved",
    ),
    # labels
    "a blocked issue rests": (working(issue=issue("agent:working", "agent:blocked")), "Blocked"),
    "working without a claim": (facts(issue=issue("agent:working")), "Block NoClaim"),
    "rework without a claim": (facts(issue=issue("agent:rework")), "Block NoClaim"),
    "human:review by hand": (facts(issue=issue("human:review")), "LabelByHand"),
    "the label of an earlier epoch proves nothing": (
        facts(issue=issue("agent:working"), records=stored(claim(epoch=50))),
        "Block NoClaim",
    ),
    "an edited claim is no claim": (
        facts(issue=issue("agent:working"), records=stored(claim(), intact=False)),
        "Block NoClaim",
    ),
    "a claimed issue shows working": (
        facts(records=stored(claim())),
        "ShowPhase agent:working",
    ),
    "both labels after a crash": (
        working(issue=issue("agent:ready", "agent:working")),
        "ShowPhase agent:working",
    ),
    "text changed during the work": (
        working(issue=issue("agent:working", body="other")),
        "Block TextChanged",
    ),
    # source and worktree
    "nothing is fetched yet": (working(local=facts().local), "FetchSource"),
    "a base that moved is fetched before a new worktree": (
        working(local=local(), base_tip=sha("b2")),
        "FetchSource",
    ),
    "a base that moved does not disturb a worktree": (
        working(base_tip=sha("b2")),
        "StartAgent implement 1 luna",
    ),
    "a missing base branch": (working(base_tip=None), "BaseBranchMissing"),
    "no worktree yet": (working(local=local()), "CreateWorktree base"),
    "a tampered worktree": (
        working(local=local("base", state="tampered", detail="detached HEAD")),
        "Block WorktreeTampered",
    ),
    "a dirty worktree elsewhere": (
        working(local=local("other"), head_on_base=False, worktree_clean=False),
        "Block WorktreeDirty",
    ),
    "an older commit of the base is as good": (
        working(local=local("other"), head_on_base=True, base_tip=sha("b2"), worktree_clean=True),
        "StartAgent implement 1 luna",
    ),
    "a clean worktree behind the pushed head goes": (
        reviewing(
            NO,
            issue=issue("agent:rework"),
            local=local("h0", fetched="h1"),
            head_on_forge=True,
            worktree_clean=True,
        ),
        "RemoveWorktree",
    ),
    "a clean worktree with an unpushed commit stays": (
        working(local=local("other"), head_on_base=False, worktree_clean=True),
        "Block BranchUnpushed",
    ),
    # the worker
    "the worker is started": (working(), "StartAgent implement 1 luna"),
    "a failed run is tried again": (working(runs=failures(1)), "StartAgent implement 2 luna"),
    "the third failure is the last": (working(runs=failures(3)), "Block WorkerFailed"),
    "a run cut off by a reboot is no attempt": (
        working(runs=(*failures(2), run(3, task(), None))),
        "StartAgent implement 4 luna",
    ),
    "a usage limit is no attempt": (
        working(runs=(*failures(2), run(3, task(), "usage-limit"))),
        "StartAgent implement 4 luna",
    ),
    "a complete answer is imported": (working(runs=(run(1, task()),)), "ImportChange 1"),
    "a refused delivery goes back": (working(runs=sent_back(1)), "StartAgent implement 2 luna"),
    "the third refusal is the last": (working(runs=sent_back(3)), "Block DeliveryBudgetSpent"),
    "an ambiguous refusal blocks at once": (
        working(runs=(run(1, task(), delivery=Delivery(refusal=AMBIGUOUS)),)),
        "Block WorktreeTampered",
    ),
    "a check that fails on the base waits": (
        working(runs=(run(1, task(), delivery=Delivery(refusal=HELD, base=sha("base"))),)),
        "CheckFailsOnBase",
    ),
    "until the base moves": (
        working(
            base_tip=sha("b2"),
            runs=(run(1, task(), delivery=Delivery(refusal=HELD, base=sha("base"))),),
        ),
        "ImportChange 1",
    ),
    "a validated commit is pushed": (
        working(runs=(run(1, task(), delivery=change("h1")),)),
        "PublishCommit h1",
    ),
    "a crash between advance and push": (
        working(
            local=local("h1"),
            head_on_base=False,
            records=stored(claim(), push("h1", "base")),
            runs=(run(1, task(), delivery=change("h1")),),
        ),
        "PublishCommit h1",
    ),
    "a commit made on another parent": (
        working(
            records=stored(push("h0", "base", epoch=50), claim(head="h0")),
            remote_tip=sha("h0"),
            to_base=Comparison(merge_base=sha("base"), ahead=1, behind=0),
            local=local("h1", fetched="h0"),
            head_on_base=False,
            runs=(run(1, task(), delivery=change("h1")),),
        ),
        "Block BranchDiverged",
    ),
    # the branch
    "a branch of somebody else's": (
        facts(remote_tip=sha("x"), to_base=Comparison(merge_base=sha("base"), ahead=2, behind=0)),
        "Block BranchNotOurs",
    ),
    "an empty branch at the base is adopted": (
        facts(
            remote_tip=sha("base"), to_base=Comparison(merge_base=sha("base"), ahead=0, behind=0)
        ),
        "Claim",
    ),
    "a push by others during the work": (
        working(
            records=stored(claim(), push("h1", "base")),
            **{k: v for k, v in EXTENDED.items() if k != "pulls"},
            to_base=Comparison(merge_base=sha("base"), ahead=2, behind=0),
        ),
        "Block ForeignCommits",
    ),
    "a branch that lost our commit": (
        reviewing(
            remote_tip=sha("x"),
            own_below=sha("h1"),
            to_own=Comparison(merge_base=sha("base"), ahead=1, behind=1),
        ),
        "Block BranchDiverged",
    ),
    # the pull request
    "a pushed head is proposed": (
        reviewing(pulls=(), pull=None, issue=issue("agent:working")),
        "OpenPullRequest h1",
    ),
    "a pull request of somebody else's": (
        reviewing(pulls=(pull("h1", by=OCTO),)),
        "Block ForeignPullRequest",
    ),
    "a pull request that lags behind": (reviewing(pulls=(pull("h0"),)), "ForgeBehind"),
    "a human closed the pull request": (
        reviewing(pulls=(pull("h1", is_open=False),), pull=None),
        "Block PullRequestClosed",
    ),
    "a pull request closed in an earlier epoch": (
        facts(pulls=(pull("h1", is_open=False).model_copy(update={"closed_at": at(1)}),)),
        "Claim",
    ),
    "merged in an earlier epoch": (
        facts(
            pulls=(pull("h1", is_open=False, merged=True).model_copy(update={"closed_at": at(1)}),)
        ),
        "Block AlreadyMerged",
    ),
    # the review
    "the label shows the review": (
        reviewing(issue=issue("agent:working")),
        "ShowPhase agent:review",
    ),
    "a head without verdict is reviewed": (reviewing(), "StartAgent review 1 luna"),
    "a verdict of an earlier epoch is none": (
        reviewing(verdict("h1", approve=True, epoch=50)),
        "StartAgent review 1 luna",
    ),
    "a verdict on another base is none": (
        reviewing(verdict("h1", approve=True, base="b0")),
        "StartAgent review 1 luna",
    ),
    "a verdict for another base branch is none": (
        reviewing(verdict("h1", approve=True, branch="dev")),
        "StartAgent review 1 luna",
    ),
    "an answer is stored": (reviewing(runs=(run(2, REVIEW, answer=APPROVE),)), "RecordVerdict 2"),
    "an unreadable answer is asked again": (
        reviewing(runs=(run(2, REVIEW, answer="LGTM"),)),
        "StartAgent review 2 luna",
    ),
    "two unreadable answers are enough": (
        reviewing(runs=(run(2, REVIEW, answer="LGTM"), run(3, REVIEW, answer="{}"))),
        "Block ReviewFailed",
    ),
    "a reviewer that fails three times": (
        reviewing(runs=tuple(run(n, REVIEW, "timeout") for n in (1, 2, 3))),
        "Block ReviewFailed",
    ),
    "an approval is handed over": (reviewing(YES), "HandOver h1"),
    "then a human merges": (reviewing(YES, issue=issue("human:review")), "WaitsForHuman"),
    "an edit after the hand-over disturbs nobody": (
        reviewing(YES, issue=issue("human:review", body="other")),
        "WaitsForHuman",
    ),
    "a human closed the approved pull request": (
        reviewing(issue=issue("human:review"), pulls=(pull("h1", is_open=False),), pull=None),
        "PullRequestClosed",
    ),
    "a new head makes the approval void": (
        reviewing(YES, issue=issue("human:review"), **EXTENDED),
        "ShowPhase agent:review",
    ),
    "a push by others is reviewed": (reviewing(**EXTENDED), "StartAgent review 1 luna"),
    # rework
    "a verdict of rework shows rework": (reviewing(NO), "ShowPhase agent:rework"),
    "the first rework keeps the model": (reviewing(NO, **REWORKING), "StartAgent rework 1 luna"),
    "an unexplained change before a rework": (
        reviewing(NO, issue=issue("agent:rework"), worktree_clean=False),
        "Block WorktreeDirty",
    ),
    "a rebuilt machine makes the worktree anew": (
        reviewing(NO, **REWORKING | {"local": local(fetched="h1")}),
        "CreateWorktree h1",
    ),
    "a rework over somebody else's commit": (
        reviewing(verdict("x", approve=False), issue=issue("agent:rework"), **EXTENDED),
        "Block ForeignCommits",
    ),
    "the rework is imported": (
        reviewing(NO, **REWORKING | {"runs": (run(3, REWORK),)}),
        "ImportChange 3",
    ),
    # ends
    "merged is done": (
        reviewing(pulls=(pull("h1", is_open=False, merged=True),), pull=None, local=local()),
        "Done",
    ),
    "a clean pushed worktree is removed": (
        reviewing(pulls=(pull("h1", is_open=False, merged=True),), pull=None, worktree_clean=True),
        "RemoveWorktree",
    ),
    "a dirty worktree is kept": (
        reviewing(pulls=(pull("h1", is_open=False, merged=True),), pull=None, worktree_clean=False),
        "WorktreeKept",
    ),
    "closed while the pull request is open": (
        reviewing(issue=issue("agent:review", is_open=False)),
        "Explain IssueClosed",
    ),
    "what was explained is not said again": (
        reviewing(
            issue=issue("agent:review", is_open=False),
            records=stored(claim(), push("h1", "base"), explained(Reason.ISSUE_CLOSED)),
            worktree_clean=False,
        ),
        "WorktreeKept",
    ),
    "the removed label is explained once": (
        working(issue=issue("bug"), records=stored(claim(), explained(Reason.LABEL_REMOVED))),
        "LabelRemoved",
    ),
    "the label removed during the work": (working(issue=issue("bug")), "Explain LabelRemoved"),
    "the label removed after the approval": (
        reviewing(YES, issue=issue("bug")),
        "LabelRemoved",
    ),
}


def test_prepare_runs_before_the_first_start_only() -> None:
    prepared = RepositoryPolicy(prepare=("make deps",))
    policy = POLICY.model_copy(update={"repositories": {ITEM.repository.key: prepared}})
    first = decide(working(), HOST, policy)
    assert getattr(first, "kind", None) == "PrepareWorktree"
    for later in (working(prepared=True), working(runs=failures(1))):
        assert isinstance(decide(later, HOST, policy), StartAgent)


ASKS: dict[str, tuple[IssueFacts, bool]] = {
    "no worktree": (facts(), False),
    "closed": (reviewing(issue=issue(is_open=False)), True),
    "merged": (reviewing(pulls=(pull("h1", is_open=False, merged=True),), pull=None), True),
    "nothing due": (reviewing(), False),
    "no epoch": (working(events=()), False),
    "on the base": (working(), False),
    "elsewhere": (working(local=local("other"), head_on_base=False), True),
    "on the made commit": (
        working(local=local("h1"), runs=(run(1, task(), delivery=change("h1")),)),
        False,
    ),
    "before a rework": (reviewing(NO), True),
    "during a rework": (reviewing(NO, runs=(run(3, REWORK, "incomplete"),)), False),
}


@pytest.mark.parametrize(("known", "expected"), ASKS.values(), ids=ASKS.keys())
def test_when_the_worktree_is_walked(known: IssueFacts, *, expected: bool) -> None:
    state = interpret(known, POLICY)
    assert isinstance(state, IssueState)
    assert asks_for_clean(state) is expected


def _nothing(_act: object) -> str:
    return ""


def said(state: IssueFacts) -> str:
    found = decide(state, HOST, POLICY)
    match found:
        case Hold() | Unseen():
            return str(found.reason if isinstance(found, Hold) else found.code)
        case StartAgent():
            return f"StartAgent {found.task.phase} {found.attempt} {found.model.model}"
        case None:
            return "nothing"
    names = {sha(name): name for name in ("base", "h1", "h2", "x", "b2")}
    extra: dict[str, Callable[[Any], object]] = {
        "Block": lambda act: act.reason,
        "Explain": lambda act: act.reason,
        "ShowPhase": lambda act: act.label,
        "CreateWorktree": lambda act: names[act.at],
        "ImportChange": lambda act: act.run,
        "RecordVerdict": lambda act: act.run,
        "PublishCommit": lambda act: names[act.change.sha],
        "OpenPullRequest": lambda act: names[act.head],
        "HandOver": lambda act: names[act.head],
    }
    return f"{found.kind} {extra.get(found.kind, _nothing)(found)}".strip()


@pytest.mark.parametrize(("state", "expected"), ROWS.values(), ids=ROWS.keys())
def test_decide(state: IssueFacts, expected: str) -> None:
    assert said(state) == expected


def test_a_trusted_bot_starts_work_without_a_role() -> None:
    policy = POLICY.model_copy(update={"trusted_bots": ("Helper[bot]",)})
    state = refused_start(event(EPOCH, "labeled", "agent:ready", by=BOT), permission="none")
    found = decide(state, HOST, policy)
    assert getattr(found, "kind", None) == "Claim"


def test_the_second_rework_takes_the_stronger_model_and_a_third_is_for_a_human() -> None:
    first = push("h2", "h1", of=REWORK)
    state: dict[str, Any] = {
        "records": stored(claim(), push("h1", "base"), first),
        "head": "h2",
        "worktree_clean": True,
        "issue": issue("agent:rework"),
        "runs": (run(3, REWORK, delivery=change("h2", "h1")),),
    }
    second = reviewing(NO, verdict("h2", approve=False), **state)
    assert said(second) == "StartAgent rework 1 terra"
    more = (*second.runs, run(5, task("rework", on=sha("h0"), round_=2)))
    third = second.model_copy(update={"runs": more})
    assert said(third) == "Block BudgetSpent"


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        (HOST.model_copy(update={"free_memory_percent": 3.0}), "MemoryLow"),
        (HOST.model_copy(update={"free_disk_gb": 1.0}), "DiskLow"),
        (HOST.model_copy(update={"free_disk_gb": DOWN}), "HostUnseen"),
        (HOST.model_copy(update={"agents_pause_until": at(61)}), "UsageLimit"),
    ],
    ids=["memory", "disk", "unknown", "usage limit"],
)
def test_the_host_holds_what_it_cannot_carry(host: Host, reason: str) -> None:
    for state in (facts(), working()):
        found = decide(state, host, POLICY)
        assert isinstance(found, Hold)
        assert found.reason == reason


@pytest.mark.parametrize("limit", ["max_runs_per_day", "max_tokens_per_day"])
def test_a_daily_limit_says_when_it_ends(limit: str) -> None:
    host = HOST.model_copy(
        update={"runs_last_day": 5, "tokens_last_day": 5, "day_ends_at": at(0) + timedelta(days=1)}
    )
    found = decide(working(), host, POLICY.model_copy(update={limit: 5}))
    assert isinstance(found, Hold)
    assert found.until == at(0) + timedelta(days=1)


def test_me_may_label_my_own_issue() -> None:
    state = refused_start(event(EPOCH, "labeled", "agent:ready", by=ME))
    assert said(state) == "Claim"
