"""toban (当番, the one on duty): an unattended agent host. See docs/architecture.md for the rooms."""

__version__ = "0.1.0"
