"""Facts of one issue with defaults: a labelled, permitted, unclaimed issue on an idle machine.

Every table test starts here and says only what differs. Shas are readable: `sha("h1")`.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from controller.domain.forge import (
    Commit,
    Comparison,
    Event,
    Issue,
    Person,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.policy import PhaseModel, Policy
from controller.domain.repository import Change, LocalRepository, Worktree
from controller.domain.runs import Delivery, Phase, Run, RunEnd, Task, Tokens
from controller.workloads.issues.facts import IssueFacts, PullFacts
from controller.workloads.issues.markers import (
    ClaimRecord,
    PushRecord,
    Record,
    Stored,
    VerdictRecord,
    text_digest,
)
from controller.workloads.issues.verdict import Finding, Verdict

ITEM = IssueId.parse("octo/app#58")
ME = Person(id=1, login="toban-bot")
OCTO = Person(id=2, login="octo")
T0 = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
EPOCH = 100
"""Id of the event that put agent:ready on."""
DIGEST = text_digest("題名", "body")
LUNA = PhaseModel(model="luna", effort="medium", timeout_s=60, silence_s=30)
TERRA = PhaseModel(model="terra", effort="medium", timeout_s=60, silence_s=30)
POLICY = Policy(implement=LUNA, review=LUNA, rework=(LUNA, TERRA))
HOST = Host(free_memory_percent=50.0, free_disk_gb=50.0)


def at(minutes: float) -> datetime:
    """A moment after the issue was written."""
    return T0 + timedelta(minutes=minutes)


def sha(name: str) -> str:
    """A full sha that shows its name: `h1` -> `...h1` in hexadecimal letters."""
    return name.encode().hex().rjust(40, "0")


BASE = sha("base")


def event(number: int, kind: str, label: str | None = None, *, by: Person | None = OCTO) -> Event:
    """An event `number` minutes after EPOCH's own minute."""
    return Event(id=number, kind=kind, actor=by, at=at(number - EPOCH + 10), label=label)


READY = (event(EPOCH, "labeled", "agent:ready"),)


def issue(*labels: str, title: str = "題名", body: str = "body", is_open: bool = True) -> Issue:
    """The issue with these labels."""
    return Issue(
        item=ITEM,
        title=title,
        body=body,
        labels=labels or ("agent:ready",),
        is_open=is_open,
        author=OCTO,
        created_at=T0,
        updated_at=at(30),
    )


def stored(*records: Record, intact: bool = True) -> tuple[Stored, ...]:
    """Records as comments of ours."""
    return tuple(
        Stored(comment=index, intact=intact, record=record)
        for index, record in enumerate(records, start=1)
    )


def claim(*, head: str | None = None, epoch: int = EPOCH, digest: str = DIGEST) -> ClaimRecord:
    """Our claim of an epoch."""
    return ClaimRecord(issue=ITEM.key, epoch=epoch, digest=digest, head=sha(head) if head else None)


def task(
    phase: Phase = "implement", *, on: str = DIGEST, round_: int = 0, epoch: int = EPOCH
) -> Task:
    """A task of the current epoch."""
    return Task(phase=phase, epoch=epoch, on=on, round=round_)


def push(name: str, parent: str, *, of: Task | None = None, epoch: int = EPOCH) -> PushRecord:
    """Our announcement of a commit."""
    return PushRecord(
        issue=ITEM.key,
        epoch=epoch,
        task=of or task(epoch=epoch),
        run=1,
        sha=sha(name),
        parent=BASE if parent == "base" else sha(parent),
        files=1,
        tokens=10,
    )


def verdict(
    head: str, *, approve: bool, epoch: int = EPOCH, base: str = "base", branch: str = "main"
) -> VerdictRecord:
    """Our reviewer's word on a head."""
    findings = () if approve else (Finding(severity="major", path="a.py", line=3, message="違う"),)
    return VerdictRecord(
        issue=ITEM.key,
        epoch=epoch,
        pull=7,
        base=sha(base),
        base_branch=branch,
        head=sha(head),
        run=2,
        verdict=Verdict(
            version=1,
            verdict="approve" if approve else "rework",
            summary="要約",
            findings=findings,
        ),
    )


def pull(head: str, *, by: Person = ME, is_open: bool = True, merged: bool = False) -> PullRequest:
    """The pull request #7 of the item's branch."""
    return PullRequest(
        number=7,
        is_open=is_open,
        merged=merged,
        author=by,
        head=sha(head),
        base_branch="main",
        created_at=at(20),
        closed_at=None if is_open else at(40),
        updated_at=at(30),
        url="http://forge.test/octo/app/pull/7",
        head_branch=ITEM.branch,
    )


def run(
    seq: int,
    of: Task,
    end: RunEnd | None = "complete",
    *,
    answer: str = "done",
    delivery: Delivery | None = None,
) -> Run:
    """One recorded start of Codex."""
    return Run(
        seq=seq,
        task=of,
        started_at=at(12),
        ended_at=at(13) if end else None,
        end=end,
        message=f"it ended: {end}",
        answer=answer,
        thread=f"thread-{seq}",
        tokens=Tokens(input=7, output=3),
        delivery=delivery,
    )


def change(name: str, parent: str = "base") -> Delivery:
    """A delivery that became a commit."""
    return Delivery(
        change=Change(
            sha=sha(name),
            parent=BASE if parent == "base" else sha(parent),
            files=1,
            added_lines=2,
            removed_lines=0,
        )
    )


def local(head: str | None = None, *, fetched: str | None = None, **tree: Any) -> LocalRepository:
    """The disk: a fetched base, and a worktree of ours on `head` when one is named."""
    worktree = Worktree(state="ours" if head else "absent", head=sha(head) if head else None)
    return LocalRepository(
        exists=True,
        base=BASE,
        fetched_head=sha(fetched) if fetched else None,
        worktree=worktree.model_copy(update=dict(tree)),
    )


def facts(**changes: Any) -> IssueFacts:
    """A ready issue that nobody has touched yet; `changes` replace facts."""
    plain = IssueFacts(
        item=ITEM,
        taken_at=at(60),
        me=ME,
        issue=issue(),
        repository=RepositoryInfo(
            repository=ITEM.repository, default_branch="main", archived=False
        ),
        events=READY,
        edited_at=None,
        permission="admin",
        records=(),
        base_branch="main",
        base_tip=BASE,
        remote_tip=None,
        pulls=(),
        local=LocalRepository(exists=False, worktree=Worktree(state="absent")),
    )
    return plain.model_copy(update=changes)


def working(**changes: Any) -> IssueFacts:
    """A claimed issue at `agent:working`, fetched, with a worktree on the base."""
    return facts(
        **{
            "issue": issue("agent:working"),
            "records": stored(claim()),
            "local": local("base"),
            "head_on_base": True,
        }
        | changes
    )


def reviewing(*verdicts: VerdictRecord, head: str = "h1", **changes: Any) -> IssueFacts:
    """An issue at `agent:review` with our pull request #7 on `head`."""
    compared = Comparison(merge_base=BASE, ahead=1, behind=0)
    return facts(
        **{
            "issue": issue("agent:review"),
            "records": stored(claim(), push(head, "base")),
            "remote_tip": sha(head),
            "to_base": compared,
            "pulls": (pull(head),),
            "pull": PullFacts(
                records=stored(*verdicts),
                commits=(Commit(sha=sha(head), parents=(BASE,), message="work"),),
                to_base=compared,
            ),
            "local": local(head, fetched=head),
        }
        | changes
    )
