"""Checks of this machine: git, Codex and its sandbox, folders, memory, disk, the lock, Chrome.

Called through `controller.runtime.doctor`. Writes only below `<root>/state/doctor`, for the sandbox
to be tried there, and removes it again.
"""

import http.client
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from controller.domain.checkup import Finding, fail, ok, warn
from controller.domain.policy import Policy
from controller.domain.values import Unseen
from controller.ports.agents import AgentRunner, Confinement
from controller.ports.host import HostMeter, LockReader

GIT_LEAST = (2, 39)
"""The oldest git under test: Debian 12's."""
SECONDS = 10
"""For `--version` of a program."""
CHROME_SECONDS = 2


def check_program(package: ModuleType, *, without: str) -> Iterator[Finding]:
    """Every module can be loaded: nothing is missing from the installation."""
    names = [
        found.name
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not found.name.startswith(without) and not found.name.endswith("__main__")
    ]
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            yield fail("program", f"{name}: {error}", "install toban again: uv sync --locked")
            return
    yield ok("program", f"{len(names)} modules can be loaded")


def check_git() -> Iterator[Finding]:
    """Git is there and new enough."""
    advice = "install git 2.39 or newer (Debian, Ubuntu: apt-get install git)"
    said = _version("git")
    found = re.search(r"[0-9]+\.[0-9]+[0-9.]*", said or "")
    if said is None or found is None:
        yield fail("git", "git cannot be run", advice)
        return
    numbers = tuple(int(part) for part in found[0].strip(".").split(".")[:2])
    if numbers < GIT_LEAST:
        yield fail("git", f"git {found[0]} is too old", advice)
    else:
        yield ok("git", f"git {found[0]}")


def _version(program: str) -> str | None:
    """What `PROGRAM --version` prints, None when it cannot be run."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()


def check_codex(binary: Path, codex_home: Path, *, own_provider: bool) -> Iterator[Finding]:
    """The binary runs, and somebody is logged in unless another provider is configured."""
    said = _version(str(binary))
    if said is None:
        advice = "install openai-codex-cli-bin, or name a working binary in agent.codex"
        yield fail("codex", f"{binary} cannot be run", advice)
        return
    yield ok("codex", f"{said} ({binary})")
    if own_provider:
        yield ok("codex login", "agent.codex_config names a model provider of its own")
    elif (codex_home / "auth.json").exists():
        yield ok("codex login", f"{codex_home / 'auth.json'} is there")
    else:
        advice = f"CODEX_HOME={codex_home} codex login, or name a provider in agent.codex_config"
        yield warn("codex login", f"{codex_home} has no login", advice)


def check_sandbox(agents: AgentRunner, root: Path, secrets: tuple[Path, ...]) -> Iterator[Finding]:
    """Codex's sandbox is tried for real: outside not writable, secrets unreadable, no network."""
    place = root / "state" / "doctor"
    workspace = place / "workspace"
    workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        broken = agents.probe(
            Confinement(
                root=root,
                workspace=workspace,
                git_data=None,
                scratch=place / "scratch",
                secrets=secrets,
                writable=True,
            )
        )
    finally:
        shutil.rmtree(place)
    if broken is None:
        yield ok("sandbox", "outside not writable, secrets unreadable, network shut")
        return
    advice = (
        "allow user namespaces (Ubuntu 24.04: an AppArmor profile for codex, or "
        "kernel.apparmor_restrict_unprivileged_userns=0; in a container: --privileged)"
    )
    yield fail("sandbox", broken.reason, advice)


def check_root(root: Path) -> Iterator[Finding]:
    """`paths.root` can be written, or made."""
    place = root
    while not place.exists() and place != place.parent:
        place = place.parent
    advice = f"make it, and give it to the user that runs toban: chown USER {root}"
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield fail("root", f"{root} cannot be written", advice)
    else:
        yield ok("root", f"{root} can be written" if place == root else f"{root} will be made")


def check_spare(host: HostMeter, policy: Policy) -> Iterator[Finding]:
    """Memory and disk are above what the configuration wants."""
    measured = (
        ("memory", "%", host.free_memory_percent(), policy.min_free_memory_percent),
        ("disk", " GB", host.free_disk_gb(), policy.min_free_disk_gb),
    )
    for name, unit, value, least in measured:
        key = f"host.min_free_{name}_{'percent' if name == 'memory' else 'gb'}"
        if isinstance(value, Unseen):
            yield fail(name, f"cannot be measured: {value.reason}", "nothing starts unmeasured")
        elif value < least:
            advice = f"free some, or lower {key}: nothing starts below it"
            yield fail(name, f"{value:.1f}{unit} free, {key} = {least:g}", advice)
        else:
            yield ok(name, f"{value:.1f}{unit} free")


def check_lock(locks: LockReader, workload: str) -> Iterator[Finding]:
    """Who is at work; nobody being so is as well as somebody."""
    holder = locks.holder(workload)
    yield ok("lock", f"{workload}: {holder.text if holder else 'no tick is running'}")


def check_chrome(url: str) -> Iterator[Finding]:
    """The one Chrome answers on its debugging port."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or 80, timeout=CHROME_SECONDS
    )
    try:
        connection.request("GET", "/json/version")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        advice = "start Chrome with --remote-debugging-port, or correct orders.chrome.url"
        yield fail("chrome", f"{url}: no answer ({error})", advice)
        return
    finally:
        connection.close()
    if status == http.client.OK:
        yield ok("chrome", f"{url} answers")
    else:
        yield fail("chrome", f"{url} answered {status}", "is that port Chrome's?")
