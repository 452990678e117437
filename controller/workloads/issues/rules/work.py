"""Rules of the worker: label, source, worktree, run, import, publication. All speak of `due()`.

Part of `controller.workloads.issues.rules.RULES`. Work is due until the text is answered and every
rework asked for is delivered; with nothing due these rules are satisfied.
"""

from typing import NamedTuple

from controller.domain.actions import (
    CreateWorktree,
    FetchSource,
    ImportChange,
    PrepareWorktree,
    PublishCommit,
    RemoveWorktree,
    ShowPhase,
    StartAgent,
)
from controller.domain.ids import Sha
from controller.domain.plan import Said
from controller.domain.policy import Policy
from controller.domain.reasons import Reason
from controller.domain.repository import Refusal
from controller.domain.runs import Delivery, Run, Task
from controller.workloads.issues.labels import REVIEW, REWORK, WORKING
from controller.workloads.issues.rules.authority import block, hold
from controller.workloads.issues.state import IssueState


def phase_shown(s: IssueState, _p: Policy) -> Said:
    """The one label of ours says where the work stands; `human:review` comes with the hand-over."""
    match s.due():
        case Task(phase="rework"):
            label = REWORK
        case Task():
            label = WORKING
        case None if s.review is None:
            label = WORKING
        case None if s.review.verdict is None:
            label = REVIEW
        case _:
            return None
    if s.labels == (label,):
        return None
    message = f"the work stands at `{label}`"
    return ShowPhase(item=s.item, reason=Reason.LABEL_BEHIND, message=message, label=label)


def source_fetched(s: IssueState, _p: Policy) -> Said:
    """The trusted repository has the base and the branch as the forge shows them."""
    if s.due() is None and (s.review is None or s.review.verdict is not None):
        return None
    if s.base_tip is None:
        return hold(s, Reason.BASE_BRANCH_MISSING, f"branch {s.base_branch} does not exist")
    kept = s.local.worktree.state != "absent"
    current = (
        s.local.exists
        and s.local.base is not None
        and s.local.fetched_head == s.tip
        and (s.tip is not None or kept or s.local.base == s.base_tip)
    )
    if current:
        return None
    message = f"the local copy lacks {s.base_branch} or the branch as they are now"
    return FetchSource(
        item=s.item, reason=Reason.SOURCE_MISSING, message=message, base_branch=s.base_branch
    )


def worktree_ready(s: IssueState, _p: Policy) -> Said:
    """The worktree is ours and stands on the commit to work on; anything else is never repaired."""
    task, wanted = s.due(), s.parent()
    if task is None or wanted is None:
        return None
    tree = s.local.worktree
    if tree.state == "absent":
        at = _committed(s, task) or wanted
        return CreateWorktree(
            item=s.item,
            reason=Reason.WORKTREE_MISSING,
            message=f"work goes on at {at[:12]}",
            at=at,
            pushed=s.heads,
        )
    if tree.state == "tampered":
        return block(s, Reason.WORKTREE_TAMPERED, tree.detail)
    if tree.head in (wanted, _committed(s, task)):
        unexplained = task.phase == "rework" and not s.attempts(task) and not s.worktree_clean
        return block(s, Reason.WORKTREE_DIRTY) if unexplained else None
    # Nothing dirty and nothing unpushed is ever removed.
    message = f"the worktree stands on {(tree.head or '?')[:12]} and not on {wanted[:12]}"
    if not s.worktree_clean:
        return block(s, Reason.WORKTREE_DIRTY, message)
    if not (s.head_on_forge or s.head_on_base):
        return block(s, Reason.BRANCH_UNPUSHED, _rename(s, message))
    message = f"the clean worktree stands on {(tree.head or '?')[:12]}, not on {wanted[:12]}"
    return RemoveWorktree(item=s.item, reason=Reason.WORKTREE_MISSING, message=message)


def _committed(s: IssueState, task: Task) -> Sha | None:
    """The commit that was made for the task and is not on the forge yet."""
    last = _last(s.attempts(task))
    return last.delivery.change.sha if last and last.delivery and last.delivery.change else None


def _rename(s: IssueState, message: str) -> str:
    """How a person saves the local branch, in toban's root."""
    bare = f"repos/{s.item.repository}.git"
    saved = f"saved/issue-{s.item.number}-{(s.local.worktree.head or '')[:12]}"
    command = f"git -C {bare} branch -m {s.item.branch} {saved}"
    return f"{message}; to save the branch: {command}"


def _last(runs: tuple[Run, ...]) -> Run | None:
    return runs[-1] if runs else None


