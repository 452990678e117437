"""The kinds of value that a configuration key may have, each refusing with what it expects.

Used by the sections. Nothing here reads a file's content except `Template`, whose text is checked.
"""

import re
from collections.abc import Mapping
from datetime import time, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
)

from controller.config.durations import EXPECTED, parse_duration
from controller.config.places import expand
from controller.config.text import looks_secret
from controller.domain.ids import OWNER, Repository
from controller.domain.values import Value

TEMPLATE_BYTES = 262_144
"""A prompt template beyond this is a mistake; Codex takes 1,048,576 characters with the task."""


class Section(Value):
    """One table of the file: frozen, no unknown keys, no conversion of types, defaults checked."""

    model_config = ConfigDict(strict=True, validate_default=True)


def _context(info: ValidationInfo) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", info.context or {})


def _path(value: object, info: ValidationInfo) -> Path:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise ValueError('expected a path such as "~/ai" or "/etc/toban/token"')
    if "\0" in str(value):
        raise ValueError("expected a path without NUL characters")
    context = _context(info)
    return expand(value, directory=context.get("directory"), home=context.get("home"))


def _path_or_none(value: object, info: ValidationInfo) -> Path | None:
    return None if value is None or value == "" else _path(value, info)


def _template(path: Path | None) -> Path | None:
    if path is None:
        return None
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise ValueError(f"expected a readable text file: {reason}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8 text: byte {error.start + 1} is none") from error
    if not text.strip():
        raise ValueError("expected a template with text in it, but the file is empty")
    if len(content) > TEMPLATE_BYTES:
        raise ValueError(f"expected a template of at most {TEMPLATE_BYTES} bytes")
    return path


def _duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError(EXPECTED)  # noqa: TRY004 - pydantic reports ValueError, not TypeError
    return parse_duration(value)


def _span(value: object) -> timedelta:
    duration = _duration(value)
    if duration == timedelta(0):
        raise ValueError("expected a duration longer than 0s")
    return duration


def _loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _split(value: str) -> SplitResult:
    expected = "expected an address such as https://api.github.com"
    try:
        parts = urlsplit(value)
        port_is_a_number = parts.port is None or parts.port > 0
    except ValueError as error:
        raise ValueError(expected) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_a_number:
        raise ValueError(expected)
    if re.search(r"[^\x21-\x7e]", value) or "\\" in value:
        raise ValueError(f"{expected}, in plain ASCII without blanks")
    if parts.username is not None or parts.password is not None:
        raise ValueError("expected an address without a user or password in it")
    if parts.query or parts.fragment or value.endswith(("?", "#")):
        raise ValueError("expected an address without ? and #")
    return parts


def _url(value: str) -> str:
    parts = _split(value)
    if parts.scheme == "http" and not _loopback(parts.hostname or ""):
        raise ValueError("expected https: plain http is allowed to this machine (loopback) only")
    return value.rstrip("/")


def _loopback_url(value: str) -> str:
    if not _loopback(_split(value).hostname or ""):
        raise ValueError("expected an address of this machine such as http://127.0.0.1:9222")
    return value.rstrip("/")


def _url_pattern(value: str) -> str:
    if not re.fullmatch(r"https?://[\x21-\x7e]+", value):
        raise ValueError("expected an address pattern such as https://* or https://example.com/*")
    return value


def _login(value: str) -> str:
    if not OWNER.fullmatch(value) or looks_secret(value):
        raise ValueError("expected a GitHub login (letters, digits, '-' and '_')")
    return value


def _bot(value: str) -> str:
    if not OWNER.fullmatch(value.removesuffix("[bot]")):
        raise ValueError('expected the login of a bot such as "dependabot[bot]"')
    return value


def _repository(value: str) -> str:
    try:
        return str(Repository.parse(value))
    except ValueError:
        raise ValueError('expected "owner/repo"') from None


def _branch(value: str) -> str:
    odd = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//", value)
    if odd or not value or value.startswith(("-", "/")) or value.endswith(("/", ".", ".lock")):
        raise ValueError("expected the name of a branch such as main")
    if any(part.startswith(".") or part.endswith(".lock") for part in value.split("/")):
        raise ValueError("expected the name of a branch such as main")
    return value


def _line(value: str) -> str:
    text = value.strip()
    if not text or not text.isprintable():
        raise ValueError("expected one line of text")
    return text


