"""Files of a run directory: written whole and synced, read with a bound.

Used by `controller.adapters.codex`. Writes only below a run directory that the caller made.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from controller.adapters.codex.tree import ProcessMark
from controller.domain.values import Value

PROCESS = "process.json"
MOUNT_POINTS = (".codex", ".agents", ".aws", ".git")
"""Empty folders that the sandbox mounts over in the workspace and now and then leaves behind."""
MOUNT_LISTS = "codex-bwrap-synthetic-mount-targets-*"


class ProcessRecord(Value):
    """What a later tick needs to end and tidy up a run whose tick was killed."""

    mark: ProcessMark
    mount_points: tuple[Path, ...] = ()
    """Folders to remove if they are empty: they were not there before the run."""


def write_synced(path: Path, data: bytes) -> None:
    """Write a file so that after a power cut the old or the new content is there, whole."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_tail(path: Path, limit: int) -> str:
    """The last `limit` bytes of a file as text; empty when there is no such file."""
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - limit, 0))
        return file.read(limit).decode("utf-8", errors="replace")
    return ""


def read_record(run_directory: Path) -> ProcessRecord | None:
    """The record of a run, None when none was written or it cannot be read."""
    try:
        return ProcessRecord.model_validate_json((run_directory / PROCESS).read_bytes())
    except (OSError, ValidationError):
        return None


def absent_mount_points(workspace: Path) -> tuple[Path, ...]:
    """Those mount points of the sandbox that are not there now."""
    places = (workspace / name for name in MOUNT_POINTS)
    return tuple(place for place in places if not os.path.lexists(place))


def remove_mount_lists(scratch: Path) -> None:
    """Remove what an earlier process may have planted where Codex keeps its list of mounts.

    Codex works there outside the sandbox and follows a link that stands in place of its lock file.
    """
    for planted in scratch.glob(MOUNT_LISTS):
        if planted.is_dir() and not planted.is_symlink():
            shutil.rmtree(planted)
        else:
            planted.unlink()


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove what the sandbox left behind, and only where it is an empty folder."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
