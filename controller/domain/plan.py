"""The answer of planning: actions, holds, what could not be seen. A value, rendered elsewhere."""

from datetime import datetime

from controller.domain.actions import Action
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.values import Unseen, Value


class Hold(Value):
    """A step that is not taken, and why."""

    item: IssueId
    reason: Reason
    message: str
    until: datetime | None = None
    """When looking again makes sense, None when only an event can change it."""


type Said = Action | Hold | None
"""What a rule says: act, wait, or satisfied."""


class Plan(Value):
    """What the next tick would do, why everything else waits, and what stayed unseen."""

    actions: tuple[Action, ...] = ()
    holds: tuple[Hold, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    then: tuple[str, ...] = ()
    """Names of the rules that the chosen item has not reached yet (for people)."""

    @property
    def complete(self) -> bool:
        """Whether everything that was wanted could be seen."""
        return not self.unseen
