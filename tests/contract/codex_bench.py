"""A host in a folder for the tests of the Codex adapter: root, worktree of a bare repository, home.

Every place that must stay hidden holds a canary.
"""

import subprocess
from pathlib import Path

from controller.domain.values import Value
from controller.ports.agents import (
    AgentOrder,
    AgentRole,
    CommandOrder,
    Confinement,
)

CANARY = "CANARY"
QUICK = "gpt-5.5"
"""A catalogued model with classic tools: its runs are the quickest."""
ISSUE = "octo/日本 の/issue-1"


class Bench(Value):
    """One laid out host."""

    base: Path
    root: Path
    home: Path
    workspace: Path
    checkout: Path
    """A second worktree, for the reviewer."""
    bare: Path
    runs: Path
    secrets: tuple[Path, ...]
    hidden: tuple[Path, ...]
    """Files that hold a canary and must be unreadable."""

    def confinement(self, name: str = "1", *, writable: bool = True) -> Confinement:
        return Confinement(
            root=self.root,
            workspace=self.workspace if writable else self.checkout,
            git_data=self.bare,
            scratch=self.runs / name / "scratch",
            secrets=self.secrets,
            writable=writable,
        )

    def order(
        self, prompt: str = "do it", name: str = "1", role: AgentRole = "worker", **changes: object
    ) -> AgentOrder:
        (self.runs / name).mkdir(parents=True, exist_ok=True)
        fields: dict[str, object] = {
            "run_directory": self.runs / name,
            "role": role,
            "confinement": self.confinement(name, writable=role == "worker"),
            "model": QUICK,
            "effort": "medium",
            "timeout_s": 60.0,
            "silence_s": None,
            "prompt": prompt,
        }
        return AgentOrder.model_validate({**fields, **changes})

    def command(self, command: str, name: str = "1", **changes: object) -> CommandOrder:
        (self.runs / name).mkdir(parents=True, exist_ok=True)
        fields: dict[str, object] = {
            "run_directory": self.runs / name,
            "confinement": self.confinement(name),
            "command": command,
            "timeout_s": 60.0,
        }
        return CommandOrder.model_validate({**fields, **changes})


def git(*arguments: str | Path) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *map(str, arguments)]
    return subprocess.run(argv, check=True, capture_output=True, encoding="utf-8").stdout


def canary(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CANARY, encoding="ascii")
    return path


def lay_out(base: Path) -> Bench:
    root, home, etc = base / "ai", base / ".codex home", base / "e\"t'c"
    bare = root / "repos" / "octo" / "日本 の.git"
    seed = base / "seed"
    git("init", "-q", "--bare", bare)
    git("init", "-q", "-b", "main", seed)
    (seed / "f.txt").write_text("f\n", encoding="ascii")
    git("-C", seed, "add", ".")
    git("-C", seed, "commit", "-q", "-m", "seeded")
    git("-C", seed, "push", "-q", bare, "main")
    workspace, checkout = root / "worktrees" / ISSUE, root / "reviews" / ISSUE
    git("--git-dir", bare, "worktree", "add", "-q", "-b", "agent/issue-1", workspace, "main")
    git("--git-dir", bare, "worktree", "add", "-q", "--detach", checkout, "main")
    token, keys = canary(etc / "token ｋ"), canary(etc / "keys" / "signing.key").parent
    hidden = (
        token,
        keys / "signing.key",
        canary(home / "auth.json"),
        canary(home / "config.toml"),
        canary(home / "sessions" / "2026" / "rollout.jsonl"),
        canary(home / "logs_2.sqlite-journal"),
        canary(root / "worktrees" / "octo" / "日本 の" / "issue-2" / "f"),
        canary(root / "reviews" / "octo" / "日本 の" / "issue-2" / "f"),
        canary(root / "reviews" / "octo" / "b" / "issue-1" / "f"),
        canary(root / "repos" / "octo" / "b.git" / "HEAD"),
        canary(root / "repos" / "b" / "b.git" / "HEAD"),
        canary(root / "state" / "octo" / "日本 の" / "issue-2" / "s"),
        canary(root / "state" / ISSUE / "journal"),
        canary(root / "state" / ISSUE / "runs" / "0" / "events.jsonl"),
        canary(root / "locks" / "issues"),
        canary(root / "usage.json"),
    )
    return Bench(
        base=base,
        root=root,
        home=home,
        workspace=workspace,
        checkout=checkout,
        bare=bare,
        runs=root / "state" / ISSUE / "runs",
        secrets=(token, keys, base / "missing" / "token"),
        hidden=hidden,
    )
