"""Secrets in a change: shapes of well-known tokens in added lines, and this host's own values.

A shape is the worker's mistake and goes back to it by path and line; a value of this host is a
break-out and stops the item. No function here returns or prints what it found.
"""

import base64
from collections.abc import Iterable

from controller.adapters.git.patch import Line
from controller.domain.tokens import has_token

_SHORTEST = 8
"""A host secret shorter than this would be found in ordinary text."""
_LONGEST_LINE = 65_536
"""Bytes of one line that are searched at once; longer lines are searched in overlapping pieces."""
_OVERLAP = 512


def token_lines(lines: Iterable[Line]) -> list[int]:
    """Numbers of the added lines that hold a token's shape."""
    return [line.number for line in lines if _has_token(line.text)]


def _has_token(text: bytes) -> bool:
    step = _LONGEST_LINE - _OVERLAP
    pieces = [text[at : at + _LONGEST_LINE] for at in range(0, max(len(text), 1), step)]
    return any(has_token(piece) for piece in pieces)


class HostSecrets:
    """Values that must never leave this host, plain or as base64 or hexadecimal."""

    def __init__(self, values: Iterable[str]) -> None:
        self._needles = tuple(
            needle
            for value in values
            if len(value.strip()) >= _SHORTEST
            for needle in _forms(value.strip().encode())
        )

    def are_in(self, data: bytes) -> bool:
        """Whether one of them is part of `data`."""
        return any(needle in data for needle in self._needles)


def _forms(value: bytes) -> list[bytes]:
    # In base64 a value looks different at each offset; letters that its neighbours reach are cut.
    shifted = [base64.b64encode(b"\0" * pad + value) for pad in range(3)]
    inner = [text[(0, 2, 3)[pad] :].rstrip(b"=")[:-1] for pad, text in enumerate(shifted)]
    urlsafe = [text.translate(bytes.maketrans(b"+/", b"-_")) for text in inner]
    # A key file keeps its line ends; as a value in a program they are written "\n".
    lines = [line for line in value.splitlines() if len(line) >= 4 * _SHORTEST][1:-1]
    return list(dict.fromkeys([value, value.hex().encode(), *inner, *urlsafe, *lines]))
