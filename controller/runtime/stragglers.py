"""What a killed tick left running is ended before anything else (decisions 17).

Called by `toban run-once` right after it has the workload's lock: whatever runs now is nobody's.
"""

from collections.abc import Iterator

from controller.errors import AgentError
from controller.runtime.tools import Readers, Writers


def end_stragglers(r: Readers, w: Writers) -> Iterator[str]:
    """End every process tree whose run has no end; one safe line for each that was alive.

    Raises AgentError when one cannot be ended: nothing may be read or started beside it.
    """
    for directory in r.records.unfinished():
        try:
            yield from w.agents.end_stragglers(directory)
        except OSError as error:
            raise AgentError(f"{directory}: {error.strerror or error}") from error
