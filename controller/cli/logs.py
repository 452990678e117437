"""Logs: key=value lines on stderr, quiet unless asked for. stdout belongs to results.

Called by the commands that act. A log line is an event with a constant name and its keys.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from controller.domain.text import safe_text

LONGEST = 20_000


def start_log(*, verbose: bool) -> structlog.typing.FilteringBoundLogger:
    """The logger of a command: warnings alone, or everything from `info` up with `verbose`."""
    level = logging.INFO if verbose else logging.WARNING
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _safe,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()
    return logger


def log_crash(error: BaseException) -> None:
    """One line with the traceback of an error that nothing was prepared for."""
    start_log(verbose=False).error("internal_error", exc_info=error)


def _safe(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Foreign text may stand under any key."""
    return {
        key: safe_text(value, limit=LONGEST, lines=True) if isinstance(value, str) else value
        for key, value in event.items()
    }
