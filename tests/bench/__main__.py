"""`python -m tests.bench [--json FILE] [--quick] [--only GROUP] [--folder DIR]`: measure and print.

Called by `make bench`. Exit 0 whatever the numbers are: goals are shown, never enforced.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench import idle, planning, start, whole, work
from tests.bench.idle import Size
from tests.bench.report import Row, document, table

QUICK = (Size(2, 4),)
FULL = (Size(1, 0), Size(1, 100), Size(10, 100), Size(50, 100), Size(10, 0), Size(50, 0))


def groups(folder: Path, *, quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    """What can be measured, by name, in the order of the table."""
    times = 1 if quick else 5
    few = 1 if quick else 3
    sizes = QUICK if quick else FULL
    small, large = (50, 1_000) if quick else (200, 50_000)
    return {
        "start": lambda: start.rows(times=times, cwd=folder),
        "idle": lambda: idle.rows(times=times, folder=folder / "idle", sizes=sizes),
        "work": lambda: work.rows(
            times=times, folder=folder / "small", count=small, goals=work.SMALL
        ),
        "large": lambda: work.rows(
            times=few, folder=folder / "large", count=large, goals=work.LARGE
        ),
        "planning": lambda: planning.rows(times=few, count=400 if quick else 10_000),
        "doctor": lambda: whole.doctor(times=few, folder=folder / "doctor"),
        "demo": lambda: whole.demo(folder=folder / "demo"),
    }


NOT_QUICK = frozenset({"large", "demo"})


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="the numbers as JSON")
    parser.add_argument("--quick", action="store_true", help="small and once: does it work?")
    parser.add_argument("--only", action="append", metavar="GROUP", help="these groups alone")
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="work below DIR: a tmpfs leaves the disk out (not below /dev: the sandbox hides it)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="toban-bench-", dir=options.folder) as name:
        known = groups(Path(name), quick=options.quick)
        wanted = options.only or [it for it in known if not (options.quick and it in NOT_QUICK)]
        unknown = [it for it in wanted if it not in known]
        if unknown:
            parser.error(f"no group {unknown[0]!r}; there are {', '.join(known)}")
        rows: list[Row] = []
        for group in wanted:
            print(f"measuring {group} ...", file=sys.stderr, flush=True)
            rows += known[group]()
    print(table(rows), end="")
    if options.json is not None:
        options.json.write_text(document(rows, quick=options.quick), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
