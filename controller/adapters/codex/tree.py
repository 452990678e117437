"""Process trees: who belongs to a run, and ending all of it.

Used while a run is supervised and for what a killed tick left behind. Linux only (/proc). Ends only
what can be proven to belong to the run: by descent, by adoption or by pid plus start time.
"""

import ctypes
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from controller.domain.values import Value
from controller.errors import AgentError

PR_SET_CHILD_SUBREAPER = 36
TERM_GRACE_S = 5.0
KILL_GRACE_S = 10.0


class ProcessMark(Value):
    """What proves that a process is still the one that was started."""

    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat: clock ticks between boot and start, deaf to clock changes."""
    boot: str
    """The kernel's id of this boot."""


def boot_id() -> str:
    """The kernel's id of the running boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state (field 3) on; None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def mark(pid: int) -> ProcessMark | None:
    """The mark of a process, None when it does not exist."""
    fields = _stat(pid)
    if fields is None:
        return None
    return ProcessMark(pid=pid, start_ticks=int(fields[19]), boot=boot_id())


def is_alive(marked: ProcessMark) -> bool:
    """Whether exactly this process runs; a zombie or another one under its pid does not."""
    fields = _stat(marked.pid)
    return (
        fields is not None
        and fields[0] not in ("Z", "X")
        and int(fields[19]) == marked.start_ticks
        and marked.boot == boot_id()
    )


@contextmanager
def subreaper() -> Iterator[None]:
    """Adopt orphans of our children meanwhile, so that none escapes to pid 1 unseen."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise AgentError(f"cannot become a subreaper: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class Adopted:
    """Tells orphans that we inherited from children that other code of this process started.

    An orphan of a run has a session of its own (the run was started in one); our other children
    share our session or were there before the run.
    """

    def __init__(self) -> None:
        self._before = {child.pid for child in psutil.Process().children()}
        self._session = os.getsid(0)

    def pids(self, *, run: int) -> list[int]:
        """Children of ours that came from the tree of process `run`, zombies too."""
        return [
            child.pid
            for child in psutil.Process().children()
            if child.pid != run and child.pid not in self._before and self._foreign(child.pid)
        ]

    def _foreign(self, pid: int) -> bool:
        fields = _stat(pid)
        return fields is not None and int(fields[3]) != self._session

    def reap(self, *, run: int) -> None:
        """Collect dead orphans, so that none stays a zombie."""
        for pid in self.pids(run=run):
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def descendants(pids: Iterable[int]) -> list[ProcessMark]:
    """The living processes with these pids and everything below them."""
    found: dict[int, ProcessMark] = {}
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            top = psutil.Process(pid)
            for process in (top, *top.children(recursive=True)):
                marked = mark(process.pid)
                if marked is not None and is_alive(marked):
                    found[process.pid] = marked
    return list(found.values())


def signal_all(marked: Iterable[ProcessMark], number: signal.Signals) -> None:
    """Signal those of them that still run. A process of another user is left alone."""
    for one in marked:
        with _watched(one) as handle:
            if handle is not None:
                with suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(handle, number)


@contextmanager
def _watched(marked: ProcessMark) -> Iterator[int | None]:
    """A pidfd of exactly this process, None when it does not run any more."""
    try:
        handle = os.pidfd_open(marked.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        yield handle if is_alive(marked) else None
    finally:
        os.close(handle)


def wait_gone(marked: Iterable[ProcessMark], seconds: float) -> list[ProcessMark]:
    """Wait until none of them runs; what still runs after `seconds`."""
    until = time.monotonic() + seconds
    left: list[ProcessMark] = []
    for one in marked:
        with _watched(one) as handle:
            if handle is not None:
                poll = select.poll()
                poll.register(handle, select.POLLIN)  # readable once the process has ended
                if not poll.poll(max(until - time.monotonic(), 0) * 1000):
                    left.append(one)
    return left


def end_all(marked: Iterable[ProcessMark]) -> None:
    """SIGTERM, 5 s, SIGKILL for a tree that is not our child. AgentError when it outlives that."""
    first = list(marked)
    signal_all(first, signal.SIGTERM)
    wait_gone(first, TERM_GRACE_S)
    rest = {one.pid: one for one in (*first, *descendants(one.pid for one in first))}
    kill_all(rest.values())


def kill_all(marked: Iterable[ProcessMark]) -> None:
    """SIGKILL and see them gone. Raises AgentError naming what cannot be ended."""
    all_of_them = list(marked)
    signal_all(all_of_them, signal.SIGKILL)
    left = wait_gone(all_of_them, KILL_GRACE_S)
    if left:
        pids = ", ".join(str(one.pid) for one in left)
        raise AgentError(f"processes that cannot be ended: {pids}")
