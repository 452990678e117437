"""A whole host in a folder: stand-in forge, scripted model, configuration, and toban as processes.

Used by the end-to-end tests. All is real but the model and the forge: git over HTTP, Codex in
its sandbox, kernel locks. Assertions are about the resulting world, never about calls.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from controller.demo.model import Message, Scenario, ScriptedModel, Shell, Turn
from controller.demo.model.script import Match
from controller.demo.standin import Standin
from controller.demo.standin.values import Push

REPO = "octo/app"
FILES = {
    "README.md": "# app\n",
    "AGENTS.md": "Keep it short.\n",
    "Makefile": "test:\n\tgrep -q app README.md\n",
    "改行.txt": "一\r\n",
    "src/日本語.py": "print('こんにちは')\n",
}
APPROVE: dict[str, Any] = {"version": 1, "verdict": "approve", "summary": "よい", "findings": []}


def rework(message: str = "missing") -> dict[str, Any]:
    """A verdict that asks for rework."""
    finding = {"severity": "major", "path": "feature.txt", "line": 1, "message": message}
    return {"version": 1, "verdict": "rework", "summary": "直して", "findings": [finding]}


def worker(*runs: Sequence[Turn | str], contains: str | None = None) -> Scenario:
    """A worker that runs these commands (strings) or turns, one list per run, then is done."""
    return Scenario(
        name=f"worker {contains or ''}",
        match=Match(role="worker", contains=contains),
        runs=tuple(
            (
                *(Shell(command=turn) if isinstance(turn, str) else turn for turn in turns),
                Message(message="done"),
            )
            for turns in runs
        ),
    )


def reviewer(*answers: dict[str, Any] | str, contains: str | None = None) -> Scenario:
    """A reviewer that gives these answers, one per run."""
    return Scenario(
        name=f"reviewer {contains or ''}",
        match=Match(role="reviewer", contains=contains),
        runs=tuple((Message(message=answer),) for answer in answers),
    )


class Done(NamedTuple):
    """How a toban process ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The one document on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Host:
    """One machine with toban on it."""

    def __init__(self, folder: Path, github: Standin, model: ScriptedModel) -> None:
        self.folder, self.github, self.model = folder, github, model
        self.world = github.world
        self.root = folder / "ai"
        self.config = folder / "config.toml"
        self.token = folder / "token"
        self.token.write_text("toban-token-canary\n")
        self.token.chmod(0o600)
        self.configure()

    def configure(self, more: str = "", *, github: str = "", policy: str = "") -> None:
        """Write the configuration; `more` is appended, `github` and `policy` go into sections."""
        flags = ", ".join(json.dumps(value) for value in self.model.codex_config)
        self.config.write_text(
            f"""
[paths]
root = "{self.root}"
[github]
api_url = "{self.github.url}"
git_url = "{self.github.url}"
token_file = "{self.token}"
repositories = ["{REPO}"]
assignee = "octo"
seconds_between_writes = 0
{github}
[agent]
codex_home = "{self.folder / "codex"}"
codex_config = [{flags}]
[agent.implement]
model = "gpt-5.5"
[agent.review]
model = "gpt-5.5"
[[agent.rework]]
model = "gpt-5.5"
[[agent.rework]]
model = "gpt-5.5"
[host]
min_free_memory_percent = 1
min_free_disk_gb = 0.1
[policy]
{policy}
{more}
""",
            encoding="utf-8",
        )

    def toban(self, *arguments: str, check: int | None = None, timeout: float = 300) -> Done:
        """Run one command to its end."""
        done = subprocess.run(
            self._command(arguments),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment(),
            cwd=self.folder,
            check=False,
        )
        if check is not None:
            assert done.returncode == check, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        return subprocess.Popen(
            self._command(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            cwd=self.folder,
        )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "controller", *arguments, "--config", str(self.config)]

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "TOBAN_"))}
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        project = str(Path(__file__).parents[2])
        return kept | {"HOME": str(home), "PYTHONPATH": project}

    def rest(self, ticks: int = 8) -> list[Done]:
        """Tick until the plan has nothing to do."""
        done: list[Done] = []
        for _ in range(ticks):
            if self.toban("plan").code == 0:
                return done
            done.append(self.toban("run-once"))
        raise AssertionError("no rest:\n" + "\n".join(d.out + d.err for d in done))

    def issue(
        self, title: str = "機能を足す", body: str = "feature.txt を作る", *, ready: bool = True
    ) -> int:
        """An issue of the owner's, labelled by the owner."""
        number = self.world.create_issue(REPO, title, body, by="octo").number
        if ready:
            self.world.add_label(REPO, number, "agent:ready", by="octo")
        return number

    def labels(self, number: int) -> list[str]:
        """Labels on the issue now."""
        return sorted(self.world.labels(REPO, number))

    def bodies(self, number: int) -> list[str]:
        """Comments on the issue or pull request."""
        return [comment.body for comment in self.world.comments(REPO, number)]

    def pushes(self) -> list[Push]:
        """Every reference that toban moved, oldest first."""
        return [push for push in self.world.pushes(REPO) if push.user == "toban-bot"]

    def git(self, *arguments: str) -> str:
        """Ask the forge's own bare repository."""
        place = self.folder / "github" / "repos" / f"{REPO}.git"
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", "-C", str(place), *arguments],
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()


def kill(process: subprocess.Popen[str]) -> None:
    """End a process at once, as a power cut would."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
