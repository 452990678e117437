"""The repository's `prepare` commands: in the fresh worktree, and once more for `verify`.

Called by `controller.runtime.apply_disk`. What `prepare` makes often names its own absolute path
(the scripts of a Python environment do), and the worktree belongs to the AI. So the commands run a
second time in the checkout where `verify` will run, and what they made there is kept.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from controller.domain.ids import Sha
from controller.domain.values import Unseen
from controller.runtime import places
from controller.runtime.commands import CommandFailure, confine, run_commands
from controller.runtime.context import Context


def prepare(c: Context, *, at: Sha) -> CommandFailure | Unseen | None:
    """Run the commands on the untouched commit `at`, with network and without credentials."""
    root = c.w.settings.root
    problem = _run(c, workspace=places.worktree(root, c.item), purpose="prepare")
    if problem is not None or not c.r.policy.of(c.item.repository.key).verify:
        return problem
    place = checkout_for_verify(c, sha=at)
    untouched = set(_files(place))
    problem = _run(c, workspace=place, purpose="prepare-verify")
    if problem is not None:
        return problem
    kept = _kept(c)
    shutil.rmtree(kept, ignore_errors=True)
    for name in _files(place):
        if name not in untouched:
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place / name, kept / name, follow_symlinks=False)
    return None


def checkout_for_verify(c: Context, *, sha: Sha) -> Path:
    """A scratch checkout of exactly `sha`, always in the same place."""
    place = places.checkout(c.w.settings.root, c.item, "verify")
    c.w.repository.remove_checkout(c.item.repository, place)
    c.w.repository.checkout(c.item.repository, sha=sha, into=place)
    return place


def add_prepared(c: Context, place: Path) -> None:
    """Put beside the commit's files what `prepare` made there; the commit's own files stay."""
    kept = _kept(c)
    for name in _files(kept) if kept.is_dir() else ():
        target = place / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(kept / name, target, follow_symlinks=False)


def _kept(c: Context) -> Path:
    return places.state(c.w.settings.root, c.item) / "prepared-files"


def _run(c: Context, *, workspace: Path, purpose: str) -> CommandFailure | Unseen | None:
    directory = places.state(c.w.settings.root, c.item) / purpose
    return run_commands(
        c,
        c.r.policy.of(c.item.repository.key).prepare,
        confinement=confine(
            c,
            workspace=workspace,
            directory=directory,
            git_data=places.bare(c.w.settings.root, c.item.repository),
            network=True,
        ),
        directory=directory,
    )


def _files(top: Path) -> Iterator[str]:
    """Relative names of all files and links, the `.git` pointer left out. No link is followed.

    A link to a folder is a file here: it is copied as the link that it is.
    """
    for folder, names, files in os.walk(top, followlinks=False):
        here = Path(folder)
        for name in [*files, *(n for n in names if (here / n).is_symlink())]:
            if not (here == top and name == ".git"):
                yield str((here / name).relative_to(top))
