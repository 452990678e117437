"""Ending what a killed tick left running, and removing the empty folders its sandbox left.

Called through `controller.adapters.codex.runner` before anything else touches an item. Ends only
the recorded process (pid and start time) with its tree, and processes whose TMPDIR lies in the run
directory; a person's own shell is never one of them.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from controller.adapters.codex.files import read_record, remove_empty
from controller.adapters.codex.tree import ProcessMark, descendants, end_all, is_alive
from controller.domain.text import safe_text

LINE_LIMIT = 200


def end_stragglers(run_directory: Path) -> tuple[str, ...]:
    """End what is left of the run in this directory; one safe line per ended process.

    Raises AgentError when something cannot be ended.
    """
    record = read_record(run_directory)
    heads = [record.mark] if record is not None and is_alive(record.mark) else []
    found = {one.pid: one for one in descendants(head.pid for head in heads)}
    for one in descendants(_with_tmpdir_in(run_directory.resolve())):
        found[one.pid] = one
    told = tuple(_describe(one) for one in found.values())
    # The head first and politely: Codex takes its sandbox down by itself.
    end_all(heads)
    end_all(found.values())
    if record is not None:
        remove_empty(record.mount_points)
    return told


def _with_tmpdir_in(folder: Path) -> Iterator[int]:
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            place = process.environ().get("TMPDIR")
            if place and process.pid != os.getpid() and Path(place).is_relative_to(folder):
                yield process.pid


def _describe(marked: ProcessMark) -> str:
    with suppress(psutil.Error):
        command = " ".join(psutil.Process(marked.pid).cmdline())
        return safe_text(f"process {marked.pid}: {command}", limit=LINE_LIMIT)
    return f"process {marked.pid}"
