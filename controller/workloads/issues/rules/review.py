"""Rules of the review: pull request, verdict, rework budget, hand-over. Nothing of ours merges.

Part of `controller.workloads.issues.rules.RULES`.
"""

from controller.domain.actions import HandOver, OpenPullRequest, RecordVerdict, StartAgent
from controller.domain.plan import Said
from controller.domain.policy import Policy
from controller.domain.reasons import Reason
from controller.domain.runs import Run, Task
from controller.workloads.issues.rules.authority import block
from controller.workloads.issues.state import IssueState, Review
from controller.workloads.issues.verdict import Verdict, VerdictError, parse_verdict


def rework_allowed(s: IssueState, p: Policy) -> Said:
    """A verdict of rework goes to the worker while the budget lasts and nobody else has pushed."""
    task = s.due()
    if task is None or task.phase != "rework" or s.review is None or s.review.verdict is None:
        return None
    findings = findings_text(s.review.verdict.verdict)
    if s.tip_is == "extended":
        return block(s, Reason.FOREIGN_COMMITS, details=findings)
    if s.rounds >= len(p.rework):
        message = f"{s.rounds} of {len(p.rework)} reworks did not pass the review"
        return block(s, Reason.BUDGET_SPENT, message, details=findings)
    return None


def findings_text(verdict: Verdict) -> str:
    """Summary and findings as plain lines, hostile text."""
    lines = [verdict.summary]
    lines += [
        f"{f.severity}: {f.path}{f':{f.line}' if f.line is not None else ''}: {f.message}"
        for f in verdict.findings
    ]
    return "\n".join(lines)


def proposed(s: IssueState, _p: Policy) -> Said:
    """There is an open pull request of ours for the branch."""
    base = s.base()
    if s.review is not None or s.tip is None or base is None:
        return None
    changes = {change.sha: change for change in s.changes()}
    return OpenPullRequest(
        item=s.item,
        reason=Reason.HEAD_PUSHED,
        message=f"{s.tip[:12]} has no pull request",
        base_branch=s.base_branch,
        base=base,
        head=s.tip,
        change=changes.get(s.tip),
    )


def reviewed(s: IssueState, p: Policy) -> Said:
    """A verdict of ours stands on exactly this base and head; an older one is worth nothing."""
    review = s.review
    if review is None or review.verdict is not None or s.epoch is None or s.pull is None:
        return None
    task = Task(phase="review", epoch=s.epoch.event, on=f"{review.base}..{review.head}")
    runs = s.attempts(task)
    last = runs[-1] if runs else None
    problem = _unreadable(last)
    if last is not None and last.end == "complete" and problem is None:
        return RecordVerdict(
            item=s.item,
            reason=Reason.VERDICT_GIVEN,
            message=f"run {last.seq} judged {review.head[:12]}",
            pull=s.pull.number,
            epoch=s.epoch.event,
            base=review.base,
            base_branch=s.pull.base_branch,
            head=review.head,
            run=last.seq,
        )
    unreadable = sum(1 for run in runs if _unreadable(run) is not None)
    failed = sum(1 for run in runs if run.is_attempt and run.end != "complete")
    if unreadable > p.max_review_retries or failed > p.max_worker_failures:
        return block(s, Reason.REVIEW_FAILED, problem or (last.message if last else ""))
    return _start_review(s, p, task, review, attempt=len(runs) + 1, problem=problem)


def _unreadable(run: Run | None) -> str | None:
    """Why a complete review run gave no verdict, None when it did or is not complete."""
    if run is None or run.end != "complete":
        return None
    try:
        parse_verdict(run.answer)
    except VerdictError as error:
        return f"the answer is no verdict: {error}"
    return None


def _start_review(
    s: IssueState, p: Policy, task: Task, review: Review, *, attempt: int, problem: str | None
) -> StartAgent:
    return StartAgent(
        item=s.item,
        reason=Reason.ATTEMPT_FAILED if attempt > 1 else Reason.HEAD_UNREVIEWED,
        message=problem or f"no verdict stands on {review.head[:12]}",
        task=task,
        attempt=attempt,
        model=p.review,
        base=review.base,
        head=review.head,
    )


def handed_over(s: IssueState, _p: Policy) -> Said:
    """A human knows that it is their turn."""
    review = s.review
    if review is None or review.verdict is None or s.epoch is None or s.pull is None:
        return None
    return HandOver(
        item=s.item,
        reason=Reason.APPROVED,
        message=f"{review.head[:12]} is approved",
        pull=s.pull.number,
        epoch=s.epoch.event,
        base=review.base,
        head=review.head,
    )
