"""Create or repair the six labels in repositories, one after the other.

Called by `toban labels` and `toban init`. Touches no label that is not ours.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from controller.domain.ids import Repository
from controller.domain.values import Unseen
from controller.errors import ForgeError, ForgeLimitedError
from controller.ports.checkup import ForgeCheckup
from controller.ports.forge import ForgeWriter, LabelText
from controller.workloads.issues.labels import LABELS


class Labelled(NamedTuple):
    """What became of one repository."""

    repository: Repository
    changed: tuple[str, ...]
    error: str = ""


def targets(
    forge: ForgeCheckup, *, owner: str | None, repositories: Iterable[Repository]
) -> tuple[Repository, ...] | Unseen:
    """Every configured repository that can be written: those named, and those of the owner."""
    found = {repository.key: repository for repository in repositories}
    if owner is not None:
        owned = forge.owned(owner)
        if isinstance(owned, Unseen):
            return owned
        usable = [each.repository for each in owned if each.usable]
        found |= {repository.key: repository for repository in usable}
    return tuple(found.values())


def put_labels(forge: ForgeWriter, repositories: Iterable[Repository]) -> Iterator[Labelled]:
    """Do it, telling each repository as it is done. A pause that the forge asks for ends it."""
    wanted = tuple(
        LabelText(name=label.name, color=label.color, description=label.description)
        for label in LABELS
    )
    for repository in repositories:
        try:
            yield Labelled(repository, forge.ensure_labels(repository, wanted))
        except ForgeLimitedError:
            raise
        except ForgeError as error:
            yield Labelled(repository, (), str(error))
