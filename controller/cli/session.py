"""What every command does first: read references and configuration, refuse another user's root.

Called by the commands. Decides which workloads are wanted; looks at nothing of theirs.
"""

import os
import pwd
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import typer

from controller.cli.app import Only
from controller.cli.screen import warn
from controller.config import Config, load_config
from controller.domain.ids import IssueId, Repository
from controller.domain.text import safe_text
from controller.errors import ConfigError, TobanError

ROW = "row:"


class Row(NamedTuple):
    """A row of the order table: `row:14a`."""

    name: str


type Ref = IssueId | Row


def parse_ref(text: str, *, hint: str) -> Ref:
    """Read `owner/repo#58` or `row:14a`; anything else is a usage error of the option `hint`."""
    if text.startswith(ROW):
        name = text.removeprefix(ROW)
        if not name or not name.isprintable() or name != name.strip():
            message = f"{_shown(text)} names no row: expected row:14a"
            raise typer.BadParameter(message, param_hint=hint)
        return Row(name)
    try:
        return IssueId.parse(text)
    except ValueError:
        expected = "expected owner/repo#58 for an issue or row:14a for a row"
        raise typer.BadParameter(f"{_shown(text)}: {expected}", param_hint=hint) from None


def parse_repository(text: str, *, hint: str) -> Repository:
    """Read `owner/repo`; anything else is a usage error."""
    try:
        return Repository.parse(text)
    except ValueError:
        raise typer.BadParameter(f"{_shown(text)}: expected owner/repo", param_hint=hint) from None


def _shown(text: str) -> str:
    return safe_text(text, limit=120)


def asked_for(only: Only | None, item: str | None) -> tuple[Only | None, Ref | None]:
    """What `--only` and `--item` ask for together; an item implies its workload."""
    if item is None:
        return only, None
    ref = parse_ref(item, hint="--item")
    implied = Only.ORDERS if isinstance(ref, Row) else Only.ISSUES
    if only is not None and only is not implied:
        raise typer.BadParameter(f"{item} belongs to --only {implied}", param_hint="--item")
    return implied, ref


def open_config(path: Path | None) -> Config:
    """The configuration, its warnings said, and never the root of somebody else.

    Raises ConfigError, or TobanError with the command to use instead.
    """
    config = load_config(path, os.environ)
    for warning in config.warnings:
        warn(warning)
    refusal = foreign_root(config.paths.root)
    if refusal is not None:
        raise TobanError(refusal)
    return config


def foreign_root(root: Path) -> str | None:
    """Why root must not work in `paths.root`, None when it may (decisions 17).

    Files that root left there could not be used by the user whom the folder belongs to.
    """
    if os.geteuid() != 0:
        return None
    place = root
    while not place.exists() and place != place.parent:
        place = place.parent
    owner = place.stat().st_uid
    if owner == 0:
        return None
    name = _user(owner)
    command = shlex.join(["sudo", "-u", name, "toban", *sys.argv[1:]])
    return (
        f"paths.root {_shown(str(root))} belongs to {name}, and this is root: "
        f"use: {safe_text(command, limit=400)}"
    )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"#{number}"


def want_issues(config: Config, only: Only | None, ref: Ref | None) -> IssueId | None:
    """The one issue that is asked for, None for all of them.

    Raises ConfigError when what is asked for is not wanted by the configuration.
    """
    place = safe_text(str(config.path), limit=400)
    if only is Only.ORDERS and config.orders is None:
        raise ConfigError(f"{place}: orders are not wanted: [orders] is missing")
    if only is Only.ISSUES and config.github is None:
        raise ConfigError(f"{place}: issues are not wanted: [github] is missing")
    if only is Only.ORDERS or config.github is None:
        raise ConfigError(f"{place}: this version of toban works on issues alone")
    if only is None and config.orders is not None:
        warn(f"{place}: [orders] is passed over: this version of toban works on issues alone")
    if not isinstance(ref, IssueId):
        return None
    if not config.github.watches(str(ref.repository)):
        raise ConfigError(
            f"{place}: {ref.repository} is neither in github.repositories nor of github.owner"
        )
    return ref
