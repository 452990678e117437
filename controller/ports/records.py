"""What runtime keeps on the disk of one item: intents and results of runs, and loose notes.

Implemented by `controller.adapters.records`. Nothing here is authoritative: a rebuilt machine has
none of it and goes on from GitHub and git. Every write is temp + fsync + rename.
"""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from controller.domain.ids import IssueId
from controller.domain.plan import Hold
from controller.domain.runs import Delivery, Run, Task
from controller.domain.values import Value


class RestNote(Value):
    """At which versions an item was seen at rest: unchanged versions need no new look."""

    versions: str
    """Digest over labels, update times and heads (see `controller.runtime.rest`)."""
    hold: Hold


class Posted(Value):
    """A comment that we posted: a list that lacks it is stale, another body was edited since."""

    number: int
    """Of the issue or pull request."""
    comment: int
    body: str
    """SHA-256 of the body as the forge gave it back, hexadecimal."""
    at: datetime


class Usage(NamedTuple):
    """Starts of Codex in the last 24 hours, all workloads."""

    runs: int
    tokens: int
    oldest: datetime | None


class RecordsReader(Protocol):
    """All that `plan` may know of the records."""

    def runs(self, item: IssueId) -> tuple[Run, ...]:
        """Recorded starts, oldest first. Unreadable records are reported as runs without an end."""

    def prepared(self, item: IssueId) -> bool:
        """Whether `prepare` ran in the present worktree."""

    def posted(self, item: IssueId, *, number: int) -> tuple[Posted, ...]:
        """Comments that we posted on an issue or pull request from this machine, oldest first."""

    def rest(self, item: IssueId) -> RestNote | None:
        """The note of the last look that found the item at rest."""

    def pause_until(self) -> datetime | None:
        """End of the usage-limit pause."""

    def usage(self, *, now: datetime) -> Usage:
        """What the last 24 hours cost."""

    def unfinished(self) -> tuple[Path, ...]:
        """Folders of runs and commands, of all items, that may have left a process behind."""

    def run_directory(self, item: IssueId, seq: int) -> Path:
        """Folder of a run: prompt, events, output."""


class RecordsWriter(Protocol):
    """Changes of the records; each is on the disk when the call returns."""

    def begin(self, item: IssueId, task: Task, *, at: datetime) -> Run:
        """Make the run's folder and write its intent, before Codex is started."""

    def finish(self, item: IssueId, run: Run) -> None:
        """Write how a run ended."""

    def deliver(self, item: IssueId, *, seq: int, delivery: Delivery) -> None:
        """Write what became of a run's tree."""

    def set_prepared(self, item: IssueId, *, done: bool) -> None:
        """Remember, or forget with a new worktree, that `prepare` ran."""

    def note_posted(self, item: IssueId, posted: Posted) -> None:
        """Remember a comment of ours."""

    def note_rest(self, item: IssueId, note: RestNote) -> None:
        """Remember that the item is at rest at these versions."""

    def set_pause(self, until: datetime) -> None:
        """Pause all starts of Codex until then."""
