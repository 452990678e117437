"""For every test: what it needs of the machine, and that nothing left out goes unsaid.

A test whose need is not met is not run and is listed at the end under NOT RUN with the reason. With
`TOBAN_REQUIRE=all` (as .ci/run sets it) every skip is a failure instead.
"""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.needs import missing

REQUIRE = "TOBAN_REQUIRE"

settings.register_profile("toban", deadline=None, print_blob=True)
settings.load_profile("toban")


def _everything_required() -> bool:
    value = os.environ.get(REQUIRE, "")
    if value not in {"", "all"}:
        raise pytest.UsageError(f'{REQUIRE}={value}: expected "all" or nothing')
    return value == "all"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "needs(*needs): programs or capabilities of the machine, see tests/needs.py"
    )
    _everything_required()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for need in mark.args:
            reason = missing(need)
            if reason is not None:
                pytest.skip(f"needs {need}: {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    where = report.longrepr
    return str(where[2] if isinstance(where, tuple) else where).removeprefix("Skipped: ")


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    expected_failure = hasattr(report, "wasxfail")
    if report.skipped and not expected_failure and _everything_required():
        reason = _reason(report)
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was NOT RUN, and {REQUIRE}=all: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.getreports("skipped")
    if not skipped:
        return
    counts: dict[str, int] = {}
    for report in skipped:
        reason = _reason(report)
        counts[reason] = counts.get(reason, 0) + 1
    terminalreporter.section(f"NOT RUN: {len(skipped)}")
    for reason, count in sorted(counts.items()):
        terminalreporter.line(f"NOT RUN: {reason} ({count} {'test' if count == 1 else 'tests'})")
