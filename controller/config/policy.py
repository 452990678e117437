"""What planning may know of the configuration: a policy without paths and secrets.

Called by bootstrap and by `toban doctor`. Pure.
"""

from controller.config.model import Config
from controller.config.sections import Phase
from controller.domain.ids import Repository
from controller.domain.policy import PhaseModel, Policy, RepositoryPolicy


def policy(config: Config) -> Policy:
    """What planning may know of the configuration."""
    wanted = config.policy
    return Policy(
        implement=_model(config.agent.implement),
        review=_model(config.agent.review),
        rework=tuple(_model(phase) for phase in config.agent.rework),
        repositories={
            Repository.parse(name).key: RepositoryPolicy(
                base=each.base, prepare=each.prepare, verify=each.verify
            )
            for name, each in config.repository.items()
        },
        max_delivery_retries=wanted.max_delivery_retries,
        max_worker_failures=wanted.max_worker_failures,
        labelers=wanted.labelers,
        trusted_bots=wanted.trusted_bots,
        max_runs_per_day=wanted.max_runs_per_day,
        max_tokens_per_day=wanted.max_tokens_per_day,
        min_free_memory_percent=config.host.min_free_memory_percent,
        min_free_disk_gb=config.host.min_free_disk_gb,
        signing=wanted.signing_key_file is not None,
        assignee=config.github.assignee if config.github else None,
    )


def _model(phase: Phase) -> PhaseModel:
    return PhaseModel(
        model=phase.model,
        effort=phase.effort,
        timeout_s=phase.timeout.total_seconds(),
        silence_s=phase.silence.total_seconds(),
    )
