"""Identities and every deterministic name derived from them: branch, relative folders, keys.

Used by all rooms. A name is a function of repository and issue number alone, never of a title.
"""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, StringConstraints, model_validator

from controller.domain.values import Value

OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}")
"""Logins of users and organisations: 39 characters at most; managed users have an underscore."""
NAME = re.compile(r"(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}")
"""Repository names: letters, digits, `.`, `_`, `-`; GitHub forbids `.`, `..` and `.git` last."""
SHA = r"^[0-9a-f]{40}$"

type Sha = Annotated[str, StringConstraints(pattern=SHA)]
"""A full SHA-1 object name in lower-case hexadecimal."""


def _login(text: str) -> str:
    if not OWNER.fullmatch(text):
        msg = f"{text!r} is no GitHub owner (letters, digits, '-' and '_')"
        raise ValueError(msg)
    return text


def _repository_name(text: str) -> str:
    if not NAME.fullmatch(text):
        msg = f"{text!r} is no repository name (letters, digits, '.', '_', '-')"
        raise ValueError(msg)
    return text


class Repository(Value):
    """One repository on the forge. Case is kept as the forge spells it; `key` compares."""

    owner: Annotated[str, AfterValidator(_login)]
    name: Annotated[str, AfterValidator(_repository_name)]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `owner/repo`. Raises ValueError that says what is expected."""
        owner, slash, name = text.partition("/")
        if not slash:
            msg = f"{text!r} is no repository: expected owner/repo"
            raise ValueError(msg)
        return cls(owner=owner, name=name)

    @property
    def key(self) -> str:
        """Lower-cased `owner/repo`: GitHub compares names without case."""
        return str(self).lower()

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class IssueId(Value):
    """Identity of a task: repository and issue number, everywhere."""

    repository: Repository
    number: int

    @model_validator(mode="after")
    def _positive(self) -> Self:
        if self.number < 1:
            msg = f"issue numbers start at 1, not {self.number}"
            raise ValueError(msg)
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `owner/repo#58`. Raises ValueError that says what is expected."""
        name, hash_, number = text.partition("#")
        if not hash_ or not number.isascii() or not number.isdigit():
            msg = f"{text!r} is no item: expected owner/repo#58"
            raise ValueError(msg)
        return cls(repository=Repository.parse(name), number=int(number))

    @property
    def branch(self) -> str:
        """The branch on the forge, the same after any rebuild."""
        return f"agent/issue-{self.number}"

    @property
    def folder(self) -> str:
        """Relative folder of this item below `worktrees/`, `state/` and `reviews/`."""
        return f"{self.repository.owner}/{self.repository.name}/issue-{self.number}"

    @property
    def key(self) -> str:
        """What compares two identities."""
        return f"{self.repository.key}#{self.number}"

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"
