"""The rules of an issue in their order: the first that is not satisfied speaks.

Each is named after the condition that it establishes. Pure; called by `controller.planning`.
"""

from collections.abc import Callable

from controller.domain.plan import Said
from controller.domain.policy import Policy
from controller.workloads.issues.rules import authority, review, work
from controller.workloads.issues.state import IssueState

type Rule = Callable[[IssueState, Policy], Said]

RULES: tuple[Rule, ...] = (
    authority.still_wanted,
    authority.repository_usable,
    authority.not_blocked,
    authority.label_backed,
    authority.not_with_a_human,
    authority.authorised,
    authority.branch_ours,
    authority.pull_request_ours,
    authority.claimed,
    review.rework_allowed,
    work.phase_shown,
    work.source_fetched,
    work.worktree_ready,
    work.prepared,
    work.answered,
    work.imported,
    work.published,
    review.proposed,
    review.reviewed,
    review.handed_over,
)
