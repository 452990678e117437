"""One kernel lock per workload below `<root>/locks`, with a note of who holds it.

Built by bootstrap, held by runtime for a whole tick. The lock ends with the process, even on
`kill -9`; its descriptor is not inherited, so a surviving child of a killed tick cannot hold it.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from controller.errors import LockedError
from controller.files import write_synced
from controller.ports.host import Holder

_NOTE = re.compile(
    r"pid (?P<pid>[0-9]{1,10}), "
    r"since (?P<since>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00), "
)


class FileLocks:
    """See `controller.ports.host.Lock`."""

    def __init__(self, root: Path) -> None:
        """`root` is `paths.root`."""
        self._folder = root / "locks"

    @contextmanager
    def hold(self, workload: str) -> Iterator[None]:
        """Hold the workload's lock; LockedError says who has it."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self._folder / f"{workload}.lock", timeout=0, mode=0o600)
        note = self._folder / f"{workload}.holder"
        try:
            lock.acquire()
        except Timeout as error:
            msg = f"{workload}: another instance is at work ({_holder(note)})"
            raise LockedError(msg) from error
        try:
            write_synced(note, _describe())
            yield
        finally:
            with suppress(OSError):
                note.unlink()
            lock.release()

    def holder(self, workload: str) -> Holder | None:
        """See `controller.ports.host.LockReader`: judged by the note, without taking the lock."""
        note = self._folder / f"{workload}.holder"
        try:
            text = note.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
        match = _NOTE.match(text)
        if match is None:
            return None
        since = datetime.fromisoformat(match["since"])
        return Holder(text=text, since=since) if _lives(int(match["pid"]), since) else None


def _lives(pid: int, since: datetime) -> bool:
    """Whether the process is there and is no younger one with the same number."""
    import psutil

    try:
        began = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
    return began <= since.timestamp() + 1


def _describe() -> str:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"pid {os.getpid()}, since {since}, {command}\n"


def _holder(note: Path) -> str:
    try:
        return note.read_text(encoding="utf-8", errors="replace").strip() or "who is not known"
    except OSError:
        return "who is not known"