def prepared(s: IssueState, _p: Policy) -> Said:
    """The repository's `prepare` commands ran once on the untouched base (decisions 11)."""
    task = s.due()
    if task is None or s.prepared or s.attempts(task):
        return None
    message = "the prepare commands have not run in this worktree"
    return PrepareWorktree(item=s.item, reason=Reason.PREPARE_DUE, message=message)


class _Again(NamedTuple):
    """A run is due."""

    reason: Reason
    message: str
    feedback: str = ""
    """Message of a refused delivery, for the worker."""


def answered(s: IssueState, p: Policy) -> Said:
    """The worker gave a complete answer that was not sent back, within its budgets."""
    task, base, parent = s.due(), s.base(), s.parent()
    if task is None or base is None or parent is None:
        return None
    runs = s.attempts(task)
    due = _judged(s, p, runs)
    if not isinstance(due, _Again):
        return due
    threads = [run.thread for run in runs if run.thread]
    return StartAgent(
        item=s.item,
        reason=due.reason,
        message=due.message,
        task=task,
        attempt=len(runs) + 1,
        model=p.rework[task.round - 1] if task.phase == "rework" else p.implement,
        base=base,
        head=parent,
        thread=threads[-1] if threads else None,
        feedback=due.feedback,
    )


def _judged(s: IssueState, p: Policy, runs: tuple[Run, ...]) -> Said | _Again:
    """What the recorded runs of the task lead to; None when the last one stands."""
    last = _last(runs)
    if last is None:
        rework = s.review is not None and s.review.verdict is not None
        reason = Reason.REWORK_ASKED if rework else Reason.WORK_DUE
        return _Again(reason, "no answer to this task yet")
    if last.delivery is not None and last.delivery.refusal is not None:
        return _refused(s, p, runs, last.delivery, last.delivery.refusal)
    if last.end == "complete":
        return None
    failed = [run for run in runs if run.is_attempt and run.end != "complete"]
    if len(failed) > p.max_worker_failures:
        message = f"{len(failed)} runs failed; the last: {failed[-1].message}"
        return block(s, Reason.WORKER_FAILED, message)
    return _Again(Reason.ATTEMPT_FAILED, last.message or "the last run was cut off")


def _refused(
    s: IssueState, p: Policy, runs: tuple[Run, ...], delivery: Delivery, refusal: Refusal
) -> Said | _Again:
    """A refused delivery goes to a human, waits for the base to move, or back to the worker."""
    if refusal.kind == "ambiguous":
        return block(s, Reason(refusal.reason), refusal.message)
    if refusal.kind == "hold":
        moved = delivery.base != s.base_tip
        return None if moved else hold(s, Reason(refusal.reason), refusal.message)
    if _sent_back(runs) > p.max_delivery_retries:
        return block(s, Reason.DELIVERY_BUDGET_SPENT, refusal.message)
    return _Again(Reason.DELIVERY_REFUSED, f"sent back: {refusal.message}", refusal.message)


def _sent_back(runs: tuple[Run, ...]) -> int:
    """Deliveries of this task that the worker had to mend."""
    refusals = [run.delivery.refusal for run in runs if run.delivery and run.delivery.refusal]
    return sum(1 for refusal in refusals if refusal.kind == "fixable")


def imported(s: IssueState, _p: Policy) -> Said:
    """What the worker left is imported, validated and committed."""
    task, base, parent = s.due(), s.base(), s.parent()
    last = _last(s.attempts(task)) if task else None
    if task is None or last is None or base is None or parent is None:
        return None
    if last.delivery is not None and last.delivery.change is not None:
        return None
    message = f"run {last.seq} is complete"
    return ImportChange(
        item=s.item,
        reason=Reason.CHANGE_MADE,
        message=message,
        run=last.seq,
        task=task,
        parent=parent,
        base=base,
    )


def published(s: IssueState, _p: Policy) -> Said:
    """The validated commit is on the branch."""
    task = s.due()
    last = _last(s.attempts(task)) if task else None
    if task is None or last is None or last.delivery is None or last.delivery.change is None:
        return None
    change = last.delivery.change
    if change.parent != s.parent():
        return block(
            s, Reason.BRANCH_DIVERGED, f"{change.sha[:12]} was made on {change.parent[:12]}"
        )
    spent = sum(run.tokens.input + run.tokens.output for run in s.attempts(task))
    return PublishCommit(
        item=s.item,
        reason=Reason.CHANGE_VALIDATED,
        message=f"{change.sha[:12]} is validated",
        epoch=task.epoch,
        task=task,
        run=last.seq,
        change=change,
        expected=s.tip,
        tokens=spent,
    )
