"""Locks that a killed git left in the bare repository.

Only toban's tick starts git there, under its own kernel lock; so a lock file without a living git
process on that repository belongs to nobody and would stop every later fetch.
"""

import os
from contextlib import suppress
from pathlib import Path


def clear_stale_locks(bare: Path) -> None:
    """Remove lock files of refs and of the repository when no git works on it."""
    folders = [bare, *(Path(folder) for folder, _, _ in os.walk(bare / "refs"))]
    locks = [lock for folder in folders for lock in folder.glob("*.lock")]
    if locks and not _is_used(bare):
        for lock in locks:
            lock.unlink(missing_ok=True)


def _is_used(bare: Path) -> bool:
    mark = os.fsencode(f"--git-dir={bare}")
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "cmdline").read_bytes().split(b"\0"):
                return True
    return False
