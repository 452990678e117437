"""What the host can spare, as measured once per look. An unknown measurement means wait."""

from datetime import datetime

from controller.domain.values import Seen, Value


class Host(Value):
    """Measurements and shared limits of this machine."""

    free_memory_percent: Seen[float]
    free_disk_gb: Seen[float]
    agents_pause_until: datetime | None = None
    """End of a usage-limit pause, shared by all workloads (decisions 19)."""
    runs_last_day: int = 0
    """Starts of Codex in the last 24 hours, every workload."""
    tokens_last_day: int = 0
    day_ends_at: datetime | None = None
    """When the oldest start of the last 24 hours leaves that window."""
