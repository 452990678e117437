"""One child process from start to gone: limits by our own clock, output taken as it comes.

Used by `controller.adapters.codex.runner`. Returns only when the whole process tree is gone. Never
interprets the output; the caller's `on_output` may ask for an end.
"""

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal

from controller.adapters.codex.launch import Launch
from controller.adapters.codex.tree import (
    TERM_GRACE_S,
    Adopted,
    ProcessMark,
    descendants,
    kill_all,
    mark,
    subreaper,
    wait_gone,
)
from controller.domain.values import Value

TICK_S = 0.1
CHUNK = 1024 * 1024
DRAIN_S = 2.0
"""Bytes still in the pipe after the end are read for so long."""

type Ended = Literal["itself", "timeout", "silent", "stopped", "asked", "flood"]


class Limits(Value):
    """When a process is ended by us; seconds and bytes."""

    timeout_s: float
    silence_s: float | None = None
    max_output: int = 2 * 1024**3


class Exit(Value):
    """How the process ended; its tree is gone."""

    ended: Ended
    code: int
    """Exit code, negative for a signal."""


class Supervisor:
    """Runs one process at a time; `stop` ends it and refuses all later ones."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End what runs within the next tick of the clock. Safe in a signal handler."""
        self._stop.set()

    def run(
        self,
        launch: Launch,
        *,
        stdin: Path | None,
        stderr: Path | None,
        limits: Limits,
        on_start: Callable[[ProcessMark], None],
        on_output: Callable[[bytes], bool],
        on_tick: Callable[[], bool] = lambda: False,
    ) -> Exit:
        """Start and see it end. `stderr` None = together with stdout.

        `on_output` and `on_tick` return True to have the process ended (`asked`). Raises OSError
        when it cannot be started, and whatever a callback raised, with the tree gone by then.
        """
        with subreaper():
            adopted = Adopted()
            process = _start(launch, stdin=stdin, stderr=stderr)
            watch = _Watch(process, limits, self._stop)
            with watch.out:
                try:
                    marked = mark(process.pid)
                    if marked is not None:
                        on_start(marked)
                    ended = watch.until_end(on_output, on_tick)
                finally:
                    _end_tree(process, adopted)
                watch.drain(on_output)
            return Exit(ended=ended, code=process.returncode)


def _start(launch: Launch, *, stdin: Path | None, stderr: Path | None) -> subprocess.Popen[bytes]:
    given = os.open(stdin or os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with (stderr or Path(os.devnull)).open("wb") as errors:
            return subprocess.Popen(
                launch.argv,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors if stderr else subprocess.STDOUT,
                cwd=launch.folder,
                env=launch.environment,
                start_new_session=True,
                bufsize=0,
            )
    finally:
        os.close(given)


def _end_tree(process: subprocess.Popen[bytes], adopted: Adopted) -> None:
    """End whatever is left of the tree and collect it. Polite to the head, not to the rest."""
    running = process.poll() is None  # a collected pid may already be somebody else's
    heads = [process.pid] if running else []
    tree = descendants([*heads, *adopted.pids(run=process.pid)])
    if running:
        process.terminate()
        head = mark(process.pid)
        wait_gone([head] if head else [], TERM_GRACE_S)
        if process.poll() is None:
            process.kill()
        process.wait()
    left = {one.pid: one for one in tree if one.pid != process.pid}
    for one in descendants(adopted.pids(run=process.pid)):
        left[one.pid] = one
    wait_gone(left.values(), TICK_S)
    kill_all(left.values())
    adopted.reap(run=process.pid)


class _Watch:
    """The loop around one process."""

    def __init__(
        self, process: subprocess.Popen[bytes], limits: Limits, stop: threading.Event
    ) -> None:
        if process.stdout is None:
            raise AssertionError("stdout is a pipe")
        self._process = process
        self.out: IO[bytes] = process.stdout
        os.set_blocking(self.out.fileno(), False)
        self._limits = limits
        self._stop = stop
        self._taken = 0

    def until_end(self, on_output: Callable[[bytes], bool], on_tick: Callable[[], bool]) -> Ended:
        """Take output until the process ends or must be ended; says which."""
        begin = last = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self.out, selectors.EVENT_READ)
            while True:
                if selector.get_map():
                    ready = bool(selector.select(TICK_S))
                else:
                    ready = False
                    self._wait_tick()
                chunk = self._read() if ready else None
                now = time.monotonic()
                if chunk:
                    last = now
                    if on_output(chunk):
                        return "asked"
                elif chunk == b"":
                    selector.unregister(self.out)
                ended = self._verdict(now - begin, now - last)
                if ended is not None:
                    return ended
                if on_tick():
                    return "asked"

    def _verdict(self, age: float, quiet: float) -> Ended | None:
        if self._stop.is_set():
            return "stopped"
        if self._process.poll() is not None:
            return "itself"
        if age > self._limits.timeout_s:
            return "timeout"
        if self._limits.silence_s is not None and quiet > self._limits.silence_s:
            return "silent"
        return "flood" if self._taken > self._limits.max_output else None

    def _wait_tick(self) -> None:
        try:
            self._process.wait(TICK_S)
        except subprocess.TimeoutExpired:
            return

    def _read(self) -> bytes | None:
        try:
            chunk = os.read(self.out.fileno(), CHUNK)
        except BlockingIOError:
            return None
        self._taken += len(chunk)
        return chunk

    def drain(self, on_output: Callable[[bytes], bool]) -> None:
        """Take what is left in the pipe after the end."""
        until = time.monotonic() + DRAIN_S
        while time.monotonic() < until:
            chunk = self._read()
            if not chunk:
                return
            on_output(chunk)
