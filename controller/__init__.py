"""toban (当番, the one on duty): an unattended agent host. Rooms: docs/architecture.md."""

__version__ = "0.1.0"
