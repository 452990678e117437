"""The two repositories of the contract suite: in memory, and real git over HTTP on the stand-in.

Both stand beside a forge with octo/app (default branch 開発), in which `ME` may write.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from controller.adapters.git import GitRepositories
from controller.demo.standin import Standin
from controller.domain.ids import IssueId
from controller.domain.repository import CommitText, ImportLimits
from controller.ports.repository import RepositoryReader, RepositoryWriter
from tests.fakes.forge_world import World
from tests.fakes.repository import RepositoryFake

ME = "toban-host"
REPO = "octo/app"
BASE = "開発"
ITEM = IssueId.parse("octo/app#58")
FILES: Mapping[str, str] = {
    "README.md": "hello\n",
    ".gitignore": "*.log\nbuild/\n",
    "src/a.txt": "1\n2\n3\n",
    "資料/議事録　一.md": "あ\n",
    "資料/か\u3099.txt": "NFD\n",
}
HOST_SECRET = "very-secret-value-0123"
LIMITS = ImportLimits(
    protected_paths=(".github/**", "AGENTS*.md"),
    sensitive_paths=("*.lock", "Makefile"),
    max_changed_files=5,
    max_file_bytes=1000,
    max_total_bytes=1500,
    secrets=(HOST_SECRET,),
)
TEXT = CommitText(
    author_name="toban", author_email="toban@localhost", message="変更\n", at=1_790_000_000
)


class Bench(Protocol):
    """A machine with toban's repositories, and the forge that they come from."""

    reader: RepositoryReader
    writer: RepositoryWriter

    @property
    def world(self) -> Any: ...
    def edit(self, path: str, text: str | None) -> None: ...
    def files(self) -> Mapping[str, str]: ...
    def tamper(self) -> None: ...
    def remote_files(self, sha: str) -> Mapping[str, str]: ...


class FakeBench:
    """All in memory."""

    reader: RepositoryReader
    writer: RepositoryWriter

    def __init__(self) -> None:
        self.world = World()
        furnish(self.world)
        self.fake = RepositoryFake(self.world, login=ME)
        self.reader = self.fake
        self.writer = self.fake

    def edit(self, path: str, text: str | None) -> None:
        self.fake.edit(ITEM, path, text)

    def files(self) -> Mapping[str, str]:
        return self.fake.files(ITEM)

    def tamper(self) -> None:
        self.fake.tamper(ITEM, "detached HEAD")

    def remote_files(self, sha: str) -> Mapping[str, str]:
        return self.world.trees[sha].files


class GitBench:
    """Real git: clone and push over HTTP, files on disk."""

    reader: RepositoryReader
    writer: RepositoryWriter

    def __init__(self, github: Standin, folder: Path) -> None:
        self.world = github.world
        furnish(self.world)
        self.root = folder / "ai"
        self.tree = self.root / "worktrees" / ITEM.folder
        self.bare = self.root / "repos/octo/app.git"
        self.spawned: list[tuple[str, ...]] = []
        self.token: str | None = f"tok_{ME}"
        repositories = GitRepositories(
            self.root, github.url, lambda: self.token, 60, on_spawn=self.spawned.append
        )
        self.reader = repositories.reader
        self.writer = repositories.writer

    def edit(self, path: str, text: str | None) -> None:
        target = self.tree / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")

    def files(self) -> Mapping[str, str]:
        return read_files(self.tree)

    def tamper(self) -> None:
        (self.bare / "worktrees/issue-58/HEAD").write_text("0" * 40 + "\n")

    def remote_files(self, sha: str) -> Mapping[str, str]:
        files: Mapping[str, str] = self.world.files(REPO, sha)
        return files


def read_files(folder: Path) -> Mapping[str, str]:
    """Every file below `folder` but git's pointer."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / ".git"
    }


def furnish(world: Any) -> None:
    """octo/app with some files of the usual Japanese kind."""
    for login in ("octo", ME):
        world.add_user(login)
    world.add_repo(
        REPO, files=FILES, default_branch=BASE, private=True, collaborators={ME: "write"}
    )
