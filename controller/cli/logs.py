"""Logs: key=value lines on stderr, quiet unless asked for. stdout belongs to results.

Called by the commands that act. A log line is an event with a constant name and its keys.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

from controller.domain.text import safe_text

LONGEST = 20_000


class Log:
    """The logger of a command: errors always, `info` only when it is verbose.

    structlog costs 0.2 s to load and is loaded with the first line that is really written.
    """

    def __init__(self, *, verbose: bool) -> None:
        self._level = logging.INFO if verbose else logging.WARNING

    def info(self, event: str, **keys: object) -> None:
        """What a person may want to follow."""
        if self._level <= logging.INFO:
            _writer().info(event, **keys)

    def error(self, event: str, **keys: object) -> None:
        """What should not have happened."""
        _writer().error(event, **keys)


def _writer() -> Any:  # noqa: ANN401 - structlog's loggers have no narrower type
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _safe,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    return structlog.get_logger()


def log_crash(error: BaseException) -> None:
    """One line with the traceback of an error that nothing was prepared for."""
    Log(verbose=False).error("internal_error", exc_info=error)


def _safe(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Foreign text may stand under any key."""
    return {
        key: safe_text(value, limit=LONGEST, lines=True) if isinstance(value, str) else value
        for key, value in event.items()
    }
