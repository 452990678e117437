"""The only place that names concrete adapters: from a configuration to the ports that runtime uses.

Called by `controller.cli`. Secrets stay in closures here; nobody else is handed one. Adapters are
imported where they are needed, so that a command pays only for what it uses.
"""

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from controller.adapters.clock import SystemClock
from controller.adapters.records import FileRecords
from controller.config import Config, read_app_key, read_signing_keys, read_token, secret_paths
from controller.config.policy import policy
from controller.config.sections import GitHub
from controller.domain.ids import Repository
from controller.domain.repository import ImportLimits
from controller.domain.runs import Phase
from controller.domain.values import Seen
from controller.errors import ConfigError
from controller.ports.agents import AgentRunner
from controller.ports.checkup import ForgeCheckup
from controller.ports.forge import WorkFinder
from controller.ports.host import Clock, HostMeter, Lock, LockReader
from controller.runtime.tools import Readers, Settings, Writers
from controller.workloads.issues.prompts import check_template

if TYPE_CHECKING:
    from controller.adapters.git import GitRepositories
    from controller.adapters.github.http import Api
    from controller.adapters.github.reader import GitHubReader


CHECKUP_SECONDS = 5.0
"""For one answer to `doctor`: whoever waits for it is a person."""


TOKEN_VARIABLES = ("TOBAN_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN")
"""Taken out of this process's environment, so that no child can inherit one."""


class Issues(NamedTuple):
    """The workload of issues, ready to look and to act."""

    readers: Readers
    writers: Callable[[], Writers]
    """Makes the writers; PyGithub, GitPython and Codex are not even loaded before."""
    close: Callable[[], None]
    """Drops the connection to the forge; the next read opens another."""


def issues(config: Config, *, writes: bool) -> Issues:
    """Ports of the issue workload; with `writes` False no file is written, caches included.

    Raises ConfigError for a missing or unusable credential.
    """
    from controller.adapters.git import GitRepositories
    from controller.adapters.host import PsutilHost

    github = _github(config)
    for name in TOKEN_VARIABLES:
        os.environ.pop(name, None)
    credential, login = _credential(config, github, writes=writes)
    api = _api(config, github, credential, writes=writes)
    git = GitRepositories(config.paths.root, github.git_url, credential)
    records = FileRecords(config.paths.root)
    keys = read_signing_keys(config)
    readers = Readers(
        finder=_finder(api, github, login),
        items=_reader(api),
        pulls=_reader(api),
        repository=git.reader,
        records=records,
        host=PsutilHost(config.paths.root),
        clock=SystemClock(),
        policy=policy(config),
        signing_keys=keys,
    )
    return Issues(
        readers, lambda: _writers(config, api, git, readers, token=credential()), api.close
    )


def _github(config: Config) -> GitHub:
    if config.github is None:
        msg = f"{config.path}: [github] is missing: issues are not wanted"
        raise ConfigError(msg)
    return config.github


def _credential(
    config: Config, github: GitHub, *, writes: bool, at_once: bool = True
) -> tuple[Callable[[], str], Callable[[], Seen[str]] | None]:
    """The token of now, read anew each time, and for a GitHub App the source of its own login."""
    if github.app is None:
        if at_once:
            read_token(config)
        return (lambda: read_token(config)), None
    from controller.adapters.github.app import AppCredential

    app = AppCredential(
        api_url=github.api_url,
        app_id=github.app.app_id,
        private_key=lambda: read_app_key(config),
        owner=github.owner or github.repositories[0].partition("/")[0],
        store=config.paths.root / "state" / "github-app.json",
        writable=writes,
    )
    return app, app.login


def _api(config: Config, github: GitHub, credential: Callable[[], str], *, writes: bool) -> "Api":
    """The shared connection: cache, pause, retries of reads."""
    from controller.adapters.github.cache import EtagCache
    from controller.adapters.github.http import Api
    from controller.adapters.github.pause import Pause

    state = config.paths.root / "state"
    return Api(
        api_url=github.api_url,
        credential=credential,
        pause=Pause(file=state / "github-pause.json", writable=writes),
        cache=EtagCache(state / "github-cache", write=writes),
    )


def _finder(api: "Api", github: GitHub, login: Callable[[], Seen[str]] | None) -> WorkFinder:
    from controller.adapters.github.finder import GitHubFinder

    return GitHubFinder(
        api,
        owner=github.owner,
        repositories=tuple(Repository.parse(name) for name in github.repositories),
        app_login=login,
    )


