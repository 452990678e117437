"""What was measured, as a table for people and as one JSON document.

Filled by the groups of the bench, printed by `tests.bench.__main__`.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.bench.measure import Comparison, Medians

SCHEMA = 1
HEADS = ("", "measured", "floor", "ours", "ratio", "goal", "met")


class Row(NamedTuple):
    """One line: what was measured, beside its floor and its goal."""

    group: str
    name: str
    ours: str
    goal: str = ""
    met: bool | None = None
    """None where there is no goal."""
    floor: str = ""
    ratio: float | None = None
    detail: Mapping[str, Any] = MappingProxyType({})
    """The numbers behind it, for JSON."""


def milliseconds(seconds: float) -> str:
    """`63 ms`."""
    return f"{seconds * 1000:.0f} ms"


def megabytes(size: int) -> str:
    """`25.3 MB`."""
    return f"{size / 1_000_000:.1f} MB"


def times(value: float) -> str:
    """`1.20 x`."""
    return f"{value:.2f} x"


def compared(
    group: str, name: str, found: Comparison, *, most: float, allowance: float = 0.0, goal: str = ""
) -> Row:
    """A row whose goal is `most` times the floor plus `allowance` seconds."""
    said = goal or f"<= {most:g} x"
    return Row(
        group=group,
        name=name,
        floor=f"{milliseconds(found.floor)} {found.by}",
        ours=f"{milliseconds(found.own)} {found.by}",
        ratio=found.ratio,
        goal=said,
        met=found.own <= most * found.floor + allowance,
        detail={
            "floor_before": _numbers(found.before),
            "ours": _numbers(found.ours),
            "floor_after": _numbers(found.after),
            "load": found.load,
            "decided_by": found.by,
            "allowed_s": most * found.floor + allowance,
        },
    )


def counted(group: str, name: str, value: float, *, most: float, unit: str = "") -> Row:
    """A row whose goal is a number that must not be exceeded."""
    end = f" {unit}" if unit else ""
    return Row(
        group=group,
        name=name,
        ours=f"{value:g}{end}",
        goal=f"<= {most:g}{end}",
        met=value <= most,
        detail={"value": value, "most": most},
    )


def _numbers(found: Medians) -> dict[str, float]:
    return {"wall_s": found.wall, "cpu_s": found.cpu, "rss_bytes": found.rss}


def table(rows: Sequence[Row]) -> str:
    """The rows for people, grouped."""
    cells = [HEADS]
    group = ""
    for row in rows:
        cells.append(
            (
                row.group if row.group != group else "",
                row.name,
                row.floor,
                row.ours,
                "" if row.ratio is None else times(row.ratio),
                row.goal,
                {None: "", True: "yes", False: "NO"}[row.met],
            )
        )
        group = row.group
    widths = [max(len(line[at]) for line in cells) for at in range(len(HEADS))]
    lines = ["  ".join(it.ljust(w) for it, w in zip(line, widths, strict=True)) for line in cells]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def document(rows: Sequence[Row], *, quick: bool) -> str:
    """The rows and the machine as JSON."""
    result = {
        "schema": SCHEMA,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "quick": quick,
        "machine": {
            "system": platform.platform(),
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            "load": os.getloadavg(),
        },
        "rows": [row._asdict() | {"detail": dict(row.detail)} for row in rows],
    }
    return json.dumps(result, ensure_ascii=False, indent=2) + "\n"
