"""From the label to the worker's start, and from the worker's end to the open pull request.

One real tick gives both: Codex runs behind a wrapper that says when it begins and ends, the
stand-in says when the pull request is there. Floors are the same git and HTTP steps, bare.
"""

import base64
import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from controller.demo.model import Message, Scenario, Shell
from controller.demo.model.script import Match
from controller.demo.standin.values import Seen
from controller.demo.story import approve
from tests.bench.idle import FLOORS, third_party
from tests.bench.measure import Comparison, Sample, cpu_of, medians, peak_of, weigh
from tests.bench.report import Row, compared, counted, megabytes, milliseconds
from tests.bench.site import BOT, OWNER, TOKEN, Site

REPOSITORY = f"{OWNER}/app"
CHANGED = 20
"""Files that the worker changes."""
MEMORY = 150_000_000
CHANGE = f"for n in $(seq {CHANGED}); do echo changed >> folder-0/file-$n.txt; done"
PULLS = rf"/repos/{REPOSITORY}/pulls"
SCENARIOS = (
    Scenario(
        name="worker",
        match=Match(role="worker"),
        turns=(Shell(command=CHANGE), Message(message="done")),
    ),
    Scenario(
        name="reviewer",
        match=Match(role="reviewer"),
        turns=(Message(message=approve("fine")),),
    ),
)


class Moment(NamedTuple):
    """A living process as it was."""

    at: float
    """Unix time."""
    cpu: float
    """Seconds that it and its ended children have used."""
    rss: int
    """Its largest resident set, bytes."""


class Tick(NamedTuple):
    """One tick of one new issue."""

    start: Sample
    """From the start of the process to Codex."""
    delivery: Sample
    """From the end of Codex to the open pull request."""
    start_requests: list[Seen]
    delivery_requests: list[Seen]


def files(count: int) -> dict[str, str]:
    """A repository of so many files of 3 KB, 500 in a folder, none like another.

    Files that resemble each other would be stored as long chains of differences, and checking them
    out would then be all that is measured.
    """
    source = random.Random(count)
    return {
        f"folder-{number // 500}/file-{number % 500}.txt": source.randbytes(1500).hex() + "\n"
        for number in range(count)
    }


class Work:
    """Measurements in a repository of one size."""

    def __init__(self, site: Site, count: int) -> None:
        self.site = site
        site.world.add_repo(
            REPOSITORY, files=files(count), private=True, collaborators={BOT: "write"}
        )
        site.configure(f'repositories = ["{REPOSITORY}"]')
        self._numbers = itertools.count()
        self._url = f"{site.github.url}/{REPOSITORY}.git"
        secret = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        self._authorization = f"Basic {secret}"
        self._bare = site.folder / "floor.git"
        header = f"http.extraHeader=Authorization: {self._authorization}"
        clone = ["clone", "--quiet", "--bare", self._url, str(self._bare)]
        subprocess.run(["git", "-c", header, *clone], check=True)
        self._worktree = site.folder / "floor-worktree"
        self.imports = site.folder / "imports.txt"

    def tick(self, *, count_git: bool = False) -> Tick:
        """One new issue to its end; afterwards the issue is closed and its worktree gone."""
        site, world = self.site, self.site.world
        issue = world.create_issue(REPOSITORY, "変更", "Change the files.", by=OWNER)
        world.add_label(REPOSITORY, issue.number, "agent:ready", by=OWNER)
        world.clear_requests()
        site.agents.unlink(missing_ok=True)
        asked = len(site.model.seen)
        process, begun = site.start("run-once", count_git=count_git)
        try:
            world.wait_request("POST", PULLS, timeout=600)
            opened = now(process.pid)
        finally:
            said, _ = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"the tick ended with {process.returncode}:\n{said}")
        seen = site.model.seen[asked:]
        lines = site.agents.read_text(encoding="ascii").splitlines()
        tick = self._tick(lines, begun, opened, seen)
        self._close(issue.number)
        return tick

    def _tick(self, lines: list[str], begun: float, opened: Moment, seen: list[int]) -> Tick:
        """Put the moments together. The wrapper's second line is the end of the worker."""
        first, last = lines[0].split("|"), lines[1].split("|")
        at_start, at_end = (float(each[0].split()[1]) for each in (first, last))
        agent = cpu_of(last[2])
        requests = self.site.world.requests()
        pull = next(
            number for number, it in enumerate(requests) if it.method == "POST" and it.path == PULLS
        )
        return Tick(
            start=Sample(at_start - begun, cpu_of(first[1])),
            # The wrapper's time becomes its parent's when it is waited for, and is Codex's.
            delivery=Sample(opened.at - at_end, opened.cpu - cpu_of(last[1]) - agent, opened.rss),
            start_requests=requests[: seen[0]],
            delivery_requests=requests[seen[0] : pull + 1],
        )

    def _close(self, number: int) -> None:
        world = self.site.world
        for pull in world.pulls(REPOSITORY):
            if pull.state == "open":
                world.close(REPOSITORY, pull.number)
        world.close(REPOSITORY, number)
        self.site.toban("run-once")

    def gits(self) -> tuple[int, int]:
        """Starts of git before Codex's own, and from its end to the push."""
        self.site.gits.unlink(missing_ok=True)
        self.tick(count_git=True)
        calls = [line.split("|", 1) for line in self.site.gits.read_text("utf-8").splitlines()]
        agents = self.site.agents.read_text(encoding="ascii").splitlines()
        begin, end = (float(line.split("|")[0].split()[1]) for line in agents[:2])
        push = next(float(at) for at, call in calls if " push " in f" {call} ")
        moments = [float(at) for at, _ in calls]
        return (
            sum(at < begin for at in moments),
            sum(end <= at <= push for at in moments),
        )

    def note_imports(self) -> None:
        """Keep the names of what a working tick imports."""
        issue = self.site.world.create_issue(REPOSITORY, "変更", "Change.", by=OWNER)
        self.site.world.add_label(REPOSITORY, issue.number, "agent:ready", by=OWNER)
        names = third_party(self.site.imported("run-once"))
        self.imports.write_text("\n".join(names), encoding="utf-8")
        self._close(issue.number)

    def floor(self) -> tuple[Sample, Sample]:
        """Raw fetch, worktree and exec; then raw read, import, push and pull request.

        The worktree of the last floor is thrown away first.
        """
        if self._worktree.exists():
            git = ["git", "-C", str(self._bare), "worktree", "remove", "--force"]
            subprocess.run([*git, str(self._worktree)], check=True)
        branch = f"floor-{next(self._numbers)}"
        start = self._floor("start_work.py", branch)
        subprocess.run(["sh", "-c", CHANGE], cwd=self._worktree, check=True)
        paths = ":".join(f"folder-0/file-{number}.txt" for number in range(1, CHANGED + 1))
        api = f"{self.site.github.url}/repos/{REPOSITORY}"
        return start, self._floor("deliver.py", f"new-{branch}", api, TOKEN, paths)

    def floor_imports(self) -> Sample:
        """Import what a working tick imports."""
        return weigh([sys.executable, str(FLOORS / "imports.py"), str(self.imports)])

    def _floor(self, script: str, branch: str, *more: str) -> Sample:
        common = [str(self._bare), str(self._worktree), branch, self._url, self._authorization]
        return weigh([sys.executable, str(FLOORS / script), *common, *more])


