"""Codex's event stream (JSONL on stdout) read as it comes: what a run has said so far.

Fed by `controller.adapters.codex.runner`. Every field is hostile; an unreadable line is passed
over, since success needs `turn.completed` anyway. Never judges how the run ended.
"""

import json
import re
from pathlib import PurePath

from controller.domain.runs import Tokens
from controller.domain.text import safe_text

MAX_LINE = 64 * 1024 * 1024
LINE_LIMIT = 200
SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|zsh) -l?c ")
WAITING = re.compile(r"waiting for network|connection failed|error sending request", re.IGNORECASE)
"""Codex repeats such an error for ever while the model's address does not answer."""


class Transcript:
    """What the events of one run have told."""

    def __init__(self, *, workspace: PurePath) -> None:
        self.thread: str | None = None
        self.completed = False
        self.failure: str | None = None
        """Message of `turn.failed`."""
        self.last_error: str | None = None
        """Message of the last event `error`, which alone ends nothing."""
        self.last_message = ""
        self.usage = Tokens()
        """Sum over the whole thread, earlier runs included."""
        self.waiting = False
        """Whether the last thing said is that the network does not answer."""
        self._workspace = workspace
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        """Take bytes of stdout; one safe line for people per complete event."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > MAX_LINE:
            self._rest = b""
        told = (self._line(line) for line in lines if line.strip())
        return [safe_text(text, limit=LINE_LIMIT) for text in told if text]

    def _line(self, line: bytes) -> str:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return ""
        return self._event(event) if isinstance(event, dict) else ""

    def _event(self, event: dict[str, object]) -> str:
        kind = str(event.get("type"))
        if kind == "error":
            self.last_error = _message(event)
            self.waiting = WAITING.search(self.last_error) is not None
            return f"error: {self.last_error}"
        self.waiting = False
        match kind:
            case "thread.started":
                self.thread = _text(event.get("thread_id")) or None
                return f"thread {self.thread}"
            case "turn.completed":
                self.completed = True
                self.usage = read_usage(event.get("usage"))
                return f"answered: {self.usage.input} tokens in, {self.usage.output} out"
            case "turn.failed":
                self.failure = _message(event.get("error"))
                return f"failed: {self.failure}"
            case "item.started" | "item.completed":
                item = event.get("item")
                done = kind == "item.completed"
                return self._item(item, done=done) if isinstance(item, dict) else ""
            case _:
                return ""

    def _item(self, item: dict[str, object], *, done: bool) -> str:
        match item.get("type"):
            case "command_execution":
                command = SHELL.sub("", _text(item.get("command")), count=1)
                return f"exit {item.get('exit_code')}: {command}" if done else f"$ {command}"
            case "file_change" if done:
                return f"files: {self._changes(item.get('changes'))} ({item.get('status')})"
            case "agent_message" if done:
                self.last_message = _text(item.get("text"))
                return f"says: {self.last_message}"
            case "error":
                return f"note: {_message(item)}"
            case _:
                return ""

    def _changes(self, changes: object) -> str:
        if not isinstance(changes, list):
            return ""
        return ", ".join(
            f"{change.get('kind')} {self._relative(_text(change.get('path')))}"
            for change in changes
            if isinstance(change, dict)
        )

    def _relative(self, path: str) -> str:
        prefix = f"{self._workspace}/"
        return path.removeprefix(prefix)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _message(value: object) -> str:
    return _text(value.get("message")) if isinstance(value, dict) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def read_usage(usage: object) -> Tokens:
    """The token counts of a `turn.completed`; a missing or odd count is 0."""
    if not isinstance(usage, dict):
        return Tokens()
    return Tokens(
        input=_count(usage.get("input_tokens")),
        cached_input=_count(usage.get("cached_input_tokens")),
        output=_count(usage.get("output_tokens")),
        reasoning=_count(usage.get("reasoning_output_tokens")),
    )
