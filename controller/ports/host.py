"""What runtime needs of the machine: time, measurements, and one lock per workload.

Implemented by `controller.adapters.{clock,host,lock}`.
"""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from controller.domain.values import Seen


class Clock(Protocol):
    """The only source of time. Wall time is for display and for comparing with the forge's."""

    def now(self) -> datetime:
        """Now, aware, in UTC."""

    def pause(self, seconds: float) -> None:
        """Wait before asking the forge again for what it does not show yet (reads only)."""


class HostMeter(Protocol):
    """Measures memory and disk; an unknown measurement is Unseen, never a default number."""

    def free_memory_percent(self) -> Seen[float]:
        """Memory that could be given to a new process, in percent of all."""

    def free_disk_gb(self) -> Seen[float]:
        """Free space below `paths.root` for this user, in 10^9 bytes."""


class Lock(Protocol):
    """A kernel lock per workload: gone with the process, not inherited by its children."""

    def hold(self, workload: str) -> AbstractContextManager[None]:
        """Hold the lock of a workload. Raises LockedError, which says who has it, at once."""


class Holder(NamedTuple):
    """Who holds a workload's lock."""

    text: str
    """Process, time and command, for people."""
    since: datetime


class LockReader(Protocol):
    """Tells who holds a lock without ever taking it, so that asking disturbs no tick."""

    def holder(self, workload: str) -> Holder | None:
        """Who holds it now, None when nobody is known to."""
