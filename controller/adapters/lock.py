"""One kernel lock per workload below `<root>/locks`, with a note of who holds it.

Built by bootstrap, held by runtime for a whole tick. The lock ends with the process, even on
`kill -9`; its descriptor is not inherited, so a surviving child of a killed tick cannot hold it.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from controller.files import write_synced
from controller.errors import LockedError


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


def _describe() -> str:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"pid {os.getpid()}, since {since}, {command}\n"


def _holder(note: Path) -> str:
    try:
        return note.read_text(encoding="utf-8", errors="replace").strip() or "who is not known"
    except OSError:
        return "who is not known"
