"""The stage of the demo: one folder with stand-in, scripted model, configuration, and toban in it.

Built by `controller.demo.main`. Starts `python -m controller` as processes with an environment that
holds no credential and reaches nothing but loopback. Decides nothing.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from controller.adapters.codex import CodexRunner
from controller.demo.model import ScriptedModel
from controller.demo.standin import Standin
from controller.demo.story import BOT, FILES, OWNER, REPOSITORY, STRANGER, VERIFY, Story
from controller.domain.values import Unseen
from controller.ports.agents import Confinement

TOKENS = {
    OWNER: "demo-token-of-octo",
    BOT: "demo-token-of-toban",
    STRANGER: "demo-token-of-mallory",
}
READY = "agent:ready"
EARLIER = timedelta(minutes=10)
"""How long ago the label was put on, so that an edit of now is clearly a later one."""
STOP_S = 20.0
"""A told toban ends its agent and writes its state; after so many seconds it is ended hard."""
NOWHERE = "http://127.0.0.1:9"
"""Proxy for everything that is not loopback: the discard port, where nobody listens."""
FOREIGN = ("GIT_", "TOBAN_", "CODEX_", "OPENAI_", "SSL_CERT_")
"""Beginnings of variables that could lead a process elsewhere than to the stage."""


class Stage:
    """Everything that one demo needs, below one folder. Use it as a context manager."""

    def __init__(self, folder: Path, model: ScriptedModel) -> None:
        """Make the folders; nothing answers before the stage is entered."""
        self.folder, self.model = folder, model
        self.github = Standin(folder / "github")
        self.world = self.github.world
        self.root = folder / "ai"
        self.config = folder / "config.toml"
        self.token = folder / "token"
        self._codex_home = folder / "codex"
        self._child: subprocess.Popen[bytes] | None = None
        for name in ("home", "tmp", "bin", "codex"):
            (folder / name).mkdir(mode=0o700)
        (folder / "bin" / "python3").symlink_to(Path(sys.executable).resolve())

    def __enter__(self) -> Self:
        self.model.start()
        self.github.start()
        self.token.touch(mode=0o600)
        self.token.write_text(TOKENS[BOT] + "\n", encoding="ascii")
        self.config.write_text(self._configuration(), encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self.end_child()
        self.github.stop()
        self.model.stop()

    def build(self, told: Sequence[Story]) -> None:
        """Make accounts, repository and issues; the later edits of their texts are made too."""
        for login, token in TOKENS.items():
            self.world.add_user(login, token=token)
        self.world.add_repo(
            REPOSITORY,
            files=FILES,
            private=True,
            collaborators={BOT: "write", STRANGER: "read"},
        )
        now = datetime.now(UTC)
        self.world.set_clock(now - EARLIER)
        for story in told:
            made = self.world.create_issue(REPOSITORY, story.title, story.body, by=story.author)
            self.world.add_label(REPOSITORY, made.number, READY, by=OWNER)
        self.world.set_clock(now)
        for story in told:
            if story.edit is not None:
                self.world.edit_issue(REPOSITORY, story.number, by=story.author, body=story.edit)

    def sandbox(self) -> Unseen | None:
        """Try Codex's sandbox for real, as toban will: None when it is enforced."""
        workspace, state = self.root / "worktrees" / "probe", self.root / "state" / "probe"
        workspace.mkdir(parents=True)
        codex = CodexRunner(binary=None, codex_home=self._codex_home, environment={})
        return codex.probe(
            Confinement(
                root=self.root,
                workspace=workspace,
                git_data=None,
                scratch=state,
                secrets=(self.token,),
                writable=True,
            )
        )

    def toban(self, *arguments: str, quiet: bool = False) -> int:
        """Run one command to its end and return its exit code; it prints where we print."""
        sys.stdout.flush()
        argv = [sys.executable, "-m", "controller", *arguments, "--config", str(self.config)]
        # Of its own group: the keyboard's signal comes once, by us.
        self._child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else None,
            cwd=self.folder,
            env=self._environment(),
            start_new_session=True,
        )
        code = self._child.wait()
        self._child = None
        return code

    def end_child(self) -> None:
        """End a command that still runs: told first, by force after `STOP_S`."""
        child, self._child = self._child, None
        if child is None or child.poll() is not None:
            return
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(FOREIGN)
            and not name.casefold().endswith("_proxy")
            and name != "CREDENTIALS_DIRECTORY"
        }
        project = str(Path(__file__).parents[2])
        path = os.environ.get("PATH") or os.defpath
        return kept | {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{path}",
            "PYTHONPATH": project,
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "https_proxy": NOWHERE,
            "http_proxy": NOWHERE,
            "no_proxy": "127.0.0.1,localhost",
        }

    def _configuration(self) -> str:
        def words(values: Sequence[str]) -> str:
            return json.dumps(list(values), ensure_ascii=False)

        def text(value: object) -> str:
            return json.dumps(str(value), ensure_ascii=False)

        return f"""# Written by `toban demo`: stand-in and scripted model are on loopback.

[paths]
root = {text(self.root)}

[github]
api_url = {text(self.github.url)}
git_url = {text(self.github.url)}
token_file = {text(self.token)}
repositories = {words([REPOSITORY])}
assignee = {text(OWNER)}
seconds_between_writes = 0

[repository.{text(REPOSITORY)}]
verify = {words([VERIFY])}

[agent]
codex_home = {text(self._codex_home)}
codex_config = {words(self.model.codex_config)}

[agent.implement]
model = "gpt-5.5"
timeout = "5m"

[agent.review]
model = "gpt-5.5"
timeout = "5m"

[[agent.rework]]
model = "gpt-5.5"
timeout = "5m"

[[agent.rework]]
model = "gpt-5.5"
timeout = "5m"

[host]
min_free_memory_percent = 1
min_free_disk_gb = 0.2
"""
