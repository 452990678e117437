"""Run checks one by one; what goes wrong in one is its own finding and hides no other.

Called by `toban doctor`. Knows no check itself: see `doctor_host` and `doctor_forge`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from controller.domain.checkup import Finding, fail
from controller.errors import TobanError


class Check(NamedTuple):
    """A check and its name, which is said when the check itself breaks."""

    name: str
    run: Callable[[], Iterable[Finding]]


def examine(checks: Iterable[Check]) -> Iterator[Finding]:
    """Every finding of every check, in order."""
    for check in checks:
        try:
            yield from check.run()
        except TobanError as error:
            yield fail(check.name, str(error), "see the message")
        except Exception as error:  # noqa: BLE001 - a broken check must not hide the others
            message = f"the check itself failed: {type(error).__name__}: {error}"
            yield fail(check.name, message, "report this, with `toban --version`")
