"""How values and keys of the configuration stand in a message: one line, printable, no secret.

Used by everything in this room that writes a sentence.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time

from controller.domain.text import safe_text

LONGEST = 80
"""Characters of a value in a message."""
_SECRET = re.compile(r"gh[a-z]_[A-Za-z0-9]{16,}|github_pat_|-----BEGIN|sk-[A-Za-z0-9_-]{16,}")


def shown(text: str) -> str:
    """A path, key or parser's word in which nothing acts on a terminal."""
    return safe_text(text, limit=1_000)


def looks_secret(text: str) -> bool:
    """Whether `text` has the shape of a token or key itself."""
    return _SECRET.search(text) is not None


def value_text(value: object) -> str:
    """A value as TOML would write it, shortened; tables by their kind, secrets not at all."""
    match value:
        case str() if looks_secret(value):
            return "(looks like a secret, not shown)"
        case str():
            return '"' + safe_text(value, limit=LONGEST).replace('"', '\\"') + '"'
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)[:LONGEST]
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            return "a table"
        case list() | tuple():
            inner = ", ".join(value_text(entry) for entry in value[:5])
            return f"[{inner}, …]" if len(value) > 5 else f"[{inner}]"  # noqa: PLR2004 - said once, here
        case _:
            return shown(str(value))[:LONGEST]


def key_text(location: tuple[int | str, ...]) -> str:
    """A key as TOML would write it: `agent.rework[1].timeout`, `repository."octo/a".base`."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
        name = part if bare else '"' + shown(part).replace('"', '\\"') + '"'
        text += f".{name}" if text else name
    return text
