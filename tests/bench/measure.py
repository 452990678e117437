"""Running processes and weighing them: wall time, CPU time of process and children, memory.

Used by the groups of the bench. A comparison runs a floor, ours, and the floor again.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BUSY = 1.0
"""Load average beyond which wall time says little and CPU time decides."""
LAUNCHER = str(Path(__file__).with_name("launcher.py"))
TICK = 1 / os.sysconf("SC_CLK_TCK")


class Sample(NamedTuple):
    """One measured run."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of the process and of every child it waited for, user and system."""
    rss: int = 0
    """Largest resident set of the process or one of its children, bytes."""
    out: str = ""


class CommandFailedError(RuntimeError):
    """A measured command ended otherwise than it must."""


def weigh(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    expected: Iterable[int] = (0,),
) -> Sample:
    """Run a command to its end. Raises CommandFailedError with what it printed."""
    with tempfile.TemporaryFile() as used:
        command = [sys.executable, "-I", "-S", LAUNCHER, str(used.fileno()), *argv]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=env,
            cwd=cwd,
            pass_fds=[used.fileno()],
            check=False,
        )
        used.seek(0)
        numbers = used.read().split()
    if done.returncode not in set(expected):
        message = f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        raise CommandFailedError(message)
    wall, cpu, rss = numbers
    return Sample(float(wall), float(cpu), int(rss), done.stdout)


class Medians(NamedTuple):
    """The middle of several samples."""

    wall: float
    cpu: float
    rss: int


def medians(samples: Sequence[Sample]) -> Medians:
    """Each measure by itself."""
    return Medians(
        statistics.median(each.wall for each in samples),
        statistics.median(each.cpu for each in samples),
        int(statistics.median(each.rss for each in samples)),
    )


class Comparison(NamedTuple):
    """Ours between two measurements of the floor, with the load of that minute."""

    before: Medians
    ours: Medians
    after: Medians
    load: float

    @property
    def by(self) -> str:
        """What decides: `cpu` on a busy machine, else `wall`."""
        return "cpu" if self.load > BUSY else "wall"

    @property
    def floor(self) -> float:
        """Seconds of the floor by what decides, the mean of before and after."""
        return (_of(self.before, self.by) + _of(self.after, self.by)) / 2

    @property
    def own(self) -> float:
        """Seconds of ours by what decides."""
        return _of(self.ours, self.by)

    @property
    def ratio(self) -> float:
        """Ours to the floor."""
        return self.own / max(self.floor, TICK / 10)


def _of(found: Medians, by: str) -> float:
    return found.cpu if by == "cpu" else found.wall


type Measured = Callable[[], Sample]


def compare(ours: Measured, *floors: Measured, times: int) -> list[Comparison]:
    """Floors, ours, floors, each `times` times in one go: one comparison with each floor."""
    before = [medians([floor() for _ in range(times)]) for floor in floors]
    own = medians([ours() for _ in range(times)])
    after = [medians([floor() for _ in range(times)]) for floor in floors]
    load = os.getloadavg()[0]
    return [Comparison(first, own, last, load) for first, last in zip(before, after, strict=True)]


def cpu_of(stat: str) -> float:
    """CPU seconds in the text of /proc/PID/stat: the process and the children it waited for."""
    fields = stat.rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15]) * TICK


def peak_of(pid: int) -> int:
    """Largest resident set of a living process so far, bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(each for each in status.splitlines() if each.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
