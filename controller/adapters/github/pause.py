"""One pause for everything that asks the forge: who is told to wait makes all others wait.

Shared by reader and writer of a process, and through its file by the ticks that follow. Never
sleeps: whoever asks during a pause is answered at once, and the next tick tries again.
"""

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from controller.adapters.github.answers import MAX_PAUSE


def utc_now() -> datetime:
    """The wall clock, aware."""
    return datetime.now(UTC)


class Pause:
    """Until when nothing may be sent.

    `file` carries it to the next process; with `writable` false (plan) it is read and never
    written. A file that cannot be read, or that names a time beyond a day from now (a clock that
    jumped), counts as no pause: the forge will say so again.
    """

    def __init__(
        self,
        *,
        file: Path | None = None,
        writable: bool = True,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._file = file
        self._writable = writable
        self._until: datetime | None = None
        self.now = now

    def until(self) -> datetime | None:
        """End of the pause, None when there is none now."""
        now = self.now()
        known = (self._until, self._stored())
        ends = [end for end in known if end is not None and now < end <= now + MAX_PAUSE]
        return max(ends, default=None)

    def ask(self, until: datetime) -> datetime:
        """Begin or prolong the pause. Returns its end, which may be later than `until`."""
        end = max(min(until, self.now() + MAX_PAUSE), self.until() or until)
        self._until = end
        if self._writable and self._file is not None:
            # A pause that cannot be stored still holds in this process, and is told again later.
            with suppress(OSError):
                write_private(self._file, json.dumps({"until": end.isoformat()}))
        return end

    def _stored(self) -> datetime | None:
        if self._file is None:
            return None
        try:
            until = datetime.fromisoformat(json.loads(self._file.read_bytes())["until"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return until if until.tzinfo is not None else None


def write_private(file: Path, text: str) -> None:
    """Replace `file` by `text` in one step, readable by its owner only. Raises OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).replace(file)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
