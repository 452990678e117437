"""Who there is: users, their roles and tokens, Apps and where they are installed.

Records of the stand-in's memory, made by `places`. Plain data.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

type UserKind = Literal["User", "Bot", "Organization"]
type TokenKind = Literal["classic", "fine-grained", "installation"]


class Role(IntEnum):
    """A user's role in one repository, ordered."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5

    @property
    def word(self) -> str:
        """The role as the API spells it."""
        return self.name.lower()

    @property
    def permission(self) -> str:
        """The legacy permission the API reports: admin, write, read or none."""
        return {"maintain": "write", "triage": "read"}.get(self.word, self.word)


@dataclass(kw_only=True)
class User:
    """An account."""

    id: int
    login: str
    kind: UserKind
    name: str
    email: str
    created_at: int


@dataclass(frozen=True, kw_only=True)
class Token:
    """A credential of `login`. `permissions` None means all; `repositories` None means all."""

    value: str
    login: str
    kind: TokenKind = "classic"
    scopes: tuple[str, ...] = ("repo",)
    permissions: dict[str, str] | None = None
    repositories: frozenset[str] | None = None
    expires_at: int | None = None
    account: str | None = None
    """Of an installation token: whose repositories it may write to."""

    def allows(self, area: str, *, write: bool) -> bool:
        """Whether a fine-grained or installation token may touch `area`."""
        if self.permissions is None or area == "metadata":
            return True
        granted = self.permissions.get(area)
        return granted in {"write", "admin"} if write else granted is not None

    def covers(self, full_name: str) -> bool:
        """Whether the token was given for the repository `full_name`."""
        names = self.repositories
        return names is None or full_name.lower() in {name.lower() for name in names}


@dataclass(frozen=True, kw_only=True)
class App:
    """A GitHub App; its key is the public half in PEM form."""

    id: int
    slug: str
    owner: str
    public_key: str
    permissions: dict[str, str]
    created_at: int


@dataclass(frozen=True, kw_only=True)
class Installation:
    """An App on one account. `repositories` (full names) None means all of them."""

    id: int
    app_id: int
    account: str
    repositories: frozenset[str] | None
    created_at: int
