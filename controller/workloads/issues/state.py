"""One issue, judged: the facts turned into the few words in which the rules speak.

Pure. `interpret` is called by the planner with facts that were all seen; the rules get its result.
"""

from datetime import datetime
from typing import NamedTuple

from controller.domain.forge import Permission, PullRequest
from controller.domain.ids import IssueId, Sha
from controller.domain.policy import Policy
from controller.domain.repository import Change, LocalRepository
from controller.domain.runs import Run, Task
from controller.domain.values import Unseen
from controller.workloads.issues.facts import IssueFacts, current_pull
from controller.workloads.issues.labels import Epoch, ours, replay
from controller.workloads.issues.lineage import (
    Tip,
    delivered,
    judge_tip,
    pushes,
    rework_rounds,
)
from controller.workloads.issues.markers import (
    ClaimRecord,
    ExplainRecord,
    PushRecord,
    VerdictRecord,
    text_digest,
)


class Review(NamedTuple):
    """What our reviewer said in this epoch about the live base and head."""

    base: Sha
    head: Sha
    verdict: VerdictRecord | None
    """None while no intact verdict of ours stands on exactly this base, branch and head."""
    ever_approved: bool
    """Whether any head was approved in this epoch."""


class IssueState(NamedTuple):
    """One issue as the rules see it."""

    item: IssueId
    taken_at: datetime
    is_open: bool
    archived: bool
    labels: tuple[str, ...]
    """Ours that stand on the issue, strongest first."""
    epoch: Epoch | None
    standing: frozenset[str]
    """Our labels that stand according to the timeline, which may lag behind `labels`."""
    actor_is_trusted_bot: bool
    permission: Permission
    digest: str
    """Of title and body as they are now."""
    edited_at: datetime | None
    """Last change of title or body, None = never."""
    claim: ClaimRecord | None
    explained: frozenset[str]
    """Reasons that were explained in this epoch."""
    base_branch: str
    base_tip: Sha | None
    tip: Sha | None
    tip_is: Tip
    done: tuple[PushRecord, ...]
    """Our commits of this epoch that the branch holds, oldest first."""
    announced: frozenset[Sha]
    """Every commit that we announced in this epoch, pushed or not."""
    pull: PullRequest | None
    heads: tuple[Sha, ...]
    """Heads of all pull requests of the branch, open and closed: the forge has these commits."""
    review: Review | None
    """None while there is no open pull request of ours for the live tip."""
    rounds: int
    """Finished rework rounds of this epoch."""
    local: LocalRepository
    worktree_clean: bool | None
    head_on_forge: bool | None
    head_on_base: bool | None
    merge_base: Sha | None
    """Of the base branch and the remote tip, None without a tip."""
    prepared: bool
    runs: tuple[Run, ...]

    @property
    def phase(self) -> str | None:
        """The label that decides, None when none of ours stands."""
        return self.labels[0] if self.labels else None

    @property
    def is_ours(self) -> bool:
        """Whether the open pull request was opened by us."""
        return self.review is not None

    def due(self) -> Task | None:
        """What the worker still owes: the text, or the open findings of the verdict on the head."""
        if self.epoch is None:
            return None
        if not any(push.task.phase == "implement" for push in self.done):
            return Task(phase="implement", epoch=self.epoch.event, on=self.digest)
        verdict = self.review.verdict if self.review else None
        if verdict is not None and not verdict.verdict.approves:
            return Task(
                phase="rework", epoch=self.epoch.event, on=verdict.head, round=self.rounds + 1
            )
        return None

    def parent(self) -> Sha | None:
        """The commit on which the worker works: the tip, else the base of the new branch."""
        if self.tip is not None:
            return self.tip
        head = self.local.worktree.head
        for change in self.changes():
            if change.sha == head:
                return change.parent
        return head if head is not None and self.head_on_base else self.local.base

    def base(self) -> Sha | None:
        """The base commit of the work: whose instructions and attributes count."""
        return self.merge_base or self.parent()

    def changes(self) -> tuple[Change, ...]:
        """Every commit that was made here of a worker's answer, oldest first."""
        found = (run.delivery.change for run in self.runs if run.delivery)
        return tuple(change for change in found if change is not None)

    def attempts(self, task: Task) -> tuple[Run, ...]:
        """All recorded runs for a task, oldest first."""
        return tuple(run for run in self.runs if run.task.key == task.key)