def _command(value: str) -> str:
    if not value.strip() or "\0" in value:
        raise ValueError('expected a command line such as "make test"')
    return value


def _person(value: str) -> str:
    if re.search(r"[<>]", value):
        raise ValueError("expected a name or address without < and >")
    return _line(value)


def _gitignore(value: str) -> str:
    from pathspec import GitIgnoreSpec  # costs 20 ms, needed only when the key is set

    text = value.strip()
    if not text or text.startswith("#") or "\n" in value or "\0" in value:
        raise ValueError('expected a pattern as in .gitignore, such as ".github/**"')
    try:
        GitIgnoreSpec.from_lines([value])
    except ValueError as error:
        raise ValueError(f"expected a pattern as in .gitignore: {error}") from error
    return value


def _time(value: object) -> time:
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not re.fullmatch(r"[0-2]?[0-9]:[0-5][0-9]", value):
        raise ValueError('expected a time of day such as "12:20"')
    hours, minutes = (int(part) for part in value.split(":"))
    if hours > 23:  # noqa: PLR2004 - hours of a day
        raise ValueError('expected a time of day from "00:00" to "23:59"')
    return time(hours, minutes)


def _timezone(value: str) -> str:
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(value)
    except (ValueError, OSError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise ValueError('expected a time zone such as "Asia/Tokyo"') from error
    except KeyError as error:
        if not available_timezones():
            raise ValueError(
                "this machine has no time zone database; Debian, Ubuntu: apt-get install tzdata"
            ) from error
        raise ValueError('expected a time zone such as "Asia/Tokyo"') from error
    return value


def _distinct[T](values: tuple[T, ...]) -> tuple[T, ...]:
    seen = [str(value).casefold() for value in values]
    for value, folded in zip(values, seen, strict=True):
        if seen.count(folded) > 1:
            raise ValueError(f'expected each entry once, but "{value}" stands there twice')
    return values


type Place = Annotated[Path, BeforeValidator(_path)]
"""An absolute path: `~` expanded, relative ones against the configuration file's folder."""
type OptionalPlace = Annotated[Path | None, BeforeValidator(_path_or_none)]
"""The same; an empty string means none."""
type Template = Annotated[Path | None, BeforeValidator(_path_or_none), AfterValidator(_template)]
"""The path of a UTF-8 text file that is not empty, at most `TEMPLATE_BYTES` long."""
type Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""Zero or more."""
type Span = Annotated[timedelta, BeforeValidator(_span)]
"""More than zero."""
type Url = Annotated[str, AfterValidator(_url)]
"""http(s) without a trailing slash; http only to loopback."""
type LoopbackUrl = Annotated[str, AfterValidator(_loopback_url)]
type Login = Annotated[str, AfterValidator(_login)]
type Bot = Annotated[str, AfterValidator(_bot)]
type RepositoryName = Annotated[str, AfterValidator(_repository)]
"""`owner/repo` as written; compare with `controller.domain.ids.Repository.key`."""
type Branch = Annotated[str, AfterValidator(_branch)]
type Line = Annotated[str, AfterValidator(_line)]
"""Printable text without line breaks, trimmed."""
type Person = Annotated[str, AfterValidator(_person)]
type TimeOfDay = Annotated[time, BeforeValidator(_time)]
type Timezone = Annotated[str, AfterValidator(_timezone)]
"""A key of the IANA database that this machine knows."""
type Model = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$")]
type Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]
"""Codex sends any word on unchecked, so a slip would cost a run; each model knows some of these."""
type Count = Annotated[int, Field(ge=0, le=1_000_000_000_000)]

type Repositories = Annotated[
    tuple[RepositoryName, ...], Strict(strict=False), AfterValidator(_distinct)
]
type Commands = Annotated[
    tuple[Annotated[str, AfterValidator(_command)], ...], Strict(strict=False)
]
type Words = Annotated[tuple[str, ...], Strict(strict=False)]
type Bots = Annotated[tuple[Bot, ...], Strict(strict=False), AfterValidator(_distinct)]
type Patterns = Annotated[
    tuple[Annotated[str, AfterValidator(_gitignore)], ...], Strict(strict=False)
]
type UrlPatterns = Annotated[
    tuple[Annotated[str, AfterValidator(_url_pattern)], ...], Strict(strict=False)
]
