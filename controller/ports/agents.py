"""What runtime needs of an agent runner: probe the sandbox, run one agent, run one command.

Implemented by `controller.adapters.codex`; called by `controller.runtime` only. An implementation
never talks to the forge, never reads a credential of ours, and never decides a transition.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from controller.domain.runs import RunEnd, Tokens
from controller.domain.values import Unseen, Value

__all__ = [
    "AgentOrder",
    "AgentResult",
    "AgentRole",
    "AgentRunner",
    "CommandOrder",
    "CommandResult",
    "Confinement",
    "RunEnd",
    "Tokens",
]

type AgentRole = Literal["worker", "reviewer"]


class Confinement(Value):
    """What a sandboxed process may see of the host. Everything not named here is read-only.

    The implementation denies reading of everything below `root` except `workspace`, `git_data`
    and `scratch`, and of every path in `secrets`, also as root (decisions 15).
    """

    root: Path
    """`paths.root`: other items' trees, state and locks live below it."""
    workspace: Path
    """Current directory of the process: writable for a worker, read-only for a reviewer."""
    git_data: Path | None
    """The bare repository behind the workspace (readable, never writable), None without git."""
    scratch: Path
    """Writable HOME and TMPDIR of the process; created by the implementation."""
    secrets: tuple[Path, ...]
    """Files and folders that must be unreadable although they lie outside `root`."""
    writable: bool
    """Whether `workspace` itself may be written."""
    network: bool = False


class AgentOrder(Value):
    """One run to be made."""

    run_directory: Path
    """Made by the caller before; gets events.jsonl, stderr.txt, last.txt and process.json."""
    role: AgentRole
    confinement: Confinement
    model: str
    effort: str
    timeout_s: float
    silence_s: float | None
    """No event for so long = stuck, None = no such limit."""
    prompt: str
    thread: str | None = None
    """Thread to resume, None for a new one. A reviewer never resumes."""
    schema_: str | None = None
    """JSON schema text of the final message, None for free text."""


class AgentResult(Value):
    """How a run ended. The process tree is gone when this value exists."""

    end: RunEnd
    message: str
    """One safe sentence: why it ended so."""
    last_message: str
    """The agent's final message, hostile text; empty when there is none."""
    thread: str | None
    tokens: Tokens
    resume_at: datetime | None = None
    """End of a usage limit where the answer named one, with its time zone."""


class CommandOrder(Value):
    """One command line of the configuration (prepare, verify), run by `sh -c` in the sandbox."""

    run_directory: Path
    confinement: Confinement
    command: str
    timeout_s: float


class CommandResult(Value):
    """How a sandboxed command ended; its process tree is gone."""

    exit_code: int | None
    """None when it was ended by our clock."""
    output: str
    """stdout and stderr in order, hostile text, the last 64 KiB."""


class AgentRunner(Protocol):
    """Runs agents and commands in a sandbox, one at a time, and ends what it started."""

    def probe(self, confinement: Confinement) -> Unseen | None:
        """Check for real that the sandbox is enforced: outside not writable, canary unreadable.

        None when it is enforced; otherwise the reason. Nothing may run without a good probe.
        """

    def run(self, order: AgentOrder, on_event: Callable[[str], None]) -> AgentResult:
        """Run one agent to its end. `on_event` gets one safe line per event for people."""

    def command(self, order: CommandOrder) -> CommandResult:
        """Run one command to its end in the same sandbox as a worker's tools."""

    def end_stragglers(self, run_directory: Path) -> tuple[str, ...]:
        """End what a killed tick left running (recorded pid and start time); say what was ended."""

    def stop(self) -> None:
        """End the running process tree now (called from a signal handler)."""
