"""Printing results: plain and stable when nobody watches, in colour on a terminal.

Called by the commands. rich is loaded only for a terminal, and gets finished pieces of text: it
interprets no markup.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from controller.render.lines import Line, Style, plain

if TYPE_CHECKING:
    from rich.console import Console

COLOURS: Mapping[Style, str] = {
    "": "",
    "bold": "bold",
    "dim": "dim",
    "create": "green",
    "change": "yellow",
    "start": "cyan",
    "remove": "red",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
}


class Screen:
    """stdout for people."""

    def __init__(self) -> None:
        self._console = _console() if sys.stdout.isatty() else None

    @property
    def is_terminal(self) -> bool:
        """Whether a person may be watching."""
        return self._console is not None

    def show(self, lines: Iterable[Line]) -> None:
        """Print lines, at once."""
        if self._console is None:
            print(plain(lines), end="", flush=True)
            return
        from rich.text import Text

        for each in lines:
            text = Text.assemble(*((span.text, COLOURS[span.style]) for span in each))
            self._console.print(text, soft_wrap=True)


def _console() -> "Console":
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False)


def show_json(document: Mapping[str, object]) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal is."""
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def warn(text: str) -> None:
    """One line on stderr."""
    print(f"toban: warning: {text}", file=sys.stderr)
