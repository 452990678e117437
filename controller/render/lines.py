"""Styled lines: what a renderer returns, plain text when joined, coloured on a terminal.

Made by the renderers of this room, printed by `controller.cli.screen`. Foreign text comes in
through `foreign` alone, so that nothing acts on a terminal.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from controller.domain.text import safe_text

type Style = Literal[
    "", "bold", "dim", "create", "change", "start", "remove", "good", "warn", "bad"
]

LONGEST = 500
"""Characters of a message in text for people; `--json` has more."""
LONGEST_TITLE = 80


class Span(NamedTuple):
    """Text in one style."""

    text: str
    style: Style = ""


type Line = tuple[Span, ...]

EMPTY: Line = ()


def line(*parts: str | Span) -> Line:
    """A line of plain and styled pieces."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def plain(lines: Iterable[Line]) -> str:
    """The lines without styles, each ended; trailing blanks dropped."""
    return "".join("".join(span.text for span in each).rstrip() + "\n" for each in lines)


def foreign(text: str, limit: int = LONGEST) -> str:
    """Text from outside as one safe line."""
    return safe_text(text.strip(), limit=limit)


def title_of(text: str) -> str:
    """An issue's title in quotation marks, empty when it is not known."""
    return f' "{foreign(text, LONGEST_TITLE)}"' if text else ""


def moment(when: datetime) -> str:
    """A point in time for people, in UTC to the second."""
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


def count(number: int, one: str, many: str = "") -> str:
    """`1 action`, `2 actions`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
