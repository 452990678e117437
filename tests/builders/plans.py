"""One action of every kind, and plans made of them, for the tests of what is printed."""

from datetime import UTC, datetime

from controller.domain import actions as a
from controller.domain.plan import Hold
from controller.domain.policy import PhaseModel
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.repository import Change
from tests.builders.issue import BASE, DIGEST, EPOCH, ITEM, sha, task

MODEL = PhaseModel(model="luna", effort="medium", timeout_s=3600)
CHANGE = Change(sha=sha("h1"), parent=BASE, files=2, added_lines=5, removed_lines=1)
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

EVERY_ACTION: tuple[a.Action, ...] = (
    a.Claim(
        item=ITEM,
        reason=Reason.READY_LABEL,
        message="octo put it on",
        epoch=EPOCH,
        digest=DIGEST,
        head=None,
    ),
    a.Block(item=ITEM, reason=Reason.NO_CLAIM, message="no claim", epoch=EPOCH, details="more"),
    a.Explain(item=ITEM, reason=Reason.LABEL_REMOVED, message="gone", epoch=EPOCH, on=58),
    a.FetchSource(
        item=ITEM, reason=Reason.SOURCE_MISSING, message="it is missing", base_branch="main"
    ),
    a.CreateWorktree(item=ITEM, reason=Reason.WORKTREE_MISSING, message="starts", at=BASE),
    a.PrepareWorktree(item=ITEM, reason=Reason.PREPARE_DUE, message="not run yet"),
    a.RemoveWorktree(item=ITEM, reason=Reason.FINISHED, message="over"),
    a.StartAgent(
        item=ITEM,
        reason=Reason.WORK_DUE,
        message="no answer yet",
        task=task(),
        attempt=2,
        model=MODEL,
        base=BASE,
        head=BASE,
        thread="thread-1",
        feedback="mend it",
    ),
    a.ImportChange(
        item=ITEM,
        reason=Reason.CHANGE_MADE,
        message="run 1 is complete",
        run=1,
        task=task(),
        parent=BASE,
        base=BASE,
    ),
    a.PublishCommit(
        item=ITEM,
        reason=Reason.CHANGE_VALIDATED,
        message="validated",
        epoch=EPOCH,
        task=task(),
        run=1,
        change=CHANGE,
        expected=None,
        tokens=10,
    ),
    a.OpenPullRequest(
        item=ITEM,
        reason=Reason.HEAD_PUSHED,
        message="none yet",
        base_branch="main",
        base=BASE,
        head=sha("h1"),
        change=CHANGE,
    ),
    a.ShowPhase(item=ITEM, reason=Reason.LABEL_BEHIND, message="behind", label="agent:review"),
    a.RecordVerdict(
        item=ITEM,
        reason=Reason.VERDICT_GIVEN,
        message="judged",
        pull=7,
        epoch=EPOCH,
        base=BASE,
        base_branch="main",
        head=sha("h1"),
        run=2,
    ),
    a.HandOver(
        item=ITEM,
        reason=Reason.APPROVED,
        message="approved",
        pull=7,
        epoch=EPOCH,
        base=BASE,
        head=sha("h1"),
    ),
)


def hold(number: int, reason: Reason, message: str = "", *, until: datetime | None = None) -> Hold:
    """Issue `number` waits."""
    item = ITEM.model_copy(update={"number": number})
    return Hold(item=item, reason=reason, message=message or MEANINGS[reason].text, until=until)
