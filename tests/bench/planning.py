"""Planning very many issues: how long, and whether twice as many take twice as long."""

import json
import statistics
import sys
from collections.abc import Callable, Iterator

from tests.bench.idle import FLOORS
from tests.bench.measure import weigh
from tests.bench.report import Row, milliseconds
from tests.bench.site import PROJECT

GROUP = "planning"
GOALS = {"plan": 0.5, "round_trip": 1.5}
"""CPU seconds for 10,000 issues."""
NAMES = {"plan": "plan()", "round_trip": "saved look -> plan as JSON"}
FOR = 10_000
TWICE = 2.2
"""How many times longer twice as many may take."""

type Numbers = dict[str, float]


def rows(*, times: int, count: int) -> Iterator[Row]:
    """`count` issues, twice as many, and the floor before and after."""
    before = _median(lambda: _floor(count), times)
    one = _median(lambda: _ours(count), times)
    two = _median(lambda: _ours(2 * count), times)
    after = _median(lambda: _floor(count), times)
    for key, goal in GOALS.items():
        floor = (before[key] + after[key]) / 2
        scaled = goal * count / FOR
        yield Row(
            group=GROUP,
            name=f"{count} issues: {NAMES[key]}",
            floor=f"{milliseconds(floor)} cpu",
            ours=f"{milliseconds(one[key])} cpu",
            ratio=one[key] / floor,
            goal=f"<= {milliseconds(scaled)}",
            met=one[key] <= scaled,
            detail={"floor_before": before[key], "ours": one[key], "floor_after": after[key]},
        )
        yield Row(
            group=GROUP,
            name=f"{2 * count} issues: {NAMES[key]} / {count}",
            floor=f"{milliseconds(one[key])} cpu",
            ours=f"{milliseconds(two[key])} cpu",
            ratio=two[key] / one[key],
            goal=f"<= {TWICE} x",
            met=two[key] <= TWICE * one[key],
            detail={"ours": two[key]},
        )


def _median(measured: Callable[[], Numbers], times: int) -> Numbers:
    found = [measured() for _ in range(times)]
    return {key: statistics.median(each[key] for each in found) for key in GOALS}


def _ours(count: int) -> Numbers:
    return _read(weigh([sys.executable, "-m", "tests.bench.many", str(count)], cwd=PROJECT).out)


def _floor(count: int) -> Numbers:
    return _read(weigh([sys.executable, str(FLOORS / "plan_many.py"), str(count)]).out)


def _read(text: str) -> Numbers:
    numbers: Numbers = json.loads(text)
    return numbers
