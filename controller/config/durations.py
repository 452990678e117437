"""Durations as people write them in the configuration: `15m`, `60s`, `2h`, `30d`, `1h30m`.

Read by `controller.config.fields`, written by `toban init` and messages; never looks at a clock.
"""

import re
from datetime import timedelta

_DURATION = re.compile(
    r"(?=[0-9])(?:([0-9]{1,6})d)?(?:([0-9]{1,8})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10})s)?"
)
EXPECTED = 'expected a duration such as "60s", "15m", "2h", "1h30m" or "30d"'
LONGEST = timedelta(days=3650)
"""Ten years: beyond that a number is a slip of the finger, and dates overflow."""


def parse_duration(text: str) -> timedelta:
    """Read whole days, hours, minutes and seconds, in this order, each at most once.

    Raises ValueError with what is expected.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(EXPECTED)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    duration = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if duration > LONGEST:
        raise ValueError("expected at most 3650d")
    return duration


def format_duration(duration: timedelta) -> str:
    """Write whole seconds so that `parse_duration` reads the same back; fractions are dropped."""
    seconds = max(0, int(duration.total_seconds()))
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
