"""A machine with toban on it for measurements: stand-in, scripted model, configuration, wrappers.

Used by the groups of the bench. Repositories and issues are made as each group needs them.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import codex_cli_bin  # type: ignore[import-untyped]  # no stubs

from controller.demo.model import Scenario, ScriptedModel, Turn
from controller.demo.model.request import ModelRequest
from controller.demo.standin import Standin, World
from tests.bench.measure import Sample, weigh

PROJECT = Path(__file__).parents[2]
OWNER, BOT = "octo", "toban-bot"
TOKEN = "bench-token"
CODEX = """#!/bin/bash
# Says when an agent begins and ends, with the CPU time that whoever started it has used.
if [ "$1" != exec ]; then exec "{real}" "$@"; fi
echo "begin $EPOCHREALTIME|$(</proc/$PPID/stat)" >> "{log}"
"{real}" "$@"
code=$?
echo "end $EPOCHREALTIME|$(</proc/$PPID/stat)|$(</proc/$$/stat)" >> "{log}"
exit $code
"""
GIT = """#!/bin/bash
echo "$EPOCHREALTIME|$*" >> "{log}"
exec "{real}" "$@"
"""


class Witness(ScriptedModel):
    """A model that notes how many requests the forge had seen when it was asked."""

    def __init__(self, scenarios: Sequence[Scenario], world: World) -> None:
        super().__init__(scenarios)
        self._world = world
        self.seen: list[int] = []

    def answer(self, request: ModelRequest) -> tuple[Turn, str]:
        self.seen.append(len(self._world.requests()))
        return super().answer(request)


class Site:
    """Everything below one folder. Use it as a context manager."""

    def __init__(self, folder: Path, scenarios: Sequence[Scenario] = ()) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.github = Standin(folder / "github")
        self.world = self.github.world
        self.model = Witness(scenarios, self.world)
        self.root, self.config = folder / "ai", folder / "config.toml"
        self.agents, self.gits = folder / "agents.log", folder / "git.log"
        self.token = folder / "token"
        self._home = folder / "home"
        self._home.mkdir()
        self.token.touch(mode=0o600)
        self.token.write_text(TOKEN, encoding="ascii")

    def __enter__(self) -> Self:
        self.github.start()
        self.model.start()
        self.world.add_user(OWNER, token="octo-token")
        self.world.add_user(BOT, token=TOKEN)
        return self

    def __exit__(self, *_: object) -> None:
        self.github.stop()
        self.model.stop()

    def configure(self, github: str) -> None:
        """Write the configuration; `github` says which repositories are wanted."""
        flags = json.dumps(list(self.model.codex_config))
        wrapper = self._script("bin/codex", CODEX, codex_cli_bin.bundled_codex_path(), self.agents)
        phase = 'model = "gpt-5.5"\n'
        self.config.write_text(
            f"""[paths]
root = "{self.root}"
[github]
api_url = "{self.github.url}"
git_url = "{self.github.url}"
token_file = "{self.token}"
assignee = "{OWNER}"
seconds_between_writes = 0
{github}
[agent]
codex = "{wrapper}"
codex_home = "{self.folder / "codex"}"
codex_config = {flags}
[agent.implement]
{phase}[agent.review]
{phase}[host]
min_free_memory_percent = 0
min_free_disk_gb = 0
""",
            encoding="utf-8",
        )

    def _script(self, name: str, text: str, real: Path | str, log: Path) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(real=real, log=log), encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def argv(self, *arguments: str, python: Sequence[str] = ()) -> list[str]:
        """The command line of one of toban's commands."""
        toban = [sys.executable, *python, "-m", "controller"]
        return [*toban, *arguments, "--config", str(self.config)]

    def environment(self, *, count_git: bool = False) -> dict[str, str]:
        """For a child; with `count_git` each start of git leaves a line in `gits`."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "TOBAN_", "COVERAGE_"))
        }
        path = os.environ.get("PATH") or os.defpath
        if count_git:
            wrapper = self._script("counting/git", GIT, shutil.which("git") or "git", self.gits)
            path = f"{wrapper.parent}{os.pathsep}{path}"
        return kept | {"HOME": str(self._home), "PYTHONPATH": str(PROJECT), "PATH": path}

    def toban(self, *arguments: str, count_git: bool = False, expected: int = 0) -> Sample:
        """Run one command to its end."""
        env = self.environment(count_git=count_git)
        return weigh(self.argv(*arguments), env=env, expected=[expected])

    def start(
        self, *arguments: str, count_git: bool = False
    ) -> tuple[subprocess.Popen[str], float]:
        """Start one command, and the moment (Unix time) at which that was."""
        at = time.time()
        process = subprocess.Popen(
            self.argv(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment(count_git=count_git),
        )
        return process, at

    def imported(self, *arguments: str) -> list[str]:
        """Every module that a command loads, in the order of loading."""
        argv = self.argv(*arguments, python=["-X", "importtime"])
        done = subprocess.run(
            argv, capture_output=True, text=True, env=self.environment(), check=True
        )
        lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
        return [line.rpartition("|")[2].strip() for line in lines][1:]
