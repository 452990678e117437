"""Items at rest that nobody touched need no new look: the note of what they looked like.

Used by `controller.runtime.observe`. The note may be lost: then the item is looked at again. It
only ever saves a look; it never leads to an action.
"""

import hashlib

from controller.domain.forge import Issue, PullRequest
from controller.domain.plan import Hold
from controller.domain.policy import Policy
from controller.domain.reasons import Reason
from controller.workloads.issues.labels import HUMAN, ours

LASTING = frozenset(
    {
        Reason.WAITS_FOR_HUMAN,
        Reason.LABEL_BY_HAND,
        Reason.PULL_REQUEST_CLOSED,
        Reason.DONE,
    }
)
"""Holds that only a person's act on GitHub can end, and which every such act makes visible in the
issue's update time, its labels, or the pull request's head, base and update time."""


def may_rest(issue: Issue) -> bool:
    """Whether a note may stand for a look."""
    return ours(issue.labels)[:1] == (HUMAN,)


def versions(issue: Issue, pulls: tuple[PullRequest, ...], policy: Policy) -> str:
    """Digest of everything that a person could have changed."""
    pull = [
        (p.number, p.head, p.base_branch, p.base_tip, p.updated_at.isoformat(), p.author)
        for p in pulls
    ]
    seen = (
        issue.item.key,
        sorted(issue.labels),
        issue.updated_at.isoformat(),
        issue.title,
        issue.body,
        pull,
        policy.model_dump_json(),
    )
    return hashlib.sha256(repr(seen).encode("utf-8", "backslashreplace")).hexdigest()


def lasting(hold: object) -> Hold | None:
    """The hold if it may be remembered."""
    return hold if isinstance(hold, Hold) and hold.reason in LASTING else None
