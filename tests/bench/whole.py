"""What a newcomer waits for: doctor and demo, from start to end."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Sample, medians, weigh
from tests.bench.report import Row, milliseconds
from tests.bench.site import BOT, OWNER, PROJECT, Site

GROUP = "newcomer"
DOCTOR_S = 2
DEMO_S = 60
FAILS = 1
"""A finding such as a short disk is no reason not to measure."""


def doctor(*, times: int, folder: Path) -> Iterator[Row]:
    """`toban doctor` with everything that it asks, the sandbox's real trial among it."""
    with Site(folder) as site:
        name = f"{OWNER}/app"
        site.world.add_repo(name, private=True, collaborators={BOT: "write"})
        site.configure(f'repositories = ["{name}"]')

        def once() -> Sample:
            return weigh(site.argv("doctor"), env=site.environment(), expected=[0, FAILS])

        found = medians([once() for _ in range(times)])
        alone = medians([once_self(site) for _ in range(times)])
    yield _row("toban doctor", found.wall, found.cpu, DOCTOR_S)
    yield _row("toban doctor --self", alone.wall, alone.cpu, DOCTOR_S)


def once_self(site: Site) -> Sample:
    """The part that needs no network."""
    return weigh(site.argv("doctor", "--self"), env=site.environment(), expected=[0, FAILS])


def demo(*, folder: Path) -> Iterator[Row]:
    """`toban demo`, once: it is long enough."""
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "TMPDIR": str(folder)}
    found = weigh([sys.executable, "-m", "controller", "demo"], env=environment, cwd=folder)
    yield _row("toban demo", found.wall, found.cpu, DEMO_S)


def _row(name: str, wall: float, cpu: float, most: float) -> Row:
    return Row(
        group=GROUP,
        name=name,
        ours=f"{milliseconds(wall)} wall, {milliseconds(cpu)} cpu",
        goal=f"<= {most} s",
        met=wall <= most,
        detail={"wall_s": wall, "cpu_s": cpu, "most_s": most, "load": os.getloadavg()[0]},
    )
