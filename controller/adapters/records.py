"""Records as small JSON files below `<root>/state/`; see `controller.ports.records`.

Built by bootstrap, called by runtime. Never authoritative: an unreadable file is as good as none,
except that an intent always counts as a start.
"""

from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from controller.domain.ids import IssueId
from controller.domain.runs import Delivery, Run, Task, Tokens
from controller.domain.values import Value
from controller.files import append_synced, sync_folder, write_synced
from controller.ports.records import Posted, RestNote, Usage

_DAY = timedelta(days=1)
_REMEMBERED = 500
"""Comments of ours per item: many times more than any item gets."""


class _Intent(Value):
    task: Task
    started_at: datetime


class _Spent(Value):
    at: datetime
    runs: int = 0
    tokens: int = 0


class _Pause(Value):
    until: datetime


_POSTED: TypeAdapter[tuple[Posted, ...]] = TypeAdapter(tuple[Posted, ...])


class FileRecords:
    """RecordsReader and RecordsWriter on one folder."""

    def __init__(self, root: Path) -> None:
        """`root` is `paths.root`."""
        self._state = root / "state"

    def runs(self, item: IssueId) -> tuple[Run, ...]:
        """See `RecordsReader`."""
        folder = self._folder(item) / "runs"
        names = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        found = [self._run(folder / name, int(name)) for name in names if name.isdecimal()]
        return tuple(run for run in found if run is not None)

    def _run(self, folder: Path, seq: int) -> Run | None:
        intent = _read(folder / "intent.json", _Intent)
        if intent is None:
            return None
        run = _read(folder / "result.json", Run)
        if run is None or run.seq != seq:
            run = Run(seq=seq, task=intent.task, started_at=intent.started_at)
        delivery = _read(folder / "delivery.json", Delivery)
        return run.model_copy(update={"delivery": delivery})

    def prepared(self, item: IssueId) -> bool:
        """See `RecordsReader`."""
        return (self._folder(item) / "prepared").exists()

    def posted(self, item: IssueId, *, number: int) -> tuple[Posted, ...]:
        """See `RecordsReader`."""
        return tuple(each for each in self._posted(item) if each.number == number)

    def _posted(self, item: IssueId) -> tuple[Posted, ...]:
        try:
            return _POSTED.validate_json((self._folder(item) / "posted.json").read_bytes())
        except (OSError, ValidationError):
            return ()

    def rest(self, item: IssueId) -> RestNote | None:
        """See `RecordsReader`."""
        return _read(self._folder(item) / "rest.json", RestNote)

    def pause_until(self) -> datetime | None:
        """See `RecordsReader`."""
        pause = _read(self._state / "agents-pause.json", _Pause)
        return pause.until if pause else None

    def usage(self, *, now: datetime) -> Usage:
        """See `RecordsReader`."""
        spent = [each for each in self._spent() if now - _DAY < each.at <= now + _DAY]
        return Usage(
            runs=sum(each.runs for each in spent),
            tokens=sum(each.tokens for each in spent),
            oldest=min((each.at for each in spent), default=None),
        )

    def _spent(self) -> list[_Spent]:
        try:
            lines = (self._state / "usage.jsonl").read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(_Spent.model_validate_json(line))
            except ValidationError:
                continue
        return found

    def unfinished(self) -> tuple[Path, ...]:
        """See `RecordsReader`."""
        runs = (p.parent for p in self._state.glob("*/*/issue-*/runs/*/process.json"))
        commands = (p.parent for p in self._state.glob("*/*/issue-*/*/command-*/process.json"))
        return (*(r for r in runs if not (r / "result.json").exists()), *commands)

    def run_directory(self, item: IssueId, seq: int) -> Path:
        """See `RecordsReader`."""
        return self._folder(item) / "runs" / f"{seq:04d}"

    def begin(self, item: IssueId, task: Task, *, at: datetime) -> Run:
        """See `RecordsWriter`."""
        # First the ledger of the day: a start that cannot be counted leaves no intent behind.
        append_synced(self._state / "usage.jsonl", _Spent(at=at, runs=1).model_dump_json())
        folder = self._folder(item) / "runs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        taken = [int(p.name) for p in folder.iterdir() if p.name.isdecimal()]
        run = Run(seq=max(taken, default=0) + 1, task=task, started_at=at)
        directory = self.run_directory(item, run.seq)
        directory.mkdir(mode=0o700)
        intent = _Intent(task=task, started_at=at)
        write_synced(directory / "intent.json", intent.model_dump_json())
        sync_folder(folder)
        return run

    def finish(self, item: IssueId, run: Run) -> None:
        """See `RecordsWriter`."""
        place = self.run_directory(item, run.seq) / "result.json"
        write_synced(place, run.model_dump_json(exclude={"delivery"}))
        spent = _Spent(at=run.ended_at or run.started_at, tokens=_total(run.tokens))
        append_synced(self._state / "usage.jsonl", spent.model_dump_json())

    def deliver(self, item: IssueId, *, seq: int, delivery: Delivery) -> None:
        """See `RecordsWriter`."""
        place = self.run_directory(item, seq) / "delivery.json"
        write_synced(place, delivery.model_dump_json())

    def set_prepared(self, item: IssueId, *, done: bool) -> None:
        """See `RecordsWriter`."""
        place = self._folder(item) / "prepared"
        if done:
            write_synced(place, "")
        else:
            place.unlink(missing_ok=True)

    def note_posted(self, item: IssueId, posted: Posted) -> None:
        """See `RecordsWriter`."""
        others = (each for each in self._posted(item) if each.comment != posted.comment)
        kept = (*others, posted)[-_REMEMBERED:]
        write_synced(self._folder(item) / "posted.json", _POSTED.dump_json(kept).decode())

    def note_rest(self, item: IssueId, note: RestNote) -> None:
        """See `RecordsWriter`."""
        if self.rest(item) != note:
            write_synced(self._folder(item) / "rest.json", note.model_dump_json())

    def set_pause(self, until: datetime) -> None:
        """See `RecordsWriter`."""
        write_synced(self._state / "agents-pause.json", _Pause(until=until).model_dump_json())

    def _folder(self, item: IssueId) -> Path:
        return self._state / item.folder


def _total(tokens: Tokens) -> int:
    return tokens.input + tokens.output


def _read[T: BaseModel](path: Path, shape: type[T]) -> T | None:
    """The record in a file, None when it is absent or unreadable."""
    try:
        return shape.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
