"""Starts of Codex as recorded on disk: the task they answer, how they ended, what came of it.

Written by `controller.runtime.records` (intent before the start, result after it), read by rules.
Not authoritative: a rebuilt machine has none, and everything still goes on from GitHub and git.
"""

from datetime import datetime
from typing import Literal

from controller.domain.repository import Change, Refusal
from controller.domain.values import Value

type Phase = Literal["implement", "review", "rework"]


class Tokens(Value):
    """Tokens of this run alone (a resumed thread's earlier use is already subtracted)."""

    input: int = 0
    cached_input: int = 0
    output: int = 0
    reasoning: int = 0


type RunEnd = Literal[
    "complete",  # turn.completed seen, no turn.failed, exit code 0, final message not empty
    "incomplete",  # failed, killed, stream cut, empty answer: an attempt (decisions 9)
    "timeout",  # our own clock: an attempt
    "silent",  # no event for `silence_s`: an attempt
    "usage-limit",  # no attempt: all starts pause until `resume_at`
    "unreachable",  # model not reachable: no attempt
    "stopped",  # ended by toban's own stop: no attempt
    "not-started",  # binary missing, bad flags: no attempt
]


NO_ATTEMPT: frozenset[RunEnd] = frozenset({"usage-limit", "unreachable", "stopped", "not-started"})
"""Ends that are neither an attempt nor a failure (decisions 9)."""


class Task(Value):
    """What a run answers; with the item its identity."""

    phase: Phase
    epoch: int
    """Id of the `labeled` event that opened the epoch."""
    on: str
    """Digest of the text (implement), reviewed head (rework), `base..head` (review)."""
    round: int = 0
    """Rework round, counted from 1; 0 for the other phases."""

    @property
    def key(self) -> str:
        """Equal for every attempt at the same task."""
        return f"{self.phase}:{self.epoch}:{self.on}"


class Delivery(Value):
    """What became of the tree that a complete worker run left."""

    change: Change | None = None
    refusal: Refusal | None = None
    base: str = ""
    """Tip of the base branch against which a `hold` was found."""


class Run(Value):
    """One start of Codex."""

    seq: int
    """Counted from 1 per item; also the name of the run's directory."""
    task: Task
    started_at: datetime
    ended_at: datetime | None = None
    """None: the tick died while it ran; the run is no complete answer and counts as no attempt."""
    end: RunEnd | None = None
    message: str = ""
    answer: str = ""
    """The final message, hostile text."""
    thread: str | None = None
    tokens: Tokens = Tokens()
    resume_at: datetime | None = None
    delivery: Delivery | None = None

    @property
    def is_attempt(self) -> bool:
        """Whether it counts against a budget: it ended by itself or by our clock."""
        return self.end is not None and self.end not in NO_ATTEMPT
