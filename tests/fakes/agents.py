"""An agent runner without Codex, under the same contract suite as the real one.

Simulations and tests of the runtime hand it in through the port. What an agent does is a `Play`,
chosen by a function of the order; nothing is ever started and no time passes.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from controller.domain.runs import RunEnd, Tokens
from controller.domain.text import safe_text
from controller.domain.values import Unseen, Value
from controller.errors import AgentError
from controller.ports.agents import (
    AgentOrder,
    AgentResult,
    CommandOrder,
    CommandResult,
    Confinement,
)


class Play(Value):
    """What one run does."""

    writes: Mapping[str, str] = {}
    """Files below the workspace; refused, like everything in the sandbox, when it is read-only."""
    says: str = "done"
    events: tuple[str, ...] = ()
    """Further lines for people."""
    end: RunEnd = "complete"
    message: str = "it answered"
    resume_at: datetime | None = None
    tokens: Tokens = Tokens(input=100, cached_input=40, output=20, reasoning=5)
    hangs: bool = False
    """Never ends by itself: only by the clock or by `stop`."""


def write_file(path: Path, content: str) -> None:
    """Write below the workspace for real; simulations pass a writer of their own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


class FakeAgents:
    """Plays instead of runs. `orders` and `commands` have everything that was asked."""

    def __init__(
        self,
        *,
        play: Callable[[AgentOrder], Play] = lambda _: Play(),
        execute: Callable[[CommandOrder], CommandResult] = lambda _: CommandResult(
            exit_code=0, output=""
        ),
        enforced: Callable[[Confinement], Unseen | None] = lambda _: None,
        write: Callable[[Path, str], None] = write_file,
    ) -> None:
        self.play = play
        self.execute = execute
        self.enforced = enforced
        self.write = write
        self.orders: list[AgentOrder] = []
        self.commands: list[CommandOrder] = []
        self.stragglers: dict[Path, tuple[str, ...]] = {}
        self._stopped = False

    def probe(self, confinement: Confinement) -> Unseen | None:
        return self.enforced(confinement)

    def run(self, order: AgentOrder, on_event: Callable[[str], None]) -> AgentResult:
        if self._is_stopped():
            return _ended("stopped", "toban was told to stop before it began")
        self.orders.append(order)
        play = self.play(order)
        if play.end == "not-started":
            return _ended(play.end, play.message)
        thread = order.thread or f"thread-{len(self.orders)}"
        for line in (f"thread {thread}", *play.events, f"says: {play.says}"):
            on_event(safe_text(line, limit=200))
        thread_kept = thread if order.role == "worker" else None
        if self._is_stopped():
            return _ended("stopped", "it was ended because toban was told to stop", thread_kept)
        if order.confinement.writable:
            for name, content in play.writes.items():
                self.write(order.confinement.workspace / name, content)
        if play.hangs:
            silent = order.silence_s is not None and order.silence_s < order.timeout_s
            return _ended("silent" if silent else "timeout", "it was ended", thread_kept)
        if play.end != "complete":
            return _ended(play.end, play.message, thread_kept, play.resume_at)
        if not play.says.strip():
            return _ended("incomplete", "it ended without a final message", thread_kept)
        return AgentResult(
            end="complete",
            message=play.message,
            last_message=play.says,
            thread=thread_kept,
            tokens=play.tokens,
        )

    def command(self, order: CommandOrder) -> CommandResult:
        if self._is_stopped():
            raise AgentError("toban was told to stop before the command began")
        self.commands.append(order)
        return self.execute(order)

    def end_stragglers(self, run_directory: Path) -> tuple[str, ...]:
        return self.stragglers.pop(run_directory, ())

    def stop(self) -> None:
        self._stopped = True

    def _is_stopped(self) -> bool:
        return self._stopped


def _ended(
    end: RunEnd, message: str, thread: str | None = None, resume_at: datetime | None = None
) -> AgentResult:
    return AgentResult(
        end=end,
        message=message,
        last_message="",
        thread=thread,
        tokens=Tokens(),
        resume_at=resume_at,
    )