def now(pid: int) -> Moment:
    """What a living process has used up to now."""
    at = time.time()
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return Moment(at, cpu_of(stat), peak_of(pid))


class Goals(NamedTuple):
    """What a repository of one size allows."""

    start: float
    """Times the floor, beside half a second and the imports."""
    start_text: str
    delivery: float


SMALL = Goals(start=0, start_text="<= 0.5 s + imports", delivery=3)
LARGE = Goals(start=1.25, start_text="<= 1.25 x + 0.5 s + imports", delivery=1.5)
ALLOWANCE = 0.5


def rows(*, times: int, folder: Path, count: int, goals: Goals) -> Iterator[Row]:
    """One repository of `count` files."""
    with Site(folder, SCENARIOS) as site:
        work = Work(site, count)
        work.note_imports()
        found = _measure(work, times)
        gits = work.gits()
    group = f"work, {count} files"
    imports = found.imports.cpu if found.start.by == "cpu" else found.imports.wall
    yield compared(
        group,
        "label -> worker / raw fetch, worktree, exec",
        found.start,
        most=goals.start,
        allowance=ALLOWANCE + imports,
        goal=goals.start_text,
    )
    yield Row(
        group, "importing what a working tick uses", f"{milliseconds(imports)} {found.start.by}"
    )
    yield _requests(group, "label -> worker", found.ticks[0].start_requests, most=10)
    yield Row(group, "label -> worker: git processes", f"{gits[0]}")
    yield compared(
        group,
        "worker's end -> pull request / raw read, import, push",
        found.delivery,
        most=goals.delivery,
    )
    yield _requests(group, "delivery", found.ticks[0].delivery_requests, most=6)
    yield counted(group, "delivery: git processes", gits[1], most=12)
    rss = max(tick.delivery.rss for tick in found.ticks)
    yield Row(
        group=group,
        name="resident memory after delivery",
        ours=megabytes(rss),
        goal=f"<= {megabytes(MEMORY)}",
        met=rss <= MEMORY,
        detail={"value": rss, "most": MEMORY},
    )


def _requests(group: str, name: str, asked: list[Seen], *, most: int) -> Row:
    """API requests; git's own are counted as processes."""
    asked = [it for it in asked if ".git/" not in it.path]
    unchanged = sum(it.status == 304 for it in asked)
    row = counted(group, f"{name}: requests", len(asked), most=most)
    return row._replace(
        ours=f"{len(asked)} ({unchanged} of them 304)",
        detail={"value": len(asked), "unchanged": unchanged, "most": most},
    )


class Found(NamedTuple):
    """All of one size."""

    start: Comparison
    delivery: Comparison
    imports: Sample
    ticks: list[Tick]


def _measure(work: Work, times: int) -> Found:
    """Floors, ticks, floors: every one of them gives both measures."""
    before = [work.floor() for _ in range(times)]
    imports = medians([work.floor_imports() for _ in range(times)])
    ticks = [work.tick() for _ in range(times)]
    after = [work.floor() for _ in range(times)]
    load = os.getloadavg()[0]
    ours = [(tick.start, tick.delivery) for tick in ticks]
    start, delivery = (
        Comparison(
            medians([each[at] for each in before]),
            medians([each[at] for each in ours]),
            medians([each[at] for each in after]),
            load,
        )
        for at in (0, 1)
    )
    return Found(start, delivery, Sample(imports.wall, imports.cpu), ticks)
