"""JSON that is not trusted: strict parsing, and a cursor that names the place of every complaint.

Below `decode`, which knows GitHub's keys; this knows only types. Never guesses and never converts.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Never, Self

from controller.domain.ids import SHA, Sha

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None

_SHA = re.compile(SHA)


class ShapeError(ValueError):
    """An answer does not have the shape that GitHub documents. The text names the place."""


def parse(text: bytes | str) -> Json:
    """Strict JSON. Raises ShapeError for whatever is none, too deep, or has a number too long."""
    try:
        value: Json = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ShapeError("the answer is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ShapeError(f"the answer is not UTF-8 (byte {error.start})") from error
    except ValueError as error:
        raise ShapeError(f"the answer is no JSON: {str(error)[:100]}") from error
    return value


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON number")


class Node:
    """One JSON value and where it stands, so that every complaint names its place."""

    __slots__ = ("path", "value")

    def __init__(self, value: Json, path: str = "$") -> None:
        self.value = value
        self.path = path

    def __getitem__(self, key: str) -> Self:
        if not isinstance(self.value, dict):
            self.fail("an object")
        if key not in self.value:
            raise ShapeError(f"{self.path}.{key} is missing")
        return type(self)(self.value[key], f"{self.path}.{key}")

    def maybe(self, key: str) -> Self | None:
        """The value under `key`, None when it is absent or null."""
        if not isinstance(self.value, dict):
            self.fail("an object")
        if self.value.get(key) is None:
            return None
        return self[key]

    def entries(self) -> Iterator[Self]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            self.fail("a list")
        for index, value in enumerate(self.value):
            yield type(self)(value, f"{self.path}[{index}]")

    def text(self) -> str:
        """A string. Lone surrogates, which no encoding can store, become U+FFFD."""
        if not isinstance(self.value, str):
            self.fail("a string")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            return self.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self.value

    def number(self) -> int:
        """An integer from 0 to 2**63 - 1."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail("an integer")
        if not 0 <= self.value < 2**63:
            self.fail("an integer from 0 to 2**63 - 1")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def time(self) -> datetime:
        """An ISO 8601 time with its offset."""
        try:
            moment = datetime.fromisoformat(self.text())
        except ValueError:
            self.fail("a time such as 2026-10-13T12:20:00Z")
        if moment.tzinfo is None:
            self.fail("a time with its offset")
        return moment

    def sha(self) -> Sha:
        """A full object name."""
        text = self.text()
        if not _SHA.fullmatch(text):
            self.fail("40 hexadecimal digits")
        return text

    def fail(self, expected: str) -> Never:
        """Raise ShapeError: this is not `expected`."""
        raise ShapeError(f"{self.path} is {_shown(self.value)}, expected {expected}")


def _shown(value: Json) -> str:
    # Texts are not shown: whatever an answer holds, no secret comes into a message this way.
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"a string of {len(value)} characters"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:g}" if abs(value) < 10**12 else "a huge number"
