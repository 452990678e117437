"""Tokens of one run: Codex counts per thread, so earlier runs of the thread are subtracted.

Used by `controller.adapters.codex.runner`. Reads only the event streams of the sibling run
directories: no counter is kept that could be lost.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from controller.adapters.codex.events import MAX_LINE, read_usage
from controller.domain.runs import Tokens

EVENTS = "events.jsonl"


def used_before(run_directory: Path, thread: str) -> Tokens:
    """What `thread` had used when this run began: the highest sum in the directories beside it."""
    highest = Tokens()
    for events in sorted(run_directory.parent.glob(f"*/{EVENTS}")):
        if events.parent != run_directory:
            for used in _sums(events, thread):
                highest = max(highest, used, key=lambda tokens: tokens.input + tokens.output)
    return highest


def _sums(events: Path, thread: str) -> Iterator[Tokens]:
    """Sums that one event stream names, if it is of this thread."""
    with suppress(OSError), events.open("rb") as file:
        of_thread = False
        while line := file.readline(MAX_LINE):
            if b'"thread.started"' in line or b'"turn.completed"' in line:
                event = _object(line)
                match event.get("type"):
                    case "thread.started":
                        of_thread = event.get("thread_id") == thread
                    case "turn.completed" if of_thread:
                        yield read_usage(event.get("usage"))


def _object(line: bytes) -> dict[str, object]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def subtract(total: Tokens, before: Tokens) -> Tokens:
    """The use of this run alone; never below 0, should a thread have been counted anew."""
    return Tokens(
        input=max(total.input - before.input, 0),
        cached_input=max(total.cached_input - before.cached_input, 0),
        output=max(total.output - before.output, 0),
        reasoning=max(total.reasoning - before.reasoning, 0),
    )
