"""What a test may need of the machine: `@pytest.mark.needs("git>=2.39", "sandbox")`.

Asked by tests/conftest.py before each marked test. A need is a program on PATH, with or without a
least version, or one of the names in `PROBES`, each of which really tries the thing.
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

SECONDS = 60
"""For one probe; a thing that takes longer is not usable by tests."""
_NEED = re.compile(r"([a-z][a-z0-9.+-]*?)(?:>=([0-9]+(?:\.[0-9]+)*))?")


class UnknownNeedError(ValueError):
    """A mark that does not say what it needs."""


def _output(*argv: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> str | None:
    """What a command prints, or None when it cannot run or fails."""
    try:
        done = subprocess.run(
            argv,
            check=True,
            timeout=SECONDS,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")


def codex_binary() -> str | None:
    """The packaged Codex, or one on PATH."""
    spec = importlib.util.find_spec("codex_cli_bin")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    if folder is not None and (folder / "bin" / "codex").is_file():
        return str(folder / "bin" / "codex")
    return shutil.which("codex")


def _codex() -> str | None:
    binary = codex_binary()
    if binary is None or _output(binary, "--version") is None:
        return "no working Codex: `uv sync` installs openai-codex-cli-bin"
    return None


def _sandbox() -> str | None:
    """Codex's own sandbox must let a command write here and nowhere beside."""
    binary = codex_binary()
    if binary is None:
        return _codex()
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / name for name in ("home", "tmp", "work")}
        for place in places.values():
            place.mkdir()
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(places["home"]),
            "CODEX_HOME": str(places["home"]),
            "TMPDIR": str(places["tmp"]),
        }
        answer = _output(
            binary,
            "sandbox",
            "-c",
            'sandbox_mode="workspace-write"',
            "-c",
            "sandbox_workspace_write={exclude_slash_tmp=true,exclude_tmpdir_env_var=true}",
            "--",
            "/bin/sh",
            "-c",
            "test -w . && ! (echo x > ../beside) 2>/dev/null && echo shut",
            env=env,
            cwd=places["work"],
        )
    if answer is None or "shut" not in answer:
        return "Codex's sandbox does not work here: user namespaces are needed"
    return None


def _root() -> str | None:
    return None if os.geteuid() == 0 else "must run as root"


def _network_namespace() -> str | None:
    if _output("unshare", "--user", "--map-root-user", "--net", "true") is None:
        return "cannot make user and network namespaces (util-linux, kernel setting)"
    return None


def _nspawn() -> str | None:
    for program in ("systemd-nspawn", "mmdebstrap", "zstd"):
        if shutil.which(program) is None:
            return f"{program} is missing: apt-get install systemd-container mmdebstrap zstd"
    return _root()


def _chromium() -> str | None:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        program = shutil.which(name)
        if program is not None and _output(program, "--version") is not None:
            return None
    return "no Chromium: apt-get install chromium"


def _ansible() -> str | None:
    program = Path(sys.executable).parent / "ansible-playbook"
    if program.exists() or shutil.which("ansible-playbook") is not None:
        return None
    return "ansible-playbook is missing: `uv sync` installs ansible-core"


PROBES: dict[str, Callable[[], str | None]] = {
    "ansible": _ansible,
    "chromium": _chromium,
    "codex": _codex,
    "netns": _network_namespace,
    "nspawn": _nspawn,
    "root": _root,
    "sandbox": _sandbox,
}
"""Name of a need to its probe: None when it is met, else why not and what would help.

Only what `.ci/run` can provide may stand here: with TOBAN_REQUIRE=all an unmet need fails.
"""


def _program(name: str, least: str | None) -> str | None:
    program = shutil.which(name)
    if program is None:
        return f"{name} is missing"
    if least is None:
        return None
    found = re.search(r"[0-9]+(?:\.[0-9]+)+", _output(program, "--version") or "")
    if found is None:
        return f"{name} does not tell its version"
    if _numbers(found[0]) < _numbers(least):
        return f"{name} is {found[0]}, older than {least}"
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@functools.cache
def missing(need: str) -> str | None:
    """Why this machine does not meet `need`, or None when it does; tried once per process.

    Raises UnknownNeedError for a text that is no need.
    """
    match = _NEED.fullmatch(need)
    if match is None:
        raise UnknownNeedError(f'{need!r} is no need: expected "git", "git>=2.39", "sandbox"')
    name, least = match[1], match[2]
    if name in PROBES:
        if least is not None:
            raise UnknownNeedError(f"{need!r}: {name} has no version")
        return PROBES[name]()
    return _program(name, least)
