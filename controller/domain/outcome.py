"""What became of one action. Returned by `controller.runtime.apply`, rendered and journalled."""

from datetime import datetime
from typing import Literal

from controller.domain.actions import Action
from controller.domain.reasons import Reason
from controller.domain.values import Value

type Result = Literal["Applied", "AlreadyTrue", "Skipped", "Deferred", "Failed", "Refused"]
"""Done; was so already; a precondition no longer holds; not now, no fault; did not work; the world
says no in a way that only a human can judge (the item becomes blocked with that reason)."""


class Outcome(Value):
    """One action and what became of it."""

    action: Action
    result: Result
    reason: Reason | None = None
    message: str = ""
    until: datetime | None = None
