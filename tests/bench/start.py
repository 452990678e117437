"""Starting the program: help and version, against the smallest program with typer."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Sample, compare, weigh
from tests.bench.report import Row, compared
from tests.bench.site import PROJECT

GROUP = "CLI start"
TYPER = PROJECT / "tests" / "bench" / "floors" / "typer_help.py"


def rows(*, times: int, cwd: Path) -> Iterator[Row]:
    """`--help` and `--version`, and both against a bare interpreter."""

    def floor() -> Sample:
        return weigh([sys.executable, str(TYPER), "--help"], cwd=cwd)

    def bare() -> Sample:
        return weigh([sys.executable, "-c", "pass"], cwd=cwd)

    for flag in ("--help", "--version"):

        def ours(flag: str = flag) -> Sample:
            return weigh([sys.executable, "-m", "controller", flag], cwd=PROJECT)

        against_typer, against_bare = compare(ours, floor, bare, times=times)
        yield compared(GROUP, f"toban {flag} / typer help", against_typer, most=1.2)
        row = compared(GROUP, f"toban {flag} / bare python", against_bare, most=0)
        yield row._replace(goal="", met=None)
