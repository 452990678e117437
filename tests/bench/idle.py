"""A tick with nothing to do: requests, share of 304, CPU time, memory, modules, processes.

For 1, 10 and 50 repositories, with and without 100 issues that wait for a person, in both ways of
saying which repositories are wanted.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.measure import Comparison, Sample, compare, weigh
from tests.bench.report import Row, compared, counted, megabytes, milliseconds
from tests.bench.site import BOT, OWNER, PROJECT, TOKEN, Site

GROUP = "idle tick"
FLOORS = PROJECT / "tests" / "bench" / "floors"
TICK = ("run-once", "--only", "issues")
OWNER_WIDE = 2
"""Requests of a tick, whatever the number of repositories and issues."""
PER_REPOSITORY_MS = 4
MEMORY = 75_000_000
WARM = 3
"""Ticks before anything is measured: the first looks at everything, the last must rest."""
HEAVY = frozenset({"github", "git", "codex_cli_bin", "rich", "typer", "pydantic", "structlog"})


class Size(NamedTuple):
    """How much there is."""

    repositories: int
    issues: int

    def __str__(self) -> str:
        return (
            f"{self.repositories} repo{'s' if self.repositories > 1 else ''}, {self.issues} waiting"
        )


class Idle(NamedTuple):
    """What one configuration measured."""

    found: Comparison
    imports: Comparison
    requests: int
    conditional: float
    """Share of requests with If-None-Match that were answered by 304."""
    gits: int
    modules: list[str]


def build(site: Site, size: Size, *, owner_wide: bool) -> None:
    """Repositories with issues of which half are blocked and half are with a person."""
    names = [f"{OWNER}/repo-{number}" for number in range(size.repositories)]
    for name in names:
        site.world.add_repo(name, private=True, collaborators={BOT: "write"})
    for number in range(size.issues):
        label = ("agent:blocked", "human:review")[number % 2]
        name = names[number % len(names)]
        made = site.world.create_issue(name, f"待つ {number}", "body " * 40, by=OWNER)
        site.world.add_label(name, made.number, label, by=OWNER)
    wanted = f'owner = "{OWNER}"' if owner_wide else f"repositories = {json.dumps(names)}"
    site.configure(wanted)


def measure(folder: Path, size: Size, *, owner_wide: bool, times: int) -> Idle:
    """One world from its making to its numbers."""
    with Site(folder) as site:
        build(site, size, owner_wide=owner_wide)
        for _ in range(WARM):
            site.toban(*TICK)
        site.world.clear_requests()
        site.toban(*TICK, count_git=True)
        requests = site.world.requests()
        known = folder / "known.json"
        paths = [f"{it.path}?{it.query}" if it.query else it.path for it in requests]
        known.write_text(json.dumps(dict.fromkeys(paths)), encoding="utf-8")
        address = site.github.url.removeprefix("http://")
        modules = site.imported(*TICK)
        foreign = folder / "modules.txt"
        foreign.write_text("\n".join(third_party(modules)), encoding="utf-8")

        def floor() -> Sample:
            script = FLOORS / "conditional.py"
            return weigh([sys.executable, str(script), address, TOKEN, str(known)])

        def imports() -> Sample:
            return weigh([sys.executable, str(FLOORS / "imports.py"), str(foreign)])

        def ours() -> Sample:
            return site.toban(*TICK)

        floor()
        found, against_imports = compare(ours, floor, imports, times=times)
        return Idle(
            found=found,
            imports=against_imports,
            requests=len(requests),
            conditional=sum(it.conditional and it.status == 304 for it in requests)
            / max(1, len(requests)),
            gits=len(site.gits.read_text().splitlines()) if site.gits.exists() else 0,
            modules=modules,
        )


def third_party(modules: list[str]) -> list[str]:
    """The modules that are neither Python's own nor ours."""
    own = {"controller", "tests"} | set(sys.stdlib_module_names)
    return [name for name in modules if name.partition(".")[0] not in own]


def rows(*, times: int, folder: Path, sizes: tuple[Size, ...]) -> Iterator[Row]:
    """Every size in both modes, and what grows with the number of repositories."""
    last: Idle | None = None
    for owner_wide in (True, False):
        mode = "owner" if owner_wide else "repositories"
        single: dict[int, Idle] = {}
        for size in sizes:
            place = folder / f"{mode}-{size.repositories}-{size.issues}"
            idle = measure(place, size, owner_wide=owner_wide, times=times)
            yield from _requests(f"{mode}: {size}", idle, size, owner_wide=owner_wide)
            yield from _times(f"{mode}: {size}", idle)
            if size.repositories == 1:
                single[size.issues] = idle
            elif size.issues in single:
                yield _growth(mode, size, idle, single[size.issues])
            last = idle
    if last is not None:
        yield from _process(last)


def _requests(name: str, idle: Idle, size: Size, *, owner_wide: bool) -> Iterator[Row]:
    most = OWNER_WIDE if owner_wide else 2 * size.repositories
    yield counted(GROUP, f"{name}: requests", idle.requests, most=most)
    yield Row(
        group=GROUP,
        name=f"{name}: answers, processes",
        ours=f"{idle.conditional:.0%} 304, {idle.gits} git",
        goal="100% 304, 0 git",
        met=idle.conditional == 1 and idle.gits == 0,
        detail={"unchanged_share": idle.conditional, "git_processes": idle.gits},
    )


def _times(name: str, idle: Idle) -> Iterator[Row]:
    row = compared(GROUP, f"{name}: bare child with as many 304", idle.found, most=0)
    yield row._replace(goal="", met=None)
    yield compared(GROUP, f"{name}: importing what we use", idle.imports, most=1.3)


def _growth(mode: str, size: Size, idle: Idle, single: Idle) -> Row:
    more = size.repositories - 1
    grown = idle.found.ours.cpu - single.found.ours.cpu
    goal = PER_REPOSITORY_MS * more / 1000
    return Row(
        group=GROUP,
        name=f"{mode}: {size}: CPU beyond 1 repo",
        ours=milliseconds(grown),
        goal=f"<= {milliseconds(goal)}",
        met=grown <= goal,
        detail={"value": grown, "most": goal},
    )


def _process(idle: Idle) -> Iterator[Row]:
    """Memory and modules of the tick's own process, from the last world measured."""
    rss = idle.found.ours.rss
    yield Row(
        group=GROUP,
        name="resident memory of the child",
        ours=megabytes(rss),
        goal=f"<= {megabytes(MEMORY)}",
        met=rss <= MEMORY,
        detail={"value": rss, "most": MEMORY},
    )
    loaded: dict[str, Any] = {
        "modules": len(idle.modules),
        "third_party": sorted({name.partition(".")[0] for name in third_party(idle.modules)}),
    }
    heavy = sorted(HEAVY & set(loaded["third_party"]))
    yield Row(
        group=GROUP,
        name="modules loaded",
        ours=f"{len(idle.modules)} ({', '.join(heavy)})",
        goal="no github, git",
        met={"github", "git"}.isdisjoint(heavy),
        detail=loaded,
    )
