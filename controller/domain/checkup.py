"""What one check of `toban doctor` found, and how to mend it.

Made by `controller.runtime.doctor` and its checks, rendered by `controller.render.doctor`.
"""

from typing import Literal

from controller.domain.values import Value

type Level = Literal["ok", "warn", "fail"]
"""All well; works, but look at it; toban does not work like this."""


class Finding(Value):
    """One line of a check-up."""

    check: str
    level: Level
    message: str
    """What was found: may hold foreign text."""
    advice: str = ""
    """How to mend it, empty when all is well."""


def ok(check: str, message: str) -> Finding:
    """All well."""
    return Finding(check=check, level="ok", message=message)


def warn(check: str, message: str, advice: str) -> Finding:
    """It works, but somebody should look at it."""
    return Finding(check=check, level="warn", message=message, advice=advice)


def fail(check: str, message: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(check=check, level="fail", message=message, advice=advice)
