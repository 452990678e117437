"""Reads the configuration file: finds it, parses it, checks all of it, and says all that is wrong.

Called once by each command that needs a configuration. Never writes, never reads a secret.
"""

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from controller.config import secrets
from controller.config.explain import sentences
from controller.config.model import Config, Sections
from controller.config.places import find, home_of
from controller.config.text import shown
from controller.errors import ConfigError

LARGEST = 1_048_576
"""Bytes of a configuration file; beyond that it is some other file."""
ALWAYS = ("paths", "git", "agent", "policy", "host", "schedule")
"""Sections that exist even when they do not stand in the file, filled with their defaults."""
_FULL_WIDTH = {
    "＝": "=",
    "“": '"',
    "”": '"',
    "「": '"',
    "」": '"',
    "＂": '"',
    "［": "[",
    "］": "]",
    "　": " ",
}


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """Read and check the configuration.

    `path` is what `--config` named, or None to look in the usual places; `environ` is the process
    environment. Raises ConfigError with one line for each thing that is wrong.
    """
    place = find(path, environ)
    _refuse_odd(place)
    home = home_of(environ)
    document = _document(place)
    for name in ALWAYS:
        document.setdefault(name, {})
    context = {"directory": place.parent, "home": home}
    try:
        sections = Sections.model_validate(document, context=context)
    except ValidationError as error:
        raise ConfigError(_lines(place, sentences(error, Sections))) from None
    directory = environ.get("CREDENTIALS_DIRECTORY")
    credentials = Path(directory) if directory else None
    errors, warnings = secrets.audit(sections, credentials=credentials)
    errors += _open_templates(sections)
    if errors:
        raise ConfigError(_lines(place, errors))
    token = environ.get(secrets.TOKEN_VARIABLE)
    return Config(
        **dict(sections),
        path=place,
        home=home,
        warnings=tuple(f"{shown(str(place))}: {warning}" for warning in warnings),
        credentials=credentials,
        token_variable=SecretStr(token) if token else None,
    )


def _lines(place: Path, errors: tuple[str, ...] | list[str]) -> str:
    return "\n".join(f"{shown(str(place))}: {error}" for error in errors)


def _open_templates(sections: Sections) -> list[str]:
    agent = sections.agent
    phases = [("agent.implement", agent.implement), ("agent.review", agent.review)]
    phases += [(f"agent.rework[{index}]", phase) for index, phase in enumerate(agent.rework)]
    errors = []
    for key, phase in phases:
        path = phase.prompt_file
        if path is not None and path.stat().st_mode & 0o002:
            name = shown(str(path))
            errors.append(
                f"{key}.prompt_file: {name} can be written by everybody; use: chmod o-w {name}"
            )
    return errors


def _refuse_odd(place: Path) -> None:
    """Stop at what pydantic-settings would pass over in silence, and at what others may change."""
    name = shown(str(place))
    try:
        mode = place.stat().st_mode
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{name}: expected a regular file")
    if mode & 0o002:
        raise ConfigError(f"{name}: can be written by everybody; use: chmod o-w {name}")


def _document(place: Path) -> dict[str, Any]:
    """The file's tables as plain values, read through pydantic-settings' source for TOML."""
    from pydantic_settings import BaseSettings, TomlConfigSettingsSource

    class Document(TomlConfigSettingsSource):
        """Takes what Windows editors write, and speaks of lines when it refuses."""

        def _read_file(self, file_path: object) -> dict[str, Any]:
            return _parse(Path(str(file_path)))

    return dict(Document(BaseSettings, toml_file=place)())


def _parse(place: Path) -> dict[str, Any]:
    name = shown(str(place))
    try:
        with place.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise ConfigError(f"{name}: expected a configuration of at most {LARGEST} bytes")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigError(f"{name}: is UTF-16: save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}: line {line}: is not UTF-8: save the file as UTF-8") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {_syntax(str(error), text)}") from None
    except RecursionError:
        raise ConfigError(f"{name}: lists or tables are nested too deeply") from None


def _syntax(message: str, text: str) -> str:
    """Put the line before the parser's sentence, and a hint where full-width characters stand."""
    match = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if match is None:
        return f"not valid TOML: {shown(message)}"
    lines = text.splitlines()
    number = int(match[1]) if match[1] else len(lines)
    reason = shown(message[: match.start()])
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    wide = next((char for char in line if char in _FULL_WIDTH), None)
    hint = f"; the line has {wide!r} where TOML wants {_FULL_WIDTH[wide]!r}" if wide else ""
    column = f", column {match[2]}" if match[2] else ""
    return f"line {number}{column}: not valid TOML: {reason}{hint}"
