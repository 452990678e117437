"""`toban init`: write a commented configuration, check it by loading it, offer the labels.

Called by `controller.cli.app`. Asks first and writes then: a question that is broken off changes
nothing. A configuration that would not load is never left behind.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import typer

from controller import bootstrap
from controller.cli import exits
from controller.cli.labels import label
from controller.cli.screen import Screen, warn
from controller.cli.session import foreign_root
from controller.cli.template import Answers, written
from controller.config import Config, load_config
from controller.config.places import candidates
from controller.domain.text import safe_text
from controller.domain.values import Unseen
from controller.errors import ConfigError, ForgeError, TobanError
from controller.files import write_synced
from controller.render.lines import line


class Wanted(NamedTuple):
    """What the options say; None and empty were not said."""

    owner: str | None
    repositories: tuple[str, ...]
    token_file: Path | None
    root: str | None
    api_url: str | None
    git_url: str | None


def init(path: Path | None, wanted: Wanted, *, force: bool, ask: bool) -> int:
    """Run the command; returns the exit code."""
    place = candidates(path, os.environ)[0][1]
    name = safe_text(str(place), limit=400)
    if (place.exists() or place.is_symlink()) and not force:
        raise TobanError(f"{name}: there is a configuration already; --force replaces it")
    ask = ask and sys.stdin.isatty() and sys.stdout.isatty()
    if not wanted.owner and not wanted.repositories and not ask:
        raise typer.BadParameter("nothing to watch: give --owner, or --repo", param_hint="--owner")
    answers, token = _asked(wanted, place) if ask else (_given(wanted), "")
    if token and answers.token_file is not None:
        _write(answers.token_file, f"{token}\n")
    config = _put(place, written(answers))
    screen = Screen()
    screen.show([line(f"{name}: written; it loads.")])
    for warning in config.warnings:
        warn(warning)
    refusal = foreign_root(config.paths.root)
    if refusal is not None:
        warn(refusal)
        return exits.OK
    return _offer_labels(config, screen, ask=ask)


def _given(wanted: Wanted) -> Answers:
    return Answers(
        owner=wanted.owner or "",
        repositories=wanted.repositories,
        token_file=_absolute(wanted.token_file),
        root=wanted.root or "~/ai",
        api_url=wanted.api_url or "https://api.github.com",
        git_url=wanted.git_url or "https://github.com",
    )


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else Path.cwd() / path.expanduser()


def _asked(wanted: Wanted, place: Path) -> tuple[Answers, str]:
    """The answers of a person, and the token where they type it in."""
    given = _given(wanted)
    owner, repositories = given.owner, given.repositories
    while not owner and not repositories:
        owner = typer.prompt(
            "Watch every repository of which owner? (empty: name some)", default=""
        )
        owner = owner.strip()
        if not owner:
            names: str = typer.prompt("Which repositories? (owner/repo, by blanks)", default="")
            repositories = tuple(names.replace(",", " ").split())
    root: str = wanted.root or typer.prompt("Where shall toban keep its things?", default="~/ai")
    token_file, token = given.token_file, ""
    if token_file is None:
        default = str(place.parent / "github-token")
        token_file = _absolute(Path(typer.prompt("File of the GitHub token?", default=default)))
    if token_file is not None and not token_file.exists():
        question = "The token (not shown; empty: put it into the file later)"
        token = typer.prompt(question, default="", hide_input=True, show_default=False).strip()
    answers = given._replace(
        owner=owner, repositories=repositories, root=root, token_file=token_file
    )
    return answers, token


def _put(place: Path, text: str) -> Config:
    """Write beside, load, and only then put it in place; an old one is kept as `.old`."""
    draft = place.with_name(f"{place.name}.new")
    _write(draft, text)
    try:
        config = load_config(draft, os.environ)
    except ConfigError as error:
        draft.unlink()
        raise ConfigError(str(error).replace(str(draft), str(place))) from None
    try:
        if place.exists():
            place.replace(place.with_name(f"{place.name}.old"))
        draft.replace(place)
    except OSError as error:
        raise TobanError(f"{place}: cannot be written: {error.strerror or error}") from error
    return config.model_copy(update={"path": place})


def _write(path: Path, text: str) -> None:
    try:
        write_synced(path, text)
    except OSError as error:
        name = safe_text(str(path), limit=400)
        raise TobanError(f"{name}: cannot be written: {error.strerror or error}") from error


def _offer_labels(config: Config, screen: Screen, *, ask: bool) -> int:
    """Put the labels on where a person says so; a credential that does not work is said."""
    account = bootstrap.checkup(config).account()
    if isinstance(account, Unseen):
        warn(f"{account.source}: {account.reason}")
        screen.show([line("Next: put the token in place, then toban doctor, toban labels.")])
        return exits.OK
    screen.show([line(f"The credential is {account.login}'s.")])
    if not ask or not typer.confirm("Create the six labels now?", default=False):
        screen.show([line("Next: toban doctor, toban labels.")])
        return exits.OK
    try:
        done = label(config, (), screen)
    except ForgeError as error:
        raise TobanError(f"the configuration is written, the labels are not: {error}") from error
    return exits.FAILED if any(each.error for each in done) else exits.OK
