"""Shapes of well-known tokens: found in what would leave this host, taken out of what people see.

Used by the import's checks and by runtime for what agents and commands say. Pure; never returns or
prints what it found.
"""

import re
from collections.abc import Iterable

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
_REMOVED = "[secret removed]"


def has_token(data: bytes) -> bool:
    """Whether the bytes hold something that looks like a real token."""
    return any(_is_real(found) for found in _SHAPES.finditer(data))


def redact(text: str, own: Iterable[str] = ()) -> str:
    """The text without anything that looks like a token and without the values in `own`."""
    for value in own:
        if value.strip():
            text = text.replace(value.strip(), _REMOVED)
    data = text.encode("utf-8", "surrogatepass")
    kept = _SHAPES.sub(_instead, data)
    return kept.decode("utf-8", "surrogatepass")


def _instead(found: re.Match[bytes]) -> bytes:
    return _REMOVED.encode() if _is_real(found) else found[0]


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
