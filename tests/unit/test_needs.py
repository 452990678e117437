"""What a test needs is asked of the machine, and what was left out is said or fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import PROBES, UnknownNeedError, missing

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
import pytest

@pytest.mark.needs("python3>=3.0", "sh")
def test_met(): pass

@pytest.mark.needs("no-such-program")
def test_absent(): raise AssertionError("must not run")

@pytest.mark.needs("git>=999")
def test_too_old(): raise AssertionError("must not run")

def test_gives_up(): pytest.skip("no reason at all")

@pytest.mark.xfail(reason="known")
def test_known(): raise AssertionError
"""


def _run(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider"],
        cwd=folder,
        check=False,
        text=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def test_what_is_left_out_is_listed_with_its_reason(tmp_path: Path) -> None:
    result = _run(tmp_path)
    assert result.returncode == 0, result.stdout
    assert "1 passed, 3 skipped, 1 xfailed" in result.stdout
    assert "NOT RUN: needs no-such-program: no-such-program is missing (1 test)" in result.stdout
    assert "NOT RUN: needs git>=999: git is" in result.stdout
    assert "NOT RUN: no reason at all (1 test)" in result.stdout


def test_where_everything_is_required_each_fails(tmp_path: Path) -> None:
    result = _run(tmp_path, TOBAN_REQUIRE="all")
    assert result.returncode == 1, result.stdout
    assert "1 failed, 1 passed, 1 xfailed, 2 errors" in result.stdout
    assert "was NOT RUN, and TOBAN_REQUIRE=all: no reason at all" in result.stdout


def test_a_slip_in_the_variable_is_no_silence(tmp_path: Path) -> None:
    result = _run(tmp_path, TOBAN_REQUIRE="everything")
    assert result.returncode == 4, result.stdout
    assert 'TOBAN_REQUIRE=everything: expected "all" or nothing' in result.stdout


@pytest.mark.parametrize("need", ["", "Git 2", "git>2", "git>=", "sandbox>=1"])
def test_what_is_no_need_is_refused(need: str) -> None:
    with pytest.raises(UnknownNeedError):
        missing(need)


@pytest.mark.parametrize("need", sorted(PROBES))
def test_every_probe_answers(need: str) -> None:
    answer = missing(need)
    assert answer is None or answer.strip()
