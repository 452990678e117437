"""Rules that come before any work: is it wanted, by somebody who may, on a branch that is ours?

Part of `controller.workloads.issues.rules.RULES`. They start nothing and clean up what is over.
"""

from controller.domain.actions import Block, Claim, Explain, RemoveWorktree
from controller.domain.forge import RANK
from controller.domain.plan import Hold, Said
from controller.domain.policy import Policy
from controller.domain.reasons import MEANINGS, Reason
from controller.workloads.issues.labels import BLOCKED, HUMAN, READY
from controller.workloads.issues.state import IssueState


def hold(s: IssueState, reason: Reason, message: str = "") -> Hold:
    """A hold with the code's own meaning as its sentence, unless there is more to say."""
    return Hold(item=s.item, reason=reason, message=message or MEANINGS[reason].text)


def block(s: IssueState, reason: Reason, message: str = "", details: str = "") -> Block:
    """A stop that is explained on the issue, bound to the current epoch."""
    return Block(
        item=s.item,
        reason=reason,
        message=message or MEANINGS[reason].text,
        epoch=s.epoch.event if s.epoch else None,
        details=details,
    )


def still_wanted(s: IssueState, _p: Policy) -> Said:
    """The issue is open, not merged, and still carries a label of ours; otherwise it is cleaned up.

    A merge counts only for the epoch in which it happened: a later one is judged further below.
    """
    merged = s.pull is not None and s.pull.merged
    if merged and s.pull and s.epoch and s.pull.closed_at and s.pull.closed_at < s.epoch.at:
        merged = False
    if not s.is_open and not merged and s.claim and s.review and s.pull:
        explained = _explain(s, Reason.ISSUE_CLOSED, on=s.pull.number)
        if explained:
            return explained
    if not s.is_open or merged:
        return _clean_up(s)
    if s.labels:
        return None
    unfinished = s.due() is not None or s.review is None or s.review.verdict is None
    if s.claim and unfinished:
        explained = _explain(s, Reason.LABEL_REMOVED, on=s.item.number)
        if explained:
            return explained
    return hold(s, Reason.LABEL_REMOVED, "no label of toban's stands on the issue")


def _explain(s: IssueState, reason: Reason, *, on: int) -> Explain | None:
    """One sentence per epoch and reason, none when it was said already."""
    if s.epoch is None or reason in s.explained:
        return None
    return Explain(
        item=s.item, reason=reason, message=MEANINGS[reason].text, epoch=s.epoch.event, on=on
    )


def _clean_up(s: IssueState) -> Said:
    tree = s.local.worktree
    if tree.state == "absent":
        return hold(s, Reason.DONE)
    pushed = tree.head is not None and (
        tree.head == s.tip or (s.pull is not None and tree.head == s.pull.head) or s.head_on_base
    )
    if tree.state == "ours" and s.worktree_clean and pushed:
        message = "the work is over; its worktree is clean and pushed"
        return RemoveWorktree(item=s.item, reason=Reason.FINISHED, message=message)
    return hold(s, Reason.WORKTREE_KEPT)


def repository_usable(s: IssueState, _p: Policy) -> Said:
    """An archived repository takes no writes."""
    return hold(s, Reason.REPOSITORY_ARCHIVED) if s.archived else None


def not_blocked(s: IssueState, _p: Policy) -> Said:
    """Nothing happens until a human takes `agent:blocked` off."""
    return hold(s, Reason.BLOCKED) if s.phase == BLOCKED else None


def label_backed(s: IssueState, _p: Policy) -> Said:
    """A label alone authorises nothing: it needs our own claim in this epoch (decisions 6)."""
    if s.phase == HUMAN and s.claim and s.pull and not s.pull.is_open:
        return hold(s, Reason.PULL_REQUEST_CLOSED)
    if s.phase == HUMAN and not (s.claim and s.review and s.review.ever_approved):
        return hold(s, Reason.LABEL_BY_HAND)
    if s.phase not in (READY, HUMAN) and s.claim is None:
        return block(s, Reason.NO_CLAIM, f"`{s.phase}` stands without a claim of toban's")
    if s.phase == READY and (s.epoch is None or READY not in s.standing):
        return hold(
            s, Reason.FORGE_BEHIND, "the event that put `agent:ready` on cannot be seen yet"
        )
    return None


