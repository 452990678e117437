"""The two forges of the contract suite: the one in memory, and the adapter on the stand-in.

Both offer the same world (what people do) and the ports as one account sees them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from controller.adapters.github.cache import EtagCache
from controller.adapters.github.finder import GitHubFinder
from controller.adapters.github.http import Api
from controller.adapters.github.pause import Pause
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.writer import GitHubWriter
from controller.demo.standin import Standin
from controller.domain.ids import IssueId, Repository
from controller.ports.forge import ForgeWriter, ItemReader, PullReader, WorkFinder
from tests.fakes.forge import ForgeFake

OURS = (
    "agent:ready",
    "agent:working",
    "agent:review",
    "agent:rework",
    "agent:blocked",
    "human:review",
)
APP = Repository(owner="octo", name="app")
ME = "toban-host"


class ItemAndPullReader(ItemReader, PullReader, Protocol):
    """What reads one item."""


class Bench(Protocol):
    """A forge with octo/app, in which `ME` may write."""

    @property
    def world(self) -> Any: ...
    def finder(
        self, login: str = ME, *, owner: str | None = "octo", repositories: tuple[str, ...] = ()
    ) -> WorkFinder: ...
    def reader(self, login: str = ME) -> ItemAndPullReader: ...
    def writer(self, login: str = ME) -> ForgeWriter: ...


class FakeBench:
    """The forge in memory."""

    def __init__(self) -> None:
        self.world = ForgeFake()
        furnish(self.world)

    def finder(
        self, login: str = ME, *, owner: str | None = "octo", repositories: tuple[str, ...] = ()
    ) -> WorkFinder:
        return self.world.finder(
            login, owner=owner, repositories=tuple(map(Repository.parse, repositories))
        )

    def reader(self, login: str = ME) -> ItemAndPullReader:
        return self.world.reader(login)

    def writer(self, login: str = ME) -> ForgeWriter:
        return self.world.writer(login)


class GitHubBench:
    """The adapter on a started stand-in. Nothing waits: neither between writes nor in retries."""

    def __init__(self, github: Standin, folder: Path) -> None:
        self.github = github
        self.world = github.world
        self.folder = folder
        self._open: list[Api | GitHubWriter] = []
        furnish(self.world)

    def close(self) -> None:
        for opened in self._open:
            opened.close()

    def api(
        self,
        login: str = ME,
        *,
        pause: Pause | None = None,
        plan: bool = False,
        before_token: Callable[[], None] = lambda: None,
    ) -> Api:
        """Reads as `login`; `before_token` is called before each request, as other hands would."""

        def token() -> str:
            before_token()
            return f"tok_{login}"

        made = Api(
            api_url=self.github.url,
            credential=token,
            pause=pause or Pause(file=self.folder / "pause.json", writable=not plan),
            cache=EtagCache(self.folder / "etags", write=not plan),
            sleep=unhurried(),
        )
        self._open.append(made)
        return made

    def finder(
        self, login: str = ME, *, owner: str | None = "octo", repositories: tuple[str, ...] = ()
    ) -> WorkFinder:
        return GitHubFinder(
            self.api(login),
            owner=owner,
            repositories=tuple(map(Repository.parse, repositories)),
        )

    def reader(self, login: str = ME) -> ItemAndPullReader:
        return GitHubReader(self.api(login))

    def writer(self, login: str = ME, *, api: Api | None = None) -> GitHubWriter:
        used = api or self.api(login)
        made = GitHubWriter(used, identity=GitHubFinder(used).identity, seconds_between_writes=0)
        self._open.append(made)
        return made


def unhurried() -> Callable[[float], None]:
    """What stands for a sleep."""
    return lambda _seconds: None


def furnish(world: Any) -> None:
    """octo/app with a writer, a reader and a triager; two strangers."""
    for login in ("octo", ME, "reader", "triager", "maintainer", "stranger"):
        world.add_user(login)
    world.add_repo(
        "octo/app",
        files={"README.md": "hello\n", "src/a.txt": "1\n"},
        collaborators={
            ME: "write",
            "reader": "read",
            "triager": "triage",
            "maintainer": "maintain",
        },
    )


def issue_id(number: int, repository: Repository = APP) -> IssueId:
    return IssueId(repository=repository, number=number)