def _reader(api: "Api") -> "GitHubReader":
    from controller.adapters.github.reader import GitHubReader

    return GitHubReader(api)


def _writers(
    config: Config, api: "Api", git: "GitRepositories", readers: Readers, *, token: str
) -> Writers:
    from controller.adapters.github.writer import GitHubWriter

    return Writers(
        forge=GitHubWriter(
            api,
            identity=readers.finder.identity,
            seconds_between_writes=_github(config).seconds_between_writes,
        ),
        repository=git.writer,
        records=FileRecords(config.paths.root),
        agents=agents(config),
        settings=_settings(config, token=token),
    )


def checkup(config: Config) -> ForgeCheckup:
    """What `doctor` and `labels` ask the forge. Reads the credential only when it is needed."""
    from controller.adapters.github.cache import EtagCache
    from controller.adapters.github.checkup import GitHubCheckup
    from controller.adapters.github.http import Api
    from controller.adapters.github.pause import Pause

    github = _github(config)
    credential, login = _credential(config, github, writes=False, at_once=False)
    api = Api(
        api_url=github.api_url,
        credential=credential,
        pause=Pause(file=config.paths.root / "state" / "github-pause.json", writable=False),
        cache=EtagCache(),
        timeout=CHECKUP_SECONDS,
        sleep=lambda _: None,
    )
    return GitHubCheckup(api, credential=credential, timeout=CHECKUP_SECONDS, app_login=login)


def clock() -> Clock:
    """The machine's clock."""
    return SystemClock()


def host_meter(config: Config) -> HostMeter:
    """Memory and disk."""
    from controller.adapters.host import PsutilHost

    return PsutilHost(config.paths.root)


def codex_binary(config: Config) -> Path:
    """The Codex that would be started."""
    import codex_cli_bin  # type: ignore[import-untyped]  # no stubs

    return config.agent.codex or Path(codex_cli_bin.bundled_codex_path())


def agents(config: Config) -> AgentRunner:
    """Codex as the configuration wants it. Raises ConfigError."""
    from controller.adapters.codex import CodexRunner

    if config.agent.user:
        msg = f"{config.path}: agent.user: another user for the worker is not supported yet"
        raise ConfigError(msg)
    return CodexRunner(
        binary=config.agent.codex,
        codex_home=config.agent.codex_home,
        extra_config=config.agent.codex_config,
        tool_path=os.environ.get("PATH") or os.defpath,
    )


def locks(config: Config) -> Lock:
    """The workloads' kernel locks."""
    from controller.adapters.lock import FileLocks

    return FileLocks(config.paths.root)


def lock_reader(config: Config) -> LockReader:
    """Who holds the locks; takes none."""
    from controller.adapters.lock import FileLocks

    return FileLocks(config.paths.root)


def _settings(config: Config, *, token: str) -> Settings:
    wanted = config.policy
    own = [token, *(key.decode() for key in read_signing_keys(config))]
    return Settings(
        root=config.paths.root,
        secrets=secret_paths(config),
        limits=ImportLimits(
            protected_paths=wanted.protected_paths,
            sensitive_paths=wanted.sensitive_paths,
            max_changed_files=wanted.max_changed_files,
            max_file_bytes=wanted.max_file_bytes,
            max_total_bytes=wanted.max_total_bytes,
            secrets=tuple(own),
        ),
        author_name=config.git.author_name,
        author_email=config.git.author_email,
        templates=_templates(config),
    )


def _templates(config: Config) -> dict[Phase, tuple[str, ...]]:
    """The prompt templates: the packaged ones, or the user's own."""
    agent = config.agent
    return {
        "implement": (_template("implement", agent.implement.prompt_file),),
        "review": (_template("review", agent.review.prompt_file),),
        "rework": tuple(_template("rework", phase.prompt_file) for phase in agent.rework),
    }


def _template(name: Phase, own: Path | None) -> str:
    if own is not None:
        text = own.read_text(encoding="utf-8-sig")
        try:
            check_template(text)
        except ValueError as error:
            msg = f"{own}: {error}"
            raise ConfigError(msg) from error
        return text
    packaged = resources.files("controller.workloads.issues") / "templates" / f"{name}.md"
    return packaged.read_text(encoding="utf-8")
