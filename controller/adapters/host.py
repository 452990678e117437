"""Measurements of this machine through psutil. Built by bootstrap."""

from pathlib import Path

from controller.domain.values import Seen, Unseen


class PsutilHost:
    """See `controller.ports.host.HostMeter`."""

    def __init__(self, root: Path) -> None:
        """`root` is `paths.root`; its nearest existing parent is measured."""
        self._root = root

    def free_memory_percent(self) -> Seen[float]:
        """Available memory in percent of all."""
        import psutil

        try:
            memory = psutil.virtual_memory()
            return 100.0 * memory.available / memory.total
        except (OSError, RuntimeError, ZeroDivisionError) as error:
            return Unseen(source="memory", reason=str(error), code="HostUnseen")

    def free_disk_gb(self) -> Seen[float]:
        """Free space for this user, in 10^9 bytes."""
        import psutil

        place = self._root
        while not place.exists() and place != place.parent:
            place = place.parent
        try:
            return float(psutil.disk_usage(str(place)).free) / 1e9
        except OSError as error:
            return Unseen(source=f"disk at {place}", reason=str(error), code="HostUnseen")
