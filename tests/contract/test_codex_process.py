"""Ending process trees: stubborn ones, orphans, and what a killed tick left running."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from controller.adapters.codex import CodexRunner
from controller.adapters.codex.files import ProcessRecord, write_synced
from controller.adapters.codex.launch import Launch
from controller.adapters.codex.supervise import Exit, Limits, Supervisor
from controller.adapters.codex.tree import ProcessMark, boot_id, is_alive, mark, wait_gone
from controller.demo.model import Hang, Message, Scenario, ScriptedModel, Shell
from tests.contract.codex_bench import Bench, lay_out

STUBBORN = "trap '' TERM INT HUP; echo begun; while :; do sleep 600; done"


def supervise(
    folder: Path, script: str, *, stop_at: bytes | None = None, timeout_s: float = 60
) -> tuple[Exit, bytes]:
    supervisor = Supervisor()
    output = bytearray()

    def take(chunk: bytes) -> bool:
        output.extend(chunk)
        return stop_at is not None and stop_at in output

    launch = Launch(
        argv=("/bin/sh", "-c", script),
        environment={"PATH": os.environ["PATH"], "IN": str(folder)},
        folder=folder,
    )
    left = supervisor.run(
        launch,
        stdin=None,
        stderr=None,
        limits=Limits(timeout_s=timeout_s),
        on_start=lambda _: None,
        on_output=take,
    )
    return left, bytes(output)


def alive_in(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("IN") == str(folder):
                found.append(str(process))
        except psutil.Error:
            continue
    return found


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    left, output = supervise(tmp_path, "printf 'a'; printf 'b' >&2; exit 5")
    assert (left.ended, left.code, output) == ("itself", 5, b"ab")


def test_all_output_of_a_quick_process_is_taken(tmp_path: Path) -> None:
    left, output = supervise(tmp_path, "head -c 3000000 /dev/zero")
    assert (left.code, len(output)) == (0, 3_000_000)


def test_a_closed_stdout_is_not_the_end(tmp_path: Path) -> None:
    left, _ = supervise(tmp_path, "exec >&- 2>&-; sleep 0.3; exit 4")
    assert (left.ended, left.code) == ("itself", 4)


def test_a_stubborn_tree_is_killed(tmp_path: Path) -> None:
    script = f'setsid sh -c "{STUBBORN}" & sh -c "{STUBBORN}" & {STUBBORN}'
    left, output = supervise(tmp_path, script, timeout_s=0.5)
    assert (left.ended, left.code) == ("timeout", -signal.SIGKILL)
    assert output.count(b"begun") == 3
    assert alive_in(tmp_path) == []


def test_an_orphan_is_ended_and_collected(tmp_path: Path) -> None:
    """Its parent is gone and it has a session of its own: only adoption finds it."""
    script = f'(setsid sh -c "{STUBBORN}" &) ; sleep 0.2; exit 0'
    left, output = supervise(tmp_path, script)
    assert (left.ended, left.code) == ("itself", 0)
    assert b"begun" in output
    assert alive_in(tmp_path) == []
    zombies = [c for c in psutil.Process().children() if c.status() == psutil.STATUS_ZOMBIE]
    assert zombies == []


def test_our_other_children_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as before:
        try:
            supervise(tmp_path, "(setsid sleep 600 &); exit 0")
            assert before.poll() is None
        finally:
            before.kill()


def test_an_interrupt_ends_the_tree_and_is_passed_on(tmp_path: Path) -> None:
    def interrupt(_: bytes) -> bool:
        raise KeyboardInterrupt

    launch = Launch(
        argv=("/bin/sh", "-c", "echo x; sleep 600"),
        environment={"IN": str(tmp_path)},
        folder=tmp_path,
    )
    with pytest.raises(KeyboardInterrupt):
        Supervisor().run(
            launch,
            stdin=None,
            stderr=None,
            limits=Limits(timeout_s=60),
            on_start=lambda _: None,
            on_output=interrupt,
        )
    assert alive_in(tmp_path) == []


def test_a_flood_is_ended(tmp_path: Path) -> None:
    launch = Launch(argv=("/bin/cat", "/dev/zero"), environment={}, folder=tmp_path)
    left = Supervisor().run(
        launch,
        stdin=None,
        stderr=None,
        limits=Limits(timeout_s=60, max_output=10_000_000),
        on_start=lambda _: None,
        on_output=lambda _: False,
    )
    assert left.ended == "flood"


def test_a_mark_is_one_process_of_one_boot() -> None:
    own = mark(os.getpid())
    assert own is not None
    assert is_alive(own)
    assert not is_alive(own.model_copy(update={"start_ticks": own.start_ticks + 1}))
    assert not is_alive(own.model_copy(update={"boot": "another"}))
    assert mark(2**22 + 1) is None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return lay_out(tmp_path)


TICK = """
import sys
from pathlib import Path
from controller.adapters.codex import CodexRunner
from controller.ports.agents import AgentOrder
order = AgentOrder.model_validate_json(Path(sys.argv[1]).read_text("utf-8"))
runner = CodexRunner(binary=None, codex_home=Path(sys.argv[2]), extra_config=tuple(sys.argv[3:]))
runner.run(order, lambda line: print(line, flush=True))
"""


@pytest.fixture
def killed_tick(bench: Bench) -> Iterator[ProcessMark]:
    """A tick that was killed while its agent ran a command."""
    turns = (Shell(command="mkdir -p .agents; echo up; exec sleep 600"), Message(message="done"))
    order = bench.base / "order.json"
    order.write_text(bench.order().model_dump_json(), encoding="utf-8")
    with ScriptedModel([Scenario(name="all", turns=turns)]) as model:
        argv = [sys.executable, "-c", TICK, str(order), str(bench.home), *model.codex_config]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as tick:
            assert tick.stdout is not None
            for line in tick.stdout:
                if line.startswith("$ "):
                    break
            tick.kill()
            tick.wait()
        record = ProcessRecord.model_validate_json((bench.runs / "1" / "process.json").read_text())
        yield record.mark


@pytest.mark.needs("git", "codex", "sandbox")
def test_what_a_killed_tick_left_is_ended(bench: Bench, killed_tick: ProcessMark) -> None:
    assert is_alive(killed_tick)
    runner = CodexRunner(binary=None, codex_home=bench.home)
    ended = runner.end_stragglers(bench.runs / "1")
    assert any(f"process {killed_tick.pid}:" in line for line in ended)
    assert wait_gone([killed_tick], 0) == []
    assert runner.end_stragglers(bench.runs / "1") == ()
    assert sorted(path.name for path in bench.workspace.iterdir()) == [".git", "f.txt"]


@pytest.mark.needs("git", "codex", "sandbox")
def test_stragglers_are_found_without_a_record(bench: Bench, killed_tick: ProcessMark) -> None:
    (bench.runs / "1" / "process.json").unlink()
    CodexRunner(binary=None, codex_home=bench.home).end_stragglers(bench.runs / "1")
    assert not is_alive(killed_tick)


def test_a_pid_that_is_somebody_elses_now_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as innocent:
        try:
            stale = ProcessMark(pid=innocent.pid, start_ticks=1, boot=boot_id())
            record = ProcessRecord(mark=stale).model_dump_json()
            write_synced(tmp_path / "process.json", record.encode())
            runner = CodexRunner(binary=None, codex_home=tmp_path)
            assert runner.end_stragglers(tmp_path) == ()
            (tmp_path / "process.json").write_text("{torn", encoding="ascii")
            assert runner.end_stragglers(tmp_path) == ()
            assert innocent.poll() is None
        finally:
            innocent.kill()


@pytest.mark.needs("git", "codex", "sandbox")
def test_folders_of_the_user_stay_and_those_of_the_sandbox_go(bench: Bench) -> None:
    (bench.workspace / ".agents").mkdir()
    turns = (Shell(command="sleep 600", wait_ms=100), Hang(hang=600))
    with ScriptedModel([Scenario(name="all", turns=turns)]) as model:
        runner = CodexRunner(binary=None, codex_home=bench.home, extra_config=model.codex_config)
        ended = runner.run(bench.order(timeout_s=1.5), lambda _: None)
    assert ended.end == "timeout"
    assert sorted(path.name for path in bench.workspace.iterdir()) == [".agents", ".git", "f.txt"]
