"""How an item stands, as Kubernetes says it: Ready, Progressing, Stalled, each with a reason.

Made by `controller.runtime.status` from a plan's reason codes, rendered by `toban status`. A closed
mapping: every reason code stands in exactly one of the groups below (a test keeps it so).
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.values import Value

type ConditionType = Literal["Ready", "Progressing", "Stalled"]
type ConditionStatus = Literal["True", "False", "Unknown"]


class Standing(StrEnum):
    """The one condition that holds of an item."""

    READY = "Ready"
    """toban has done its part: a human decides, or the work is over."""
    PROGRESSING = "Progressing"
    """toban goes on by itself, now or when what it waits for has passed."""
    STALLED = "Stalled"
    """Nothing happens before a person acts."""
    UNKNOWN = "Unknown"
    """It could not be seen, which says nothing about the item."""


READY = frozenset({Reason.WAITS_FOR_HUMAN, Reason.DONE})
UNKNOWN = frozenset(
    {
        Reason.HOST_UNSEEN,
        Reason.FORGE_UNSEEN,
        Reason.FORGE_BEHIND,
        Reason.GIT_UNSEEN,
        Reason.COMMIT_UNKNOWN,
        Reason.ISSUE_NOT_FOUND,
    }
)
PROGRESSING = frozenset(
    {
        Reason.READY_LABEL,
        Reason.WORK_DUE,
        Reason.ATTEMPT_FAILED,
        Reason.DELIVERY_REFUSED,
        Reason.CHANGE_MADE,
        Reason.CHANGE_VALIDATED,
        Reason.HEAD_PUSHED,
        Reason.LABEL_BEHIND,
        Reason.HEAD_UNREVIEWED,
        Reason.VERDICT_GIVEN,
        Reason.REWORK_ASKED,
        Reason.APPROVED,
        Reason.SOURCE_MISSING,
        Reason.WORKTREE_MISSING,
        Reason.PREPARE_DUE,
        Reason.FINISHED,
        Reason.WAITS_FOR_TURN,
        Reason.RATE_LIMITED,
        Reason.USAGE_LIMIT,
        Reason.RUNS_SPENT,
        Reason.TOKENS_SPENT,
        Reason.MEMORY_LOW,
        Reason.MODEL_UNREACHABLE,
        Reason.STOPPED,
        Reason.ACTION_FAILED,
        # Sent back to the worker within its budget.
        Reason.EMPTY_CHANGE,
        Reason.WHITESPACE_ERROR,
        Reason.PROTECTED_PATH,
        Reason.TOO_MANY_FILES,
        Reason.FILE_TOO_LARGE,
        Reason.CHANGE_TOO_LARGE,
        Reason.LINK_OUTSIDE,
        Reason.NESTED_REPOSITORY,
        Reason.ODD_NAME,
        Reason.SPECIAL_FILE,
        Reason.UNREADABLE_FILE,
        Reason.SECRET_IN_CHANGE,
        Reason.CHECK_FAILED,
    }
)
STALLED = frozenset(Reason) - READY - UNKNOWN - PROGRESSING


def standing(reason: Reason) -> Standing:
    """The condition that a reason code means."""
    if reason in READY:
        return Standing.READY
    if reason in UNKNOWN:
        return Standing.UNKNOWN
    return Standing.PROGRESSING if reason in PROGRESSING else Standing.STALLED


class Condition(Value):
    """One of the three conditions of an item."""

    type: ConditionType
    status: ConditionStatus
    reason: Reason
    message: str
    since: datetime | None
    """When the item entered its phase, None when that could not be seen."""


TYPES: tuple[ConditionType, ...] = ("Ready", "Progressing", "Stalled")


def conditions(reason: Reason, message: str, since: datetime | None) -> tuple[Condition, ...]:
    """All three conditions: at most one is True; all are Unknown for what could not be seen."""
    holds = standing(reason)
    return tuple(
        Condition(
            type=each, status=_status(each, holds), reason=reason, message=message, since=since
        )
        for each in TYPES
    )


def _status(of: ConditionType, holds: Standing) -> ConditionStatus:
    if holds is Standing.UNKNOWN:
        return "Unknown"
    return "True" if of == holds.value else "False"


class RunningAgent(Value):
    """A start of Codex that has not ended."""

    phase: str
    run: int
    since: datetime


class ItemStatus(Value):
    """One line of `toban status`."""

    item: IssueId
    title: str
    """Hostile text."""
    phase: str
    """`ready working review rework blocked human-review done`."""
    reason: Reason
    message: str
    until: datetime | None
    since: datetime | None
    pull: int | None
    reworks: int | None
    """Finished rework rounds of this epoch, None when that could not be seen."""
    budget: int
    """Rework rounds that the configuration allows."""
    agent: RunningAgent | None

    @property
    def standing(self) -> Standing:
        """The condition that holds."""
        return standing(self.reason)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Ready, Progressing and Stalled."""
        return conditions(self.reason, self.message, self.since)
