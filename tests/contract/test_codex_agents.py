"""What every agent runner promises: the fake, and the real Codex with a scripted model."""

import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controller.adapters.codex import CodexRunner
from controller.demo.model import (
    Cut,
    Failed,
    Hang,
    Incomplete,
    Match,
    Message,
    Refused,
    Scenario,
    ScriptedModel,
    Shell,
    Turn,
)
from controller.domain.values import Unseen
from controller.errors import AgentError
from controller.ports.agents import (
    AgentOrder,
    AgentRunner,
    CommandOrder,
    CommandResult,
)
from tests.contract.codex_bench import QUICK, Bench, lay_out
from tests.fakes.agents import FakeAgents, Play

LIMIT_ENDS = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)


class Stage(ABC):
    """Lets a test say what the agent does, whatever stands behind the port."""

    runner: AgentRunner

    @abstractmethod
    def cast(self, *plays: Play) -> None:
        """What the following runs do, in order; the last one is repeated."""

    @abstractmethod
    def will_print(self, command: str, exit_code: int | None, output: str) -> None:
        """What a command does; the real one needs no telling."""


class FakeStage(Stage):
    def __init__(self) -> None:
        self._plays: list[Play] = []
        self._commands: dict[str, CommandResult] = {}
        self.runner = FakeAgents(play=self._next, execute=self._execute)

    def cast(self, *plays: Play) -> None:
        self._plays = list(plays)

    def will_print(self, command: str, exit_code: int | None, output: str) -> None:
        self._commands[command] = CommandResult(exit_code=exit_code, output=output)

    def _next(self, _: AgentOrder) -> Play:
        return self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]

    def _execute(self, order: CommandOrder) -> CommandResult:
        return self._commands[order.command]


class RealStage(Stage):
    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._models: list[ScriptedModel] = []
        self.runner = CodexRunner(binary=None, codex_home=bench.home)

    def cast(self, *plays: Play) -> None:
        runs = tuple(_turns(play) for play in plays)
        model = ScriptedModel([Scenario(name="all", match=Match(), runs=runs)]).start()
        self._models.append(model)
        config = model.codex_config
        if any(play.end == "unreachable" for play in plays):
            self.close()
        self.runner = CodexRunner(
            binary=None if plays[0].end != "not-started" else self._bench.base / "none",
            codex_home=self._bench.home,
            extra_config=config,
            unreachable_after_s=0.2,
        )

    def will_print(self, command: str, exit_code: int | None, output: str) -> None:
        """Codex's sandbox runs it."""

    def close(self) -> None:
        while self._models:
            self._models.pop().stop()


def _turns(play: Play) -> tuple[Turn, ...]:
    writes = tuple(
        Shell(command=f"mkdir -p $(dirname {name}); printf %s {shlex.quote(content)} > {name}")
        for name, content in play.writes.items()
    )
    match play.end:
        case "usage-limit":
            stamp = play.resume_at and int(play.resume_at.timestamp())
            error = {"type": "usage_limit_reached", "message": "x", "resets_at": stamp}
            return (*writes, Refused(status=429, error=error))
        case "incomplete":
            return (*writes, Failed(failed="server_error"))
        case _:
            return (*writes, Hang(hang=600) if play.hangs else Message(message=play.says))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return lay_out(tmp_path)


