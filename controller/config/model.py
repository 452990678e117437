"""The whole configuration as one frozen value, and what belongs to it but stands outside the file.

Made by `controller.config.load`; read by bootstrap and cli. Its only secret is the variable's.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from controller.config.fields import RepositoryName, Section
from controller.config.orders import Orders
from controller.config.sections import (
    Agent,
    Git,
    GitHub,
    Host,
    Paths,
    Policy,
    RepositorySettings,
    Schedule,
    Update,
)


class Sections(Section):
    """What may stand in the file, table by table."""

    paths: Paths = Field(default_factory=Paths)
    github: GitHub | None = None
    repository: Mapping[RepositoryName, RepositorySettings] = Field(default_factory=dict)
    git: Git = Field(default_factory=Git)
    agent: Agent = Field(default_factory=Agent)
    policy: Policy = Field(default_factory=Policy)
    update: Update | None = None
    host: Host = Field(default_factory=Host)
    schedule: Schedule = Field(default_factory=Schedule)
    orders: Orders | None = None

    @field_validator("repository")
    @classmethod
    def _used(
        cls, value: Mapping[str, RepositorySettings], info: ValidationInfo
    ) -> Mapping[str, RepositorySettings]:
        names = [name.casefold() for name in value]
        github = info.data.get("github")
        for name in value:
            if names.count(name.casefold()) > 1:
                raise ValueError(f'expected one section for "{name}": names differ in case only')
            if isinstance(github, GitHub) and not github.watches(name):
                raise ValueError(
                    f'"{name}" is neither in github.repositories nor of github.owner: '
                    "its settings would never be used"
                )
        return value

    @model_validator(mode="after")
    def _something_wanted(self) -> Self:
        if self.github is None and self.orders is None:
            raise ValueError("expected [github] or [orders], or both: nothing is wanted")
        return self

    def settings_of(self, repository: str) -> RepositorySettings:
        """The settings of `owner/repo`, the defaults where it has no section of its own."""
        wanted = repository.casefold()
        for name, settings in self.repository.items():
            if name.casefold() == wanted:
                return settings
        return RepositorySettings()


class Config(Sections):
    """The sections, with where they came from and what the environment adds."""

    path: Path
    """The file that was read, absolute."""
    home: Path
    """The folder that `~` meant."""
    warnings: tuple[str, ...] = ()
    """Sentences for people about modes of files that are too open; nothing is stopped by them."""
    credentials: Path | None = None
    """`$CREDENTIALS_DIRECTORY` as systemd sets it."""
    token_variable: SecretStr | None = None
    """`$TOBAN_GITHUB_TOKEN`, where it is set."""
