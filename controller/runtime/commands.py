"""Run the repository's own commands (`prepare`, `verify`) in the sandbox, one after the other.

Called by `controller.runtime.apply_disk`. What the commands print is hostile text.
"""

from pathlib import Path
from typing import NamedTuple

from controller.domain.values import Unseen
from controller.ports.agents import CommandOrder, Confinement
from controller.runtime.context import Context


class CommandFailure(NamedTuple):
    """The first command that did not end well."""

    command: str
    exit_code: int | None
    """None = ended by our clock."""
    output: str

    def sentence(self) -> str:
        """One line for people and for the worker, with the end of the output below it."""
        how = "ran out of time" if self.exit_code is None else f"exit code {self.exit_code}"
        return f"`{self.command}`: {how}\n{self.output[-8000:]}"


def confine(
    c: Context, *, workspace: Path, directory: Path, git_data: Path | None, network: bool
) -> Confinement:
    """The confinement of a command: its workspace and scratch are writable, nothing else."""
    return Confinement(
        root=c.w.settings.root,
        workspace=workspace,
        git_data=git_data,
        scratch=directory / "scratch",
        secrets=c.w.settings.secrets,
        writable=True,
        network=network,
    )


def run_commands(
    c: Context, commands: tuple[str, ...], *, confinement: Confinement, directory: Path
) -> CommandFailure | Unseen | None:
    """Probe the sandbox, then run each command; None when all ended with 0."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    broken = c.w.agents.probe(confinement)
    if broken is not None:
        return broken
    for index, command in enumerate(commands):
        folder = directory / f"command-{index}"
        folder.mkdir(exist_ok=True, mode=0o700)
        c.tell(f"$ {command}")
        result = c.w.agents.command(
            CommandOrder(
                run_directory=folder,
                confinement=confinement,
                command=command,
                timeout_s=c.w.settings.command_timeout_s,
            )
        )
        if result.exit_code != 0:
            return CommandFailure(command, result.exit_code, c.harmless(result.output))
    return None
