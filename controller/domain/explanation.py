"""Every rule's word on one item, in order: what `toban explain` shows.

Made by the workloads' `explain`, rendered by `controller.render.explain`. A value; decides nothing.
"""

from datetime import datetime
from typing import Literal

from controller.domain.ids import IssueId
from controller.domain.plan import Hold
from controller.domain.reasons import Reason
from controller.domain.values import Unseen, Value

type Word = Literal["satisfied", "acts", "holds", "not reached"]


class RuleWord(Value):
    """What one rule says."""

    rule: str
    """The condition that the rule establishes: `worktree ready`."""
    sentence: str
    """First line of the rule's own description."""
    where: str
    """Module and function in which it is decided."""
    word: Word
    reason: Reason | None = None
    message: str = ""
    until: datetime | None = None
    action: str = ""
    """Kind of the action, empty unless the rule acts."""


class Explanation(Value):
    """One item and every rule's word on it."""

    item: IssueId
    title: str
    """Hostile text; empty when the issue could not be seen."""
    rules: tuple[RuleWord, ...] = ()
    """Empty when something could not be seen: nothing is judged then."""
    unseen: tuple[Unseen, ...] = ()
    in_plan: Hold | None = None
    """Why the item waits although its own rules would act: another goes first, for instance."""
