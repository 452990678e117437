"""Secrets in a change: shapes of well-known tokens in added lines, and this host's own values.

A shape is the worker's mistake and goes back to it by path and line; a value of this host is a
break-out and stops the item. No function here returns or prints what it found.
"""

import base64
import re
from collections.abc import Iterable

from controller.adapters.git.patch import Line

_SHAPES = re.compile(
    rb"""
    -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?-----
    | (?<![A-Za-z0-9_-]) (?P<body>
        gh[pousr]_[A-Za-z0-9]{36,} | github_pat_[A-Za-z0-9_]{36,}
      | glpat-[A-Za-z0-9_-]{20,} | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])
      | xox[abeoprs]-[A-Za-z0-9-]{16,} | xapp-[0-9]-[A-Za-z0-9-]{20,}
      | (?P<mixed>sk-[A-Za-z0-9_-]{24,}) | [sr]k_(?:live|test)_[A-Za-z0-9]{20,}
      | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{30,} | GOCSPX-[A-Za-z0-9_-]{20,}
      | npm_[A-Za-z0-9]{36} | pypi-AgE[A-Za-z0-9_-]{50,} | hf_[A-Za-z0-9]{30,}
      | dop_v1_[a-f0-9]{64} | AGE-SECRET-KEY-1[A-Z0-9]{50,}
      | SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}
      | eyJ[A-Za-z0-9_-]{12,}\.eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{16,}
    )
    | https://hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/(?P<hook>[A-Za-z0-9]{20,})
    | https?://[^\s/:@'"<>{}$]{1,64}:(?P<password>[^\s/:@'"<>{}$]{8,128})@[A-Za-z0-9]
    | (?i:(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)) ["']? \s* [:=] \s*
      ["'] (?P<value>[A-Za-z0-9+/=_.~-]{20,256}) ["']
    """,
    re.VERBOSE,
)
_MADE_UP = re.compile(
    rb"(?i)example|dummy|placeholder|change[-_]?me|your[-_]|x{6}|0{8}|1234567|test"
)
_UPPER, _LOWER, _DIGIT = (re.compile(kind) for kind in (rb"[A-Z]", rb"[a-z]", rb"[0-9]"))
_DISTINCT = 10
"""Fewer different characters than this are nobody's random token."""
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
    return any(_is_real(found) for piece in pieces for found in _SHAPES.finditer(piece))


def _is_real(found: re.Match[bytes]) -> bool:
    body = next((part for part in found.groups() if part is not None), None)
    if body is None:
        return True  # the head of a private key needs no further proof
    if found["mixed"] and not all(kind.search(body) for kind in (_UPPER, _LOWER, _DIGIT)):
        return False
    if found["body"] is None and (_MADE_UP.search(body) or not _DIGIT.search(body)):
        return False
    random = body.partition(b"_")[2] or body
    return b"EXAMPLE" not in body and len(set(random)) >= _DISTINCT


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
