"""The agent runner on the real Codex: agents by `codex exec`, commands by `codex sandbox`.

Made by `bootstrap`, called by `controller.runtime`. Never talks to the forge, holds no credential
of ours, and returns only when everything that it started is gone.
"""

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import codex_cli_bin  # type: ignore[import-untyped]  # no stubs

from controller.adapters.codex.events import Transcript
from controller.adapters.codex.files import (
    PROCESS,
    ProcessRecord,
    absent_mount_points,
    read_tail,
    remove_empty,
    remove_mount_lists,
    write_synced,
)
from controller.adapters.codex.launch import Launch, Launcher, Places
from controller.adapters.codex.probe import Probe
from controller.adapters.codex.stragglers import end_stragglers
from controller.adapters.codex.supervise import Exit, Limits, Supervisor
from controller.adapters.codex.tree import ProcessMark
from controller.adapters.codex.usage import EVENTS, subtract, used_before
from controller.adapters.codex.verdict import Evidence, Judgement, judge
from controller.domain.runs import Tokens
from controller.domain.text import safe_text
from controller.domain.values import Unseen
from controller.errors import AgentError
from controller.ports.agents import (
    AgentOrder,
    AgentResult,
    CommandOrder,
    CommandResult,
    Confinement,
)

MAX_PROMPT = 1_000_000
"""Codex refuses a prompt of more than 1,048,576 characters."""
MAX_ANSWER = 1024 * 1024
OUTPUT_TAIL = 64 * 1024
STDERR_TAIL = 16 * 1024
UNREACHABLE_AFTER_S = 60.0
TOOL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def local_now() -> datetime:
    """The present time in the host's time zone, in which Codex names the end of a limit."""
    return datetime.now().astimezone()


