"""What a scripted model says: scenarios chosen by a request's prompt, and their turns.

Read by `controller.demo.model.server`, written by tests and by the demo (as values or as JSON).
Pure: it decides which turn comes next from the history that Codex resends, and does no I/O.
"""

import re
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from controller.domain.values import Value

type ModelRole = Literal["worker", "reviewer"]
"""A request that asks for a JSON schema is a reviewer's, every other one a worker's."""


class Usage(Value):
    """Tokens that one model call reports."""

    input: int = 100
    cached: int = 40
    output: int = 20
    reasoning: int = 5


class _Turn(Value):
    """What every turn may carry."""

    delay: float = 0.0
    """Seconds before the answer begins."""
    usage: Usage = Usage()
    times: int | None = None
    """For turns that leave no trace in the history (errors): so often, then the next turn."""


class Shell(_Turn):
    """Have Codex run a command line."""

    command: str
    wait_ms: int = 10_000
    """How long Codex waits before it hands back a still running command."""


class Patch(_Turn):
    """Have Codex apply a patch (catalogued models only)."""

    patch: str


class Message(_Turn):
    """Say something; a run ends with it. An object is sent as its JSON text."""

    message: str | dict[str, Any]


class Refused(_Turn):
    """Answer with an HTTP status and a JSON body instead of a stream."""

    status: int
    error: dict[str, Any] = Field(default_factory=lambda: {"message": "refused by the script"})


class Failed(_Turn):
    """End the stream with `response.failed`."""

    failed: str
    """The error's code, for instance `rate_limit_exceeded`."""
    text: str = "failed by the script"


class Incomplete(_Turn):
    """End the stream with `response.incomplete`."""

    incomplete: str
    """The reason, for instance `max_output_tokens`."""


class Cut(_Turn):
    """Start a stream and close the connection in the middle."""

    cut: Literal[True]


class Hang(_Turn):
    """Start a stream and say nothing for so many seconds, then close it."""

    hang: float


type Turn = Shell | Patch | Message | Refused | Failed | Incomplete | Cut | Hang


class Match(Value):
    """When a scenario is meant; every part that is given must hold."""

    contains: str | None = None
    """Plain text somewhere in the prompt."""
    regex: str | None = None
    """A regular expression found somewhere in the prompt."""
    role: ModelRole | None = None
    model: str | None = None

    def holds(self, prompt: str, role: ModelRole, model: str) -> bool:
        """Whether a request with this prompt, role and model slug is meant."""
        return (
            (self.contains is None or self.contains in prompt)
            and (self.regex is None or re.search(self.regex, prompt) is not None)
            and self.role in (None, role)
            and self.model in (None, model)
        )


class Scenario(Value):
    """Turns for the runs of one kind: the n-th run gets the n-th list, later ones the last."""

    name: str
    match: Match = Match()
    runs: tuple[tuple[Turn, ...], ...] = ()
    turns: tuple[Turn, ...] = ()
    """Short for one list of turns that every run gets."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.runs) == bool(self.turns):
            msg = f"scenario {self.name!r} needs either 'runs' or 'turns'"
            raise ValueError(msg)
        return self

    def of_run(self, number: int) -> tuple[Turn, ...]:
        """The turns of run `number`, counted from 0."""
        lists = self.runs or (self.turns,)
        return lists[min(number, len(lists) - 1)]


class Script(Value):
    """The whole script; the first scenario that matches answers."""

    scenarios: tuple[Scenario, ...]

    def choose(self, prompt: str, role: ModelRole, model: str) -> Scenario | None:
        """The scenario for a request, None when the script knows nothing about it."""
        return next((s for s in self.scenarios if s.match.holds(prompt, role, model)), None)