@pytest.fixture(
    params=["fake", pytest.param("codex", marks=pytest.mark.needs("git", "codex", "sandbox"))]
)
def stage(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
        return
    real = RealStage(bench)
    yield real
    real.close()


def ignore(_: str) -> None:
    """For runs whose lines do not matter."""


def test_a_complete_run_has_the_answer_the_files_and_the_thread(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(writes={"new/日本.txt": "made"}, says="終わり"))
    result = stage.runner.run(bench.order(), ignore)
    assert result.end == "complete"
    assert result.last_message == "終わり"
    assert result.thread
    assert result.tokens.input > 0
    assert (bench.workspace / "new" / "日本.txt").read_text("utf-8") == "made"


def test_a_reviewer_cannot_write_and_its_answer_is_passed_on_as_it_is(
    stage: Stage, bench: Bench
) -> None:
    stage.cast(Play(writes={"new.txt": "made"}, says="sorry, no JSON"))
    schema = '{"type":"object","properties":{},"required":[],"additionalProperties":false}'
    result = stage.runner.run(bench.order(role="reviewer", schema_=schema), ignore)
    assert result.end == "complete"
    assert result.last_message == "sorry, no JSON"
    assert result.thread is None
    assert not (bench.checkout / "new.txt").exists()


def test_a_resumed_thread_counts_the_tokens_of_each_run_alone(stage: Stage, bench: Bench) -> None:
    stage.cast(Play())
    first = stage.runner.run(bench.order(name="1"), ignore)
    second = stage.runner.run(bench.order(name="2", thread=first.thread), ignore)
    third = stage.runner.run(bench.order(name="3", thread=first.thread), ignore)
    assert first.thread == second.thread == third.thread
    assert first.tokens == second.tokens == third.tokens


@pytest.mark.parametrize("says", ["", " \n"])
def test_an_empty_answer_is_no_answer(stage: Stage, bench: Bench, says: str) -> None:
    stage.cast(Play(says=says))
    assert stage.runner.run(bench.order(), ignore).end == "incomplete"


def test_a_failed_turn_is_an_attempt_and_keeps_the_tree(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(writes={"half.txt": "half"}, end="incomplete", message="oops"))
    result = stage.runner.run(bench.order(), ignore)
    assert result.end == "incomplete"
    assert result.message
    assert result.last_message == ""
    assert (bench.workspace / "half.txt").exists()


def test_a_usage_limit_says_when_it_ends(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(end="usage-limit", message="usage limit", resume_at=LIMIT_ENDS))
    result = stage.runner.run(bench.order(), ignore)
    assert result.end == "usage-limit"
    assert result.resume_at is not None
    assert result.resume_at.tzinfo is not None
    assert abs(result.resume_at - LIMIT_ENDS) < timedelta(minutes=1)


def test_a_usage_limit_without_a_time_has_none(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(end="usage-limit", message="usage limit"))
    result = stage.runner.run(bench.order(), ignore)
    assert (result.end, result.resume_at) == ("usage-limit", None)


def test_a_model_that_does_not_answer_is_unreachable(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(end="unreachable", message="no network"))
    assert stage.runner.run(bench.order(), ignore).end == "unreachable"


def test_a_missing_binary_starts_nothing(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(end="not-started", message="no such binary"))
    assert stage.runner.run(bench.order(), ignore).end == "not-started"


def test_the_clock_ends_a_run(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(hangs=True))
    assert stage.runner.run(bench.order(timeout_s=0.5), ignore).end == "timeout"


def test_silence_ends_a_run(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(hangs=True))
    assert stage.runner.run(bench.order(silence_s=0.5), ignore).end == "silent"


def test_stop_ends_what_runs_and_refuses_the_rest(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(hangs=True))
    runner = stage.runner
    assert runner.run(bench.order(), lambda _: runner.stop()).end == "stopped"
    assert runner.run(bench.order(), ignore).end == "stopped"
    with pytest.raises(AgentError, match="told to stop"):
        runner.command(bench.command("true"))


def test_lines_for_people_are_safe(stage: Stage, bench: Bench) -> None:
    stage.cast(Play(says="\x1b[2Jred\r\n\u202egnp\u3042" + "x" * 1000))
    lines: list[str] = []
    result = stage.runner.run(bench.order(), lines.append)
    assert result.last_message.startswith("\x1b[2J")
    assert any("\u3042" in line for line in lines)
    assert [
        line for line in lines if re.search("[\\x00-\\x1f\\x7f-\\x9f\u202a-\u202e]", line)
    ] == []
    assert max(map(len, lines)) <= 200


def test_a_command_tells_its_exit_code_and_output_in_order(stage: Stage, bench: Bench) -> None:
    command = "echo 一; echo two >&2; echo three; exit 3"
    stage.will_print(command, 3, "一\ntwo\nthree\n")
    result = stage.runner.command(bench.command(command))
    assert (result.exit_code, result.output) == (3, "一\ntwo\nthree\n")


def test_a_command_that_takes_too_long_has_no_exit_code(stage: Stage, bench: Bench) -> None:
    command = "echo begun; exec sleep 600"
    stage.will_print(command, None, "begun\n")
    result = stage.runner.command(bench.command(command, timeout_s=0.5))
    assert (result.exit_code, result.output) == (None, "begun\n")


def test_the_probe_passes_here(stage: Stage, bench: Bench) -> None:
    for writable in (True, False):
        assert stage.runner.probe(bench.confinement(writable=writable)) is None


def test_an_ended_run_leaves_no_stragglers(stage: Stage, bench: Bench) -> None:
    stage.cast(Play())
    stage.runner.run(bench.order(), ignore)
    assert stage.runner.end_stragglers(bench.runs / "1") == ()
    assert stage.runner.end_stragglers(bench.runs / "never") == ()


@pytest.mark.needs("git", "codex")
def test_the_real_probe_says_why_nothing_may_run(bench: Bench) -> None:
    refused = CodexRunner(binary=bench.base / "none", codex_home=bench.home).probe(
        bench.confinement()
    )
    assert isinstance(refused, Unseen)
    assert refused.code == "SandboxNotEnforced"
    assert "no such Codex binary" in refused.reason


@pytest.mark.needs("git", "codex", "sandbox")
def test_the_real_run_directory_keeps_the_whole_stream(bench: Bench) -> None:
    stage = RealStage(bench)
    stage.cast(Play(says="done"))
    stage.runner.run(bench.order(prompt="日本\x00\x1b"), ignore)
    stage.close()
    run = bench.runs / "1"
    kinds = [json.loads(line)["type"] for line in (run / "events.jsonl").read_text().splitlines()]
    assert kinds[0] == "thread.started"
    assert kinds[-1] == "turn.completed"
    assert (run / "last.txt").read_text("utf-8") == "done"
    assert (run / "prompt.txt").read_text("utf-8") == "日本\x00\x1b"
    assert json.loads((run / "process.json").read_text("utf-8"))["mark"]["pid"] > 1
    assert (run / "stderr.txt").exists()


@pytest.mark.needs("git", "codex", "sandbox")
def test_odd_prompts_reach_the_model(bench: Bench) -> None:
    with ScriptedModel([Scenario(name="all", turns=(Message(message="done"),))]) as model:
        runner = CodexRunner(binary=None, codex_home=bench.home, extra_config=model.codex_config)
        for prompt in ("review", "--help", "lone \ud83d", "長" * 200_000):
            assert runner.run(bench.order(prompt), ignore).end == "complete"
            assert model.requests[-1].prompt == prompt.encode(errors="replace").decode()
        assert runner.run(bench.order("x" * 1_100_000), ignore).end == "not-started"


@pytest.mark.needs("git", "codex", "sandbox")
def test_model_effort_and_schema_are_handed_over(bench: Bench) -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    with ScriptedModel([Scenario(name="all", turns=(Message(message="{}"),))]) as model:
        runner = CodexRunner(binary=None, codex_home=bench.home, extra_config=model.codex_config)
        order = bench.order(role="reviewer", effort="high", schema_=json.dumps(schema))
        assert runner.run(order, ignore).end == "complete"
        (request,) = model.requests
    assert (request.model, request.effort, request.role) == (QUICK, "high", "reviewer")
    assert request.format is not None
    assert request.format["schema"] == schema
    assert request.tools


@pytest.mark.needs("git", "codex", "sandbox")
def test_a_lost_thread_is_told_by_having_none(bench: Bench) -> None:
    with ScriptedModel([Scenario(name="all", turns=(Message(message="done"),))]) as model:
        runner = CodexRunner(binary=None, codex_home=bench.home, extra_config=model.codex_config)
        lost = runner.run(bench.order(thread="01a22edb-91ae-7912-a02e-1a3018003713"), ignore)
    assert (lost.end, lost.thread) == ("incomplete", None)
    assert "thread is gone" in lost.message


@pytest.mark.needs("git", "codex", "sandbox")
@pytest.mark.parametrize(
    ("turn", "end"),
    [
        (Refused(status=429, error={"type": "usage_not_included", "message": "x"}), "usage-limit"),
        (Refused(status=429, error={"type": "insufficient_quota", "message": "x"}), "usage-limit"),
        (Refused(status=401), "unreachable"),
        (Refused(status=500), "unreachable"),
        (Refused(status=503, error={"code": "server_is_overloaded"}), "unreachable"),
        (Refused(status=400), "incomplete"),
        (Failed(failed="context_length_exceeded"), "incomplete"),
        (Failed(failed="rate_limit_exceeded"), "usage-limit"),
        (Incomplete(incomplete="max_output_tokens"), "incomplete"),
        (Cut(cut=True), "incomplete"),
    ],
    ids=str,
)
def test_the_words_of_the_real_codex_are_understood(bench: Bench, turn: Turn, end: str) -> None:
    """A new release that words its errors otherwise fails here."""
    with ScriptedModel([Scenario(name="all", turns=(turn,))]) as model:
        runner = CodexRunner(binary=None, codex_home=bench.home, extra_config=model.codex_config)
        assert runner.run(bench.order(), ignore).end == end
