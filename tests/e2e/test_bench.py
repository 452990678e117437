"""The bench itself: that it runs, says what it measured, and is valid JSON. Never how fast."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.bench", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.needs("sandbox", "git")
def test_the_bench_measures_every_group_and_says_it_twice(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"

    done = _bench("--quick", "--json", str(numbers))

    assert done.returncode == 0, done.stderr
    document = json.loads(numbers.read_text("utf-8"))
    assert (document["schema"], document["quick"]) == (1, True)
    groups = {row["group"] for row in document["rows"]}
    assert groups == {"CLI start", "idle tick", "work, 50 files", "planning", "newcomer"}
    for row in document["rows"]:
        assert row["name"] in done.stdout
        assert (row["met"] is None) == (row["goal"] == "")
    compared = [row["detail"] for row in document["rows"] if "decided_by" in row["detail"]]
    assert compared
    for detail in compared:
        for measured in ("floor_before", "ours", "floor_after"):
            assert detail[measured]["wall_s"] > 0


def test_an_unknown_group_is_a_usage_error_that_names_the_groups() -> None:
    done = _bench("--only", "nothing")

    assert done.returncode == 2
    assert "there are start, idle, work, large, planning, doctor, demo" in done.stderr