def not_with_a_human(s: IssueState, _p: Policy) -> Said:
    """An approval of the live base and head stands: a human decides, and nothing else matters."""
    approved = s.review and s.review.verdict and s.review.verdict.verdict.approves
    return hold(s, Reason.WAITS_FOR_HUMAN) if s.phase == HUMAN and approved else None


def authorised(s: IssueState, p: Policy) -> Said:
    """Somebody with enough permission wants exactly this text (decisions 5)."""
    actor = s.epoch.actor if s.epoch else None
    if actor is None:
        return block(s, Reason.NOT_PERMITTED, "the account that put `agent:ready` on is gone")
    if not s.actor_is_trusted_bot:
        if actor.is_bot:
            message = f"the bot {actor.login} is not in policy.trusted_bots"
            return block(s, Reason.NOT_PERMITTED, message)
        if RANK[s.permission] < RANK[p.labelers]:
            message = f"{actor.login} has permission {s.permission}; {p.labelers} is needed"
            return block(s, Reason.NOT_PERMITTED, message)
    # An edit in the label's own second may have come after it: the forge's clock shows no more.
    if s.epoch and s.edited_at is not None and s.edited_at >= s.epoch.at:
        return block(s, Reason.TEXT_CHANGED)
    if s.claim is not None and s.claim.digest != s.digest:
        return block(s, Reason.TEXT_CHANGED)
    return None


def branch_ours(s: IssueState, _p: Policy) -> Said:
    """Every commit on the branch is accounted for (decisions 2, 7)."""
    if s.tip_is == "foreign":
        known = bool(s.announced) or (s.claim is not None and s.claim.head is not None)
        return block(s, Reason.BRANCH_DIVERGED if known else Reason.BRANCH_NOT_OURS)
    if s.claim is None or s.tip is None or s.tip_is == "base":
        return None
    if s.tip == s.claim.head or s.tip in s.announced:
        return None
    # With a pull request the commits of others are reviewed; review.rework_allowed names findings.
    if s.review is not None and (s.due() is None or s.review.verdict is not None):
        return None
    return block(s, Reason.FOREIGN_COMMITS)


def pull_request_ours(s: IssueState, _p: Policy) -> Said:
    """The pull request is ours, open or not made yet, and shows the branch as it is."""
    if s.pull is None or s.epoch is None:
        return None
    if s.pull.is_open:
        if not s.is_ours:
            return block(
                s, Reason.FOREIGN_PULL_REQUEST, f"pull request #{s.pull.number} is not toban's"
            )
        if s.pull.head != s.tip:
            return hold(
                s, Reason.FORGE_BEHIND, "the pull request does not show the branch's tip yet"
            )
        return None
    if s.pull.merged:
        return block(s, Reason.ALREADY_MERGED, f"pull request #{s.pull.number} was merged before")
    if s.pull.closed_at is not None and s.pull.closed_at >= s.epoch.at:
        return block(
            s, Reason.PULL_REQUEST_CLOSED, f"pull request #{s.pull.number} was closed unmerged"
        )
    return None


def claimed(s: IssueState, _p: Policy) -> Said:
    """The issue says that this text is being worked on."""
    if s.claim is not None or s.epoch is None:
        return None
    return Claim(
        item=s.item,
        reason=Reason.READY_LABEL,
        message=f"{s.epoch.actor.login if s.epoch.actor else 'somebody'} put `agent:ready` on",
        epoch=s.epoch.event,
        digest=s.digest,
        head=s.tip,
    )
