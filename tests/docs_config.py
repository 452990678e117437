"""The tables of configuration keys: key and default come from the code, the meaning is kept.

Used by `tests.docs`. A key that the document does not have yet appears with the meaning MISSING,
which tests/architecture/test_docs.py refuses.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import NamedTuple, TypeAliasType, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from controller.config import Sections
from controller.config.durations import format_duration

MISSING = "(not described yet)"
_ROW = re.compile(r"^\| `(?P<key>[^`]+)` \| .*? \| (?P<meaning>.*) \|$", re.MULTILINE)
_HEAD = re.compile(r"^### `(?P<head>.+)`\n(?P<intro>[^|]*)", re.MULTILINE)


class Key(NamedTuple):
    """One key of one table of the file."""

    table: str
    """As TOML writes its head: `[agent.implement]`, `[[agent.rework]]`."""
    name: str
    default: str


def _inner(annotation: object) -> tuple[type[BaseModel] | None, str]:
    """The section that an annotation holds, and how its head is written."""
    if isinstance(annotation, TypeAliasType):
        return _inner(annotation.__value__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, "table"
    for argument in get_args(annotation):
        section, _ = _inner(argument)
        if section is not None:
            origin: object = get_origin(annotation)
            if origin is tuple:
                return section, "list"
            if isinstance(origin, type) and issubclass(origin, Mapping):
                return section, "mapping"
            return _inner(argument)
    return None, ""


def keys(section: type[BaseModel] = Sections, path: str = "") -> Iterator[Key]:
    """Every key, section by section, in the order of the code."""
    below = []
    for name, field in section.model_fields.items():
        inner, shape = _inner(field.annotation)
        if inner is None:
            yield Key(f"[{path}]", name, _default(field))
            continue
        place = f"{path}.{name}" if path else name
        below.append((inner, f'{place}."owner/repo"' if shape == "mapping" else place, shape))
    for inner, place, shape in below:
        for key in keys(inner, place):
            own = shape == "list" and key.table == f"[{place}]"
            yield key._replace(table=f"[[{place}]]") if own else key


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return "none" if value is None else f"`{toml(value)}`"


def toml(value: object) -> str:
    """A default as TOML would write it."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:_}" if isinstance(value, int) and value >= 10_000 else str(value)
        case timedelta():
            return f'"{format_duration(value)}"'
        case time():
            return f'"{value:%H:%M}"'
        case str() | Path():
            return f'"{value}"'
        case tuple():
            return "[" + ", ".join(toml(each) for each in value) + "]"
        case _:
            raise TypeError(f"{value!r}: how does TOML write it?")


def configuration(old: str) -> str:
    """A table for each section; meanings and the sentences above a table are kept from `old`."""
    meanings, intros = _kept(old)
    parts: list[str] = []
    for head in dict.fromkeys(key.table for key in keys()):
        rows = [
            f"| `{key.name}` | {key.default} | {meanings.get((head, key.name), MISSING)} |"
            for key in keys()
            if key.table == head
        ]
        lines = ["| key | default | meaning |", "| --- | --- | --- |", *rows]
        parts.append(
            "\n\n".join(filter(None, [f"### `{head}`", intros.get(head), "\n".join(lines)]))
        )
    return "\n\n".join(parts)


def _kept(old: str) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    meanings: dict[tuple[str, str], str] = {}
    intros: dict[str, str] = {}
    heads = list(_HEAD.finditer(old))
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(old)
        intros[head["head"]] = head["intro"].strip()
        for row in _ROW.finditer(old[head.end() : end]):
            meanings[head["head"], row["key"]] = row["meaning"]
    return meanings, intros
