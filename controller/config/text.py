"""How values and keys of the configuration stand in a message: one line, printable, no secret.

Used by everything in this room that writes a sentence.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time

LONGEST = 80
"""Characters of a value in a message."""
_SECRET = re.compile(r"gh[a-z]_[A-Za-z0-9]{16,}|github_pat_|-----BEGIN|sk-[A-Za-z0-9_-]{16,}")


def shown(text: str) -> str:
    """`text` with everything that a terminal would obey or hide written as an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def looks_secret(text: str) -> bool:
    """Whether `text` has the shape of a token or key itself."""
    return _SECRET.search(text) is not None


def value_text(value: object) -> str:
    """A value as TOML would write it, shortened; tables by their kind, secrets not at all."""
    match value:
        case str() if looks_secret(value):
            return "(looks like a secret, not shown)"
        case str():
            inner = shown(value).replace('"', '\\"')
            return f'"{inner[:LONGEST]}…"' if len(inner) > LONGEST else f'"{inner}"'
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
            return f"[{inner}, …]" if len(value) > 5 else f"[{inner}]"  # noqa: PLR2004
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