class CodexRunner:
    """Runs agents and commands one at a time. After `stop` nothing is started any more."""

    def __init__(
        self,
        *,
        binary: Path | None,
        codex_home: Path,
        extra_config: tuple[str, ...] = (),
        environment: Mapping[str, str] = os.environ,
        tool_path: str = TOOL_PATH,
        unreachable_after_s: float = UNREACHABLE_AFTER_S,
        clock: Callable[[], datetime] = local_now,
    ) -> None:
        """Take the settings; nothing is started or checked but `extra_config`.

        `binary` None = the one of the package openai-codex-cli-bin. `extra_config` are further
        `-c` values (`[agent] codex_config`); one that would open the confinement raises
        ConfigError. `environment` is toban's own, from which only TZ, proxies, CA files and the
        variables named by `env_key` reach Codex. `tool_path` is the PATH of what Codex runs.
        """
        self._binary = binary or codex_cli_bin.bundled_codex_path()
        self._home = codex_home.expanduser().absolute()
        self._launcher = Launcher(
            binary=self._binary,
            codex_home=self._home,
            extra_config=extra_config,
            environment=environment,
            tool_path=tool_path,
        )
        self._unreachable_after_s = unreachable_after_s
        self._clock = clock
        self._supervisor = Supervisor()

    def probe(self, confinement: Confinement) -> Unseen | None:
        """See the port: try for real what the sandbox must refuse."""
        try:
            return Probe(confinement, codex_home=self._home).verdict(self.command)
        except (AgentError, OSError) as error:
            return Probe.unseen(str(error))

    def run(self, order: AgentOrder, on_event: Callable[[str], None]) -> AgentResult:
        """See the port. Raises AgentError when the tree cannot be ended."""
        if self._supervisor.stopped:
            return _not_run("stopped", "toban was told to stop before it began")
        if len(order.prompt) > MAX_PROMPT:
            return _not_run("not-started", f"its prompt is longer than {MAX_PROMPT} characters")
        places = Places(run=order.run_directory, scratch=order.confinement.scratch)
        transcript = Transcript(workspace=order.confinement.workspace)
        try:
            launch = self._prepare_agent(order, places)
        except (OSError, AgentError) as error:
            return _not_run("not-started", f"codex could not be started: {error}")
        try:
            left = self._supervise_agent(order, places, launch, transcript, on_event)
        except OSError as error:  # the binary, or a full disk while it ran: no attempt either
            return _not_run("not-started", f"codex could not be run: {error}")
        return self._result(order, places, transcript, left)

    def command(self, order: CommandOrder) -> CommandResult:
        """See the port. Raises AgentError when it could not be run, or when `stop` ended it."""
        if self._supervisor.stopped:
            raise AgentError("toban was told to stop before the command began")
        places = Places(run=order.run_directory, scratch=order.confinement.scratch)
        tail = bytearray()

        def take(chunk: bytes) -> bool:
            tail.extend(chunk)
            del tail[:-OUTPUT_TAIL]
            return False

        try:
            self._prepare(places, order.confinement.workspace)
            places.codex_home.mkdir(exist_ok=True, mode=0o700)
            launch = self._launcher.command(order.confinement, places, order.command)
            limits = Limits(timeout_s=order.timeout_s)
            left = self._supervise(
                places, launch, order.confinement.workspace, limits, on_output=take
            )
        except OSError as error:
            raise AgentError(f"the command could not be started: {error}") from error
        if left.ended == "stopped":
            raise AgentError("the command was ended because toban was told to stop")
        return CommandResult(
            exit_code=left.code if left.ended == "itself" else None,
            output=tail.decode("utf-8", errors="replace"),
        )

    def end_stragglers(self, run_directory: Path) -> tuple[str, ...]:
        """See the port: what was ended, one safe line each."""
        return end_stragglers(run_directory)

    def stop(self) -> None:
        """End what runs; safe in a signal handler. All later starts are refused."""
        self._supervisor.stop()

    def _prepare_agent(self, order: AgentOrder, places: Places) -> Launch:
        self._prepare(places, order.confinement.workspace)
        # A lone surrogate in an issue's text must not hold the item for ever.
        (places.run / "prompt.txt").write_bytes(order.prompt.encode(errors="replace"))
        if order.schema_ is not None:
            (places.run / "schema.json").write_text(order.schema_, encoding="utf-8")
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._launcher.agent(order, places)

    def _prepare(self, places: Places, workspace: Path) -> None:
        if not self._binary.is_file():
            raise AgentError(f"{self._binary}: no such Codex binary ([agent] codex)")
        if not places.run.is_dir():
            raise AgentError(f"{places.run}: the run directory does not exist")
        if not workspace.is_dir():
            raise AgentError(f"{workspace}: the workspace does not exist")
        places.scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_mount_lists(places.scratch)
        places.private.mkdir(exist_ok=True, mode=0o700)
        (places.run / "last.txt").unlink(missing_ok=True)

    def _supervise(
        self,
        places: Places,
        launch: Launch,
        workspace: Path,
        limits: Limits,
        *,
        on_output: Callable[[bytes], bool],
        on_tick: Callable[[], bool] = lambda: False,
        agent: bool = False,
    ) -> Exit:
        """Supervise one process with its record on disk, and tidy up behind it."""
        absent = absent_mount_points(workspace)

        def record(marked: ProcessMark) -> None:
            text = ProcessRecord(mark=marked, mount_points=absent).model_dump_json()
            write_synced(places.run / PROCESS, text.encode())

        try:
            return self._supervisor.run(
                launch,
                stdin=places.run / "prompt.txt" if agent else None,
                stderr=places.run / "stderr.txt" if agent else None,
                limits=limits,
                on_start=record,
                on_output=on_output,
                on_tick=on_tick,
            )
        finally:
            remove_empty(absent)

    def _supervise_agent(
        self,
        order: AgentOrder,
        places: Places,
        launch: Launch,
        transcript: Transcript,
        on_event: Callable[[str], None],
    ) -> Exit:
        waiting_since: float | None = None
        with (places.run / EVENTS).open("wb") as events:

            def take(chunk: bytes) -> bool:
                events.write(chunk)
                events.flush()
                for line in transcript.feed(chunk):
                    on_event(line)
                return False

            def tick() -> bool:
                nonlocal waiting_since
                if not transcript.waiting:
                    waiting_since = None
                    return False
                now = time.monotonic()
                waiting_since = waiting_since or now
                return now - waiting_since >= self._unreachable_after_s

            limits = Limits(timeout_s=order.timeout_s, silence_s=order.silence_s)
            return self._supervise(
                places,
                launch,
                order.confinement.workspace,
                limits,
                on_output=take,
                on_tick=tick,
                agent=True,
            )

    def _result(
        self, order: AgentOrder, places: Places, transcript: Transcript, left: Exit
    ) -> AgentResult:
        last = read_tail(places.run / "last.txt", MAX_ANSWER) or transcript.last_message
        judgement: Judgement = judge(
            Evidence(
                ended=left.ended,
                code=left.code,
                completed=transcript.completed,
                failure=transcript.failure,
                last_error=transcript.last_error,
                last_message=last,
                started=transcript.thread is not None,
                stderr=read_tail(places.run / "stderr.txt", STDERR_TAIL),
            ),
            now=self._clock(),
        )
        thread = transcript.thread if order.role == "worker" else None
        tokens = transcript.usage
        if thread is not None and transcript.completed:
            tokens = subtract(tokens, used_before(order.run_directory, thread))
        return AgentResult(
            end=judgement.end,
            message=judgement.message,
            last_message=last[-MAX_ANSWER:],
            thread=thread,
            tokens=tokens,
            resume_at=judgement.resume_at,
        )


def _not_run(end: str, message: str) -> AgentResult:
    return AgentResult.model_validate(
        {
            "end": end,
            "message": safe_text(message, limit=400),
            "last_message": "",
            "thread": None,
            "tokens": Tokens(),
        }
    )
