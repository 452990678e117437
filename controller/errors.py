"""The errors that cross a border of ours. Adapters translate library errors into these.

Raised by adapters, caught by runtime and cli; values never raise them.
"""

from datetime import datetime


class TobanError(Exception):
    """Base of every error that has a sentence for people. Its text is safe to print."""


class ConfigError(TobanError):
    """The configuration cannot be used; the text names file, key, value and what is expected."""


class ForgeError(TobanError):
    """The forge answered in a way that stops this action. Nothing was changed by this call."""


class ForgeUnknownError(ForgeError):
    """A write's answer was lost: it may or may not have happened. Look before repeating it."""


class ForgeLimitedError(ForgeError):
    """The forge asked for a pause. Nothing else may be asked or written before `until`."""

    def __init__(self, message: str, *, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class RepositoryError(TobanError):
    """Git or the worktree could not do what was asked; nothing was repaired or thrown away."""


class UnpushedError(RepositoryError):
    """A local branch holds a commit that is not on the forge; nothing is moved away from it."""


class AgentError(TobanError):
    """Codex could not be started at all (binary, sandbox, run directory)."""


class LockedError(TobanError):
    """Another instance holds the workload's lock; the text says who."""
