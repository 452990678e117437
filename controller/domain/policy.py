"""What the configuration wants of planning, without paths and secrets. Built by bootstrap."""

from collections.abc import Mapping

from pydantic import Field

from controller.domain.forge import Permission
from controller.domain.values import Value


class PhaseModel(Value):
    """Model, effort and clocks of one phase."""

    model: str
    effort: str
    timeout_s: float
    silence_s: float | None = None


class RepositoryPolicy(Value):
    """Overrides of one repository."""

    base: str | None = None
    prepare: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()


class Policy(Value):
    """All that rules may know of the configuration."""

    implement: PhaseModel
    review: PhaseModel
    rework: tuple[PhaseModel, ...]
    """One entry per round: its length is the rework budget."""
    repositories: Mapping[str, RepositoryPolicy] = Field(default_factory=dict)
    """By `Repository.key`."""
    max_delivery_retries: int = 2
    max_worker_failures: int = 2
    max_review_retries: int = 1
    """Unreadable verdicts that are answered by one more review (interface.md section 5)."""
    labelers: Permission = "write"
    trusted_bots: tuple[str, ...] = ()
    max_runs_per_day: int = 0
    max_tokens_per_day: int = 0
    min_free_memory_percent: float = 12.0
    min_free_disk_gb: float = 6.0
    signing: bool = False
    """Whether a verdict acts only with a valid signature."""
    assignee: str | None = None

    def of(self, repository_key: str) -> RepositoryPolicy:
        """Overrides of a repository, empty ones when it has none."""
        return self.repositories.get(repository_key, RepositoryPolicy())