def interpret(facts: IssueFacts, policy: Policy) -> IssueState | Unseen:
    """Judge facts; the first source that was not seen is returned instead."""
    unseen = next(facts.unseen(), None)
    if unseen is not None:
        return unseen
    issue, repository, events = _s(facts.issue), _s(facts.repository), _s(facts.events)
    records, pulls, tip = _s(facts.records), _s(facts.pulls), _s(facts.remote_tip)
    replayed = replay(events)
    epoch = replayed.epoch
    own = pushes(records)
    to_base = _s(facts.to_base) if facts.to_base is not None else None
    to_own = _s(facts.to_own) if facts.to_own is not None else None
    tip_is = judge_tip(tip, own=own, to_own=to_own, to_base=to_base)
    anchor = tip if tip_is == "ours" else facts.own_below if tip_is == "extended" else None
    done = delivered(own, anchor=anchor, epoch=epoch.event) if epoch else ()
    pull = current_pull(pulls)
    renames = [event.at for event in events if event.kind == "renamed"]
    edits = [at for at in (_s(facts.edited_at), *renames) if at is not None]
    return IssueState(
        item=facts.item,
        taken_at=facts.taken_at,
        is_open=issue.is_open,
        archived=repository.archived,
        labels=ours(issue.labels),
        epoch=epoch,
        standing=replayed.standing,
        actor_is_trusted_bot=_trusted(epoch, policy),
        permission=_s(facts.permission),
        digest=text_digest(issue.title, issue.body),
        edited_at=max(edits, default=None),
        claim=_claim(facts, epoch),
        explained=_explained(facts, epoch),
        base_branch=facts.base_branch,
        base_tip=_s(facts.base_tip),
        tip=tip,
        tip_is=tip_is,
        done=done,
        announced=frozenset(p.sha for p in own if epoch and p.epoch == epoch.event),
        pull=pull,
        heads=tuple(each.head for each in pulls),
        review=_review(facts, pull, epoch),
        rounds=_rounds(facts, epoch, pull, own) if epoch else 0,
        local=_s(facts.local),
        worktree_clean=_s(facts.worktree_clean) if facts.worktree_clean is not None else None,
        head_on_forge=facts.head_on_forge,
        head_on_base=facts.head_on_base,
        merge_base=to_base.merge_base if to_base is not None else None,
        prepared=facts.prepared or not policy.of(facts.item.repository.key).prepare,
        runs=facts.runs,
    )


def asks_for_clean(s: IssueState) -> bool:
    """Whether a rule will ask if the worktree is clean: before it goes, or before a rework.

    Asking costs a walk through every file of the tree.
    """
    if s.local.worktree.state != "ours":
        return False
    if not s.is_open or (s.pull is not None and s.pull.merged):
        return True
    task = s.due()
    if task is None:
        return False
    made = {change.sha for run in s.attempts(task) if (change := _change_of(run))}
    moved = s.local.worktree.head not in {s.parent(), *made}
    return moved or (task.phase == "rework" and not s.attempts(task))


def _change_of(run: Run) -> Change | None:
    return run.delivery.change if run.delivery else None


def _s[T](seen: T | Unseen) -> T:
    """The value of a source that `interpret` has already checked."""
    if isinstance(seen, Unseen):  # pragma: no cover - interpret returns before
        raise AssertionError(seen.source)  # noqa: TRY004 - a broken promise of ours, no input
    return seen


def _trusted(epoch: Epoch | None, policy: Policy) -> bool:
    """Whether a bot on the explicit list opened the epoch."""
    actor = epoch.actor if epoch else None
    bots = {login.lower() for login in policy.trusted_bots}
    return actor is not None and actor.is_bot and actor.login.lower() in bots


def _claim(facts: IssueFacts, epoch: Epoch | None) -> ClaimRecord | None:
    """Our first intact claim of this epoch."""
    claims = (
        each.record
        for each in _s(facts.records)
        if each.intact and isinstance(each.record, ClaimRecord)
    )
    return next((claim for claim in claims if epoch and claim.epoch == epoch.event), None)


def _explained(facts: IssueFacts, epoch: Epoch | None) -> frozenset[str]:
    """Reasons explained on the issue or the pull request in this epoch."""
    records = [*_s(facts.records), *(_s(facts.pull.records) if facts.pull else ())]
    return frozenset(
        str(each.record.reason)
        for each in records
        if isinstance(each.record, ExplainRecord) and epoch and each.record.epoch == epoch.event
    )


def _verdicts(facts: IssueFacts, *, intact: bool) -> tuple[VerdictRecord, ...]:
    records = _s(facts.pull.records) if facts.pull else ()
    return tuple(
        each.record
        for each in records
        if isinstance(each.record, VerdictRecord) and (each.intact or not intact)
    )


def _review(facts: IssueFacts, pull: PullRequest | None, epoch: Epoch | None) -> Review | None:
    """The review of the open pull request, bound to issue, pull request, base and head."""
    if pull is None or facts.pull is None or epoch is None or not pull.is_open:
        return None
    if pull.author is None or pull.author.id != facts.me.id:
        return None
    base = _s(facts.pull.to_base).merge_base
    mine = [
        v for v in _verdicts(facts, intact=True) if v.epoch == epoch.event and v.pull == pull.number
    ]
    live = [
        v for v in mine if (v.base, v.base_branch, v.head) == (base, pull.base_branch, pull.head)
    ]
    return Review(
        base=base,
        head=pull.head,
        verdict=live[-1] if live else None,
        ever_approved=any(v.verdict.approves for v in mine),
    )


def _rounds(
    facts: IssueFacts, epoch: Epoch, pull: PullRequest | None, own: tuple[PushRecord, ...]
) -> int:
    return rework_rounds(
        facts.item,
        epoch=epoch.event,
        head=pull.head if pull else None,
        commits=_s(facts.pull.commits) if facts.pull else (),
        verdicts=_verdicts(facts, intact=False),
        runs=facts.runs,
        own=own,
    )
