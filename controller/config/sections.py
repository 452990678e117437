"""The sections for the whole host and for issues, each key with its default.

Made by `controller.config.load` from the file; read by bootstrap, which hands values to the rooms.
Never reads secrets: only where they lie.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, Strict, ValidationInfo, field_validator

from controller.config.fields import (
    Bots,
    Branch,
    Commands,
    Count,
    Duration,
    Effort,
    Login,
    Model,
    OptionalPlace,
    Patterns,
    Person,
    Place,
    Repositories,
    RepositoryName,
    Section,
    Span,
    Template,
    Url,
    Words,
)


class Paths(Section):
    """Where toban keeps its own things."""

    root: Place = Path("~/ai")
    """`repos/`, `worktrees/`, `state/` and the locks live below it."""


class GitHubApp(Section):
    """A GitHub App installation instead of a token."""

    app_id: Annotated[int, Field(ge=1, le=2**53)]
    private_key_file: Place


class GitHub(Section):
    """The forge. That this section stands there is what makes issues wanted."""

    api_url: Url = "https://api.github.com"
    git_url: Url = "https://github.com"
    app: GitHubApp | None = None
    token_file: OptionalPlace = None
    owner: Login | None = None
    repositories: Repositories = ()
    assignee: Login | None = None
    """Who gets `human:review`; None means the token's own user."""
    seconds_between_writes: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 1.0

    @field_validator("token_file")
    @classmethod
    def _one_identity(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is not None and info.data.get("app") is not None:
            raise ValueError("expected either token_file or [github.app], not both")
        return value

    @field_validator("repositories")
    @classmethod
    def _something_to_watch(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not value and "owner" in info.data and info.data["owner"] is None:
            raise ValueError('expected github.owner or repositories = ["owner/repo"], or both')
        return value

    @field_validator("assignee")
    @classmethod
    def _an_app_is_nobody(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("app") is not None:
            raise ValueError("is required with [github.app]: expected the login of a person")
        return value

    def watches(self, repository: str) -> bool:
        """Whether `owner/repo` is one of the configured ones; names compare without case."""
        name = repository.casefold()
        owner = name.partition("/")[0]
        mine = self.owner is not None and owner == self.owner.casefold()
        return mine or name in {entry.casefold() for entry in self.repositories}


class RepositorySettings(Section):
    """`[repository."owner/repo"]`."""

    base: Branch | None = None
    """None means the default branch that the API names."""
    prepare: Commands = ()
    verify: Commands = ()


class Git(Section):
    """Who the commits say they are from; proves nothing and decides nothing."""

    author_name: Person = "toban"
    author_email: Person = "toban@localhost"


class Phase(Section):
    """One kind of Codex run: model, effort, limits, and the prompt's own template where given."""

    model: Model = "gpt-5.6-luna"
    effort: Effort = "medium"
    timeout: Span = timedelta(minutes=60)
    silence: Span = timedelta(minutes=15)
    """Without an event for so long, the run counts as stuck."""
    prompt_file: Template = None


class ReviewPhase(Phase):
    """The run that judges a change: shorter."""

    timeout: Span = timedelta(minutes=20)


REWORKS = (Phase(), Phase(model="gpt-5.6-terra"))


class Agent(Section):
    """Codex: which binary, whose login, and one phase for each kind of run."""

    codex: OptionalPlace = None
    """None means the binary of the package openai-codex-cli-bin."""
    codex_home: Place = Path("~/.codex")
    user: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9._-]{0,31}\$?)?$")] = ""
    """The user that runs the worker; empty means the user that runs toban."""
    codex_config: Words = ()
    """`key=value` entries for Codex's `-c`."""
    implement: Phase = Phase()
    review: ReviewPhase = ReviewPhase()
    rework: Annotated[tuple[Phase, ...], Strict(strict=False), Field(max_length=20)] = REWORKS
    """One entry for each round; none means that a verdict of rework goes to a human at once."""

    @field_validator("codex_config")
    @classmethod
    def _assignments(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            key, equals, setting = entry.partition("=")
            if not key.strip() or not equals or not setting.strip() or "\0" in entry:
                raise ValueError(f'expected entries such as "model_provider=azure", not {entry!r}')
        return value


class Policy(Section):
    """What may start, what may be delivered, and how often something is tried."""

    max_delivery_retries: Annotated[int, Field(ge=0, le=100)] = 2
    max_worker_failures: Annotated[int, Field(ge=0, le=100)] = 2
    labelers: Literal["write", "maintain", "admin"] = "write"
    trusted_bots: Bots = ()
    protected_paths: Patterns = (
        ".github/**",
        "CODEOWNERS",
        "AGENTS*.md",
        ".codex/**",
        ".agents/**",
        ".gitattributes",
        ".gitmodules",
    )
    sensitive_paths: Patterns = (
        "package.json",
        "pyproject.toml",
        "*.lock",
        "Dockerfile*",
        "Makefile",
    )
    max_changed_files: Annotated[int, Field(ge=1, le=100_000)] = 500
    max_file_bytes: Annotated[int, Field(ge=1, le=100_000_000)] = 5_000_000
    """GitHub refuses files beyond 100 MB."""
    max_total_bytes: Annotated[int, Field(ge=1, le=2_000_000_000)] = 20_000_000
    signing_key_file: OptionalPlace = None
    max_runs_per_day: Count = 0
    """0 means no limit, here and below."""
    max_tokens_per_day: Count = 0


class Update(Section):
    """The self-update gate; without this section there is none."""

    checkout: Place
    repository: RepositoryName
    branch: Branch = "main"
    min_age: Duration = timedelta(hours=1)
    require: Literal["human-merge", "signature", "none"] = "human-merge"


class Host(Section):
    """Below these nothing starts; what cannot be measured counts as below."""

    min_free_memory_percent: Annotated[float, Field(ge=0, le=95, allow_inf_nan=False)] = 12
    min_free_disk_gb: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] = 6


class Schedule(Section):
    """How often `serve` ticks, and what it leaves behind."""

    issues_every: Span = timedelta(minutes=15)
    orders_every: Span = timedelta(minutes=1)
    keep_runs: Span = timedelta(days=30)
    metrics_file: OptionalPlace = None
