"""`toban labels`: create or repair the six labels. Called by `controller.cli.app` and `init`."""

from collections.abc import Sequence
from pathlib import Path

from controller import bootstrap
from controller.cli import exits
from controller.cli.app import Only
from controller.cli.screen import Screen, show_json
from controller.cli.session import open_config, parse_repository, want_issues
from controller.config import Config
from controller.domain.ids import Repository
from controller.domain.values import Unseen
from controller.errors import ForgeError
from controller.render.labels import labelled_document, labelled_line
from controller.runtime.labels import Labelled, put_labels, targets


def labels(path: Path | None, names: Sequence[str], *, as_json: bool) -> int:
    """Run the command; returns the exit code."""
    given = [parse_repository(name, hint="REPO") for name in names]
    config = open_config(path)
    want_issues(config, Only.ISSUES, None)
    done = label(config, given, None if as_json else Screen())
    if as_json:
        show_json(labelled_document(done))
    return exits.FAILED if any(each.error for each in done) else exits.OK


def label(config: Config, given: Sequence[Repository], screen: Screen | None) -> list[Labelled]:
    """Put the labels into the repositories given, else into all that are configured."""
    repositories = tuple(given) or _configured(config)
    writer = bootstrap.issues(config, writes=True).writers().forge
    done = []
    for each in put_labels(writer, repositories):
        done.append(each)
        if screen is not None:
            screen.show([labelled_line(each.repository, each.changed, each.error)])
    return done


def _configured(config: Config) -> tuple[Repository, ...]:
    github = config.github
    if github is None:
        return ()
    found = targets(
        bootstrap.checkup(config),
        owner=github.owner,
        repositories=[Repository.parse(name) for name in github.repositories],
    )
    if isinstance(found, Unseen):
        raise ForgeError(f"{found.source}: {found.reason}")
    if not found:
        raise ForgeError(f"{github.owner}: no repository that can be written is visible")
    return found
