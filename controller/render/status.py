"""`toban status` for people and as JSON. Pure.

Called by `controller.cli`; `controller.render.page` makes a page of the same cells.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from controller.domain.conditions import ItemStatus, Standing
from controller.domain.host import Host
from controller.domain.policy import Policy
from controller.domain.values import Seen, Unseen
from controller.render.lines import (
    EMPTY,
    LONGEST_TITLE,
    Line,
    Span,
    Style,
    count,
    foreign,
    line,
    moment,
)
from controller.render.plan_json import SCHEMA, Document, safe, stamp
from controller.render.plan_text import unseen_lines

HEADS = ("ITEM", "PHASE", "CONDITION", "REASON", "AGE", "PR", "REWORKS", "AGENT", "TITLE")
NOTHING = "-"
STYLES: dict[Standing, Style] = {
    Standing.READY: "good",
    Standing.PROGRESSING: "",
    Standing.STALLED: "bad",
    Standing.UNKNOWN: "warn",
}


class Frame(NamedTuple):
    """What stands around the table."""

    host: Host
    policy: Policy
    unseen: tuple[Unseen, ...]
    now: datetime
    tick: str
    """Who holds the lock, empty when no tick is running."""


def status_lines(items: Sequence[ItemStatus], frame: Frame) -> list[Line]:
    """The table, what could not be seen, and the host's limits."""
    lines: list[Line] = []
    if items:
        rows = [HEADS, *(cells(item, now=frame.now) for item in items)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(HEADS) - 1)]
        lines.append(line(Span(_joined(HEADS, widths), "bold")))
        for item, row in zip(items, rows[1:], strict=True):
            lines += _row(item, row, widths)
    elif not frame.unseen:
        lines.append(line("No item carries a label of toban's."))
    lines += unseen_lines(frame.unseen)
    lines = lines[1:] if lines[:1] == [EMPTY] else lines
    return [*lines, EMPTY, *(line(Span(text, "dim")) for text in limits(frame))]


def cells(item: ItemStatus, *, now: datetime) -> tuple[str, ...]:
    """One item in the order of `HEADS`."""
    reworks = NOTHING if item.reworks is None else f"{item.reworks}/{item.budget}"
    agent = item.agent
    return (
        str(item.item),
        item.phase,
        str(item.standing),
        str(item.reason),
        NOTHING if item.since is None else age(now - item.since),
        NOTHING if item.pull is None else f"#{item.pull}",
        reworks,
        NOTHING if agent is None else f"{agent.phase} {age(now - agent.since)}",
        foreign(item.title, LONGEST_TITLE),
    )


def _joined(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*_padded(row, widths), row[-1]])


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]


def _row(item: ItemStatus, row: Sequence[str], widths: Sequence[int]) -> list[Line]:
    before, condition, after = row[:2], row[2].ljust(widths[2]), row[3:]
    head = line(
        "".join(f"{cell}  " for cell in _padded(before, widths)),
        Span(condition, STYLES[item.standing]),
        "  " + _joined(after, widths[3:]),
    )
    until = f" (until {moment(item.until)})" if item.until else ""
    return [head, line(Span(f"    {foreign(item.message)}{until}", "dim"))]


def age(span: timedelta) -> str:
    """The two largest units: `3d4h`, `2h5m`, `7m`, `12s`; never negative."""
    seconds = max(0, int(span.total_seconds()))
    days, hours, minutes = seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d{hours}h"
    if hours:
        return f"{hours}h{minutes}m"
    return f"{minutes}m" if minutes else f"{seconds}s"


def limits(frame: Frame) -> list[str]:
    """What the host can spare, what the day has cost, and whether a tick is running."""
    host, policy = frame.host, frame.policy
    disk = _measured(host.free_disk_gb, "GB", policy.min_free_disk_gb)
    memory = _measured(host.free_memory_percent, "%", policy.min_free_memory_percent)
    runs = f"{count(host.runs_last_day, 'run')} {_at_most(policy.max_runs_per_day)}"
    tokens = f"{count(host.tokens_last_day, 'token')} {_at_most(policy.max_tokens_per_day)}"
    lines = [
        f"free disk: {disk}; free memory: {memory}",
        f"last 24 hours: {runs}, {tokens}",
        f"running tick: {foreign(frame.tick)}" if frame.tick else "no tick is running",
    ]
    if host.agents_pause_until is not None:
        lines.append(f"usage limit: no start of Codex before {moment(host.agents_pause_until)}")
    return lines


def _measured(value: Seen[float], unit: str, least: float) -> str:
    if isinstance(value, Unseen):
        return f"unknown ({foreign(value.reason)})"
    return f"{value:.1f} {unit} (at least {least:g} {unit})"


def _at_most(most: int) -> str:
    return f"(at most {most})" if most else "(no limit)"


def status_document(items: Iterable[ItemStatus]) -> Document:
    """`status --json`."""
    return {"schema": SCHEMA, "items": [_item(item) for item in items]}


def _item(item: ItemStatus) -> Document:
    agent = item.agent
    return {
        "item": str(item.item),
        "phase": item.phase,
        "reason": str(item.reason),
        "message": safe(item.message),
        "pr": item.pull,
        "reworks": item.reworks,
        "agent": None
        if agent is None
        else {"phase": agent.phase, "run": agent.run, "since": stamp(agent.since)},
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "reason": str(each.reason),
                "message": safe(each.message),
                "since": stamp(each.since),
            }
            for each in item.conditions
        ],
    }
