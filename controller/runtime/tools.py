"""Everything the shell works with, as ports: readers for a look, writers beside them for a tick.

Built by bootstrap. `plan` is handed `Readers` alone, so that a dry run cannot write.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from controller.domain.forge import Person
from controller.domain.policy import Policy
from controller.domain.repository import ImportLimits
from controller.domain.runs import Phase
from controller.domain.values import Seen
from controller.ports.agents import AgentRunner
from controller.ports.forge import ForgeWriter, ItemReader, PullReader, WorkFinder
from controller.ports.host import Clock, HostMeter
from controller.ports.records import RecordsReader, RecordsWriter
from controller.ports.repository import RepositoryReader, RepositoryWriter


class Readers(NamedTuple):
    """All that a look needs."""

    finder: WorkFinder
    items: ItemReader
    pulls: PullReader
    repository: RepositoryReader
    records: RecordsReader
    host: HostMeter
    clock: Clock
    policy: Policy
    signing_keys: tuple[bytes, ...] = ()

    def me(self) -> Seen[Person]:
        """Who we are on the forge."""
        return self.finder.identity()


class Writers(NamedTuple):
    """All that acting needs beside the readers."""

    forge: ForgeWriter
    repository: RepositoryWriter
    records: RecordsWriter
    agents: AgentRunner
    settings: "Settings"


class Settings(NamedTuple):
    """What acting needs of the configuration and planning must not know."""

    root: Path
    secrets: tuple[Path, ...]
    """Files and folders that no sandboxed process may read."""
    limits: ImportLimits
    author_name: str
    author_email: str
    templates: Mapping[Phase, tuple[str, ...]]
    """Prompt templates by phase; rework has one per round."""
    command_timeout_s: float = 3600.0
    """For each `prepare` and `verify` command."""
