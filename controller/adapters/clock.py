"""The machine's clock. Built by bootstrap; the only module that reads the time."""

import time
from datetime import UTC, datetime


class SystemClock:
    """See `controller.ports.host.Clock`."""

    def now(self) -> datetime:
        """Now, aware, in UTC."""
        return datetime.now(UTC)

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
