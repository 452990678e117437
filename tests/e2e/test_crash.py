"""`kill -9` after each durable write of a real tick; then ticks to rest end as without it."""

import subprocess
import sys

import pytest

from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, Host, reviewer, rework, worker
from tests.e2e.test_flow import never_forced

WRITE = "printf 'hello\\n' > feature.txt"
MORE = "printf 'more\\n' >> feature.txt"
WRITES = 64
"""More than a tick with one rework has; later ones find it finished and prove nothing new."""


def die_at(host: Host, write: int) -> int:
    """A tick that dies at its n-th durable write; its exit code."""
    command = [sys.executable, "-m", "tests.e2e.dying", str(write), "run-once"]
    done = subprocess.run(
        [*command, "--config", str(host.config)],
        env=host.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


@pytest.mark.parametrize("write", range(1, WRITES, 3))
def test_after_a_power_cut_the_end_is_the_same(make_host: MakeHost, write: int) -> None:
    host = make_host(worker([WRITE], [MORE]), reviewer(rework(), APPROVE))
    number = host.issue()
    killed = die_at(host, write)
    host.rest()
    assert host.labels(number) == ["human:review"], killed
    assert host.git("show", f"agent/issue-{number}:feature.txt").startswith("hello\n")
    pulls = host.world.pulls(REPO)
    assert len(pulls) == 1
    bodies = host.bodies(number)
    assert len(bodies) == len({body.partition("\n")[0] for body in bodies}), "nothing said twice"
    head = host.git("rev-parse", f"agent/issue-{number}").strip()
    approvals = [body for body in host.bodies(pulls[0].number) if "**Review: approve**" in body]
    assert len(approvals) == 1
    assert head in approvals[0]
    never_forced(host)
