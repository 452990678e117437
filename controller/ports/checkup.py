"""What `toban doctor` and `toban labels` need of the forge beside the loop's ports: reads only.

Implemented by `controller.adapters.github.checkup`; called by `controller.runtime.doctor_forge` and
`controller.runtime.labels`.
"""

from datetime import datetime
from typing import Protocol

from controller.domain.ids import Repository
from controller.domain.values import Seen, Value


class Account(Value):
    """Who the credential is, and what the forge tells of it."""

    login: str
    scopes: tuple[str, ...] | None
    """Of a classic token; None for credentials that have permissions instead."""
    expires: str
    """As the forge writes it, empty when it says nothing."""
    remaining: int | None
    """Requests left until the limit's reset, None when the forge says nothing."""
    limit: int | None


class Access(Value):
    """What the credential may do with one repository."""

    repository: Repository
    archived: bool
    push: bool | None
    """None for a GitHub App, whose permissions are not told per repository."""

    @property
    def usable(self) -> bool:
        """Whether nothing that is told speaks against working there."""
        return self.push is not False and not self.archived


class ForgeCheckup(Protocol):
    """Asks once, without waiting and without a cache of its own."""

    def reach(self) -> Seen[datetime | None]:
        """The forge's own time from an answer without credentials, None when it tells none."""

    def account(self) -> Seen[Account]:
        """Who we are."""

    def access(self, repository: Repository) -> Seen[Access]:
        """What we may do there."""

    def owned(self, owner: str) -> Seen[tuple[Access, ...]]:
        """Every repository of `owner` that we see, in the order of the forge."""

    def labels(self, repository: Repository) -> Seen[tuple[str, ...]]:
        """Names of all labels of a repository."""
