"""What can be done to an issue: a closed list of values, each with a key of identity fields only.

Returned by rules, printed by `plan`, carried out by `controller.runtime.apply`. Doing one twice is
doing it once.
"""

from typing import Literal

from controller.domain.ids import IssueId, Sha
from controller.domain.policy import PhaseModel
from controller.domain.reasons import Reason
from controller.domain.repository import Change
from controller.domain.runs import Task
from controller.domain.values import Value

type Risk = Literal["none", "disk", "forge", "agent"]
"""What an action can change: nothing outside, this disk, GitHub, or it starts Codex."""


class _Act(Value):
    item: IssueId
    reason: Reason
    message: str
    """One sentence for people: why this is done. Logic never reads it."""

    @property
    def kind(self) -> str:
        """CamelCase code of the action."""
        return type(self).__name__

    @property
    def key(self) -> str:
        """Identity: equal keys are the same act."""
        return f"{self.kind}:{self.item.key}"


class Claim(_Act):
    """Say that the text with this digest is being worked on, then show `agent:working`."""

    risk: Literal["forge"] = "forge"
    epoch: int
    digest: str
    head: Sha | None
    """Tip of the item's remote branch when the claim was decided."""

    @property
    def key(self) -> str:
        """One claim per epoch and text."""
        return f"{self.kind}:{self.item.key}:{self.epoch}:{self.digest}"


class Block(_Act):
    """Explain once why toban stops, then show `agent:blocked`. The work is kept."""

    risk: Literal["forge"] = "forge"
    epoch: int | None
    details: str = ""
    """Further text for the comment: hostile, made safe when it is rendered."""

    @property
    def key(self) -> str:
        """One explanation per epoch and reason."""
        return f"{self.kind}:{self.item.key}:{self.epoch}:{self.reason}"


class Explain(_Act):
    """Say once, without touching a label, why nothing more happens."""

    risk: Literal["forge"] = "forge"
    epoch: int
    on: int
    """Number of the issue or pull request that gets the comment."""

    @property
    def key(self) -> str:
        """One explanation per epoch and reason."""
        return f"{self.kind}:{self.item.key}:{self.epoch}:{self.reason}"


class FetchSource(_Act):
    """Make the bare repository if needed; fetch the base branch and the item's branch."""

    risk: Literal["disk"] = "disk"
    base_branch: str


class CreateWorktree(_Act):
    """Check out the item's branch at a commit."""

    risk: Literal["disk"] = "disk"
    at: Sha
    pushed: tuple[Sha, ...] = ()
    """Heads that the forge has in pull requests: a local branch may be moved away from these."""

    @property
    def key(self) -> str:
        """One worktree per commit."""
        return f"{self.kind}:{self.item.key}:{self.at}"


class PrepareWorktree(_Act):
    """Run the `prepare` commands in the fresh worktree."""

    risk: Literal["disk"] = "disk"


class RemoveWorktree(_Act):
    """Remove a worktree that is clean and pushed."""

    risk: Literal["disk"] = "disk"


class StartAgent(_Act):
    """Run Codex to its end for one task."""

    risk: Literal["agent"] = "agent"
    task: Task
    attempt: int
    """Counted from 1 within the task."""
    model: PhaseModel
    base: Sha
    """Base commit: its AGENTS.md instructs, and the reviewer compares with it."""
    head: Sha
    """Commit on which the worker starts, or which is reviewed."""
    thread: str | None = None
    """Thread to resume after an attempt without a complete answer."""
    feedback: str = ""
    """Message of a refused delivery, for the worker."""

    @property
    def key(self) -> str:
        """One start per task and attempt."""
        return f"{self.kind}:{self.item.key}:{self.task.key}:{self.attempt}"


class ImportChange(_Act):
    """Import, validate and commit what a complete worker run left."""

    risk: Literal["disk"] = "disk"
    run: int
    task: Task
    parent: Sha
    base: Sha

    @property
    def key(self) -> str:
        """One import per run."""
        return f"{self.kind}:{self.item.key}:{self.run}"


class PublishCommit(_Act):
    """Announce the commit on the issue, then push it, fast-forward only."""

    risk: Literal["forge"] = "forge"
    epoch: int
    task: Task
    run: int
    change: Change
    expected: Sha | None
    """Tip of the remote branch that was decided on, None = it does not exist."""
    tokens: int

    @property
    def key(self) -> str:
        """One publication per commit."""
        return f"{self.kind}:{self.item.key}:{self.change.sha}"


class OpenPullRequest(_Act):
    """Open the pull request for the pushed head, or adopt our own open one."""

    risk: Literal["forge"] = "forge"
    base_branch: str
    base: Sha
    head: Sha
    change: Change | None


class ShowPhase(_Act):
    """Make the label show where the work stands: add the new one first, then take others off."""

    risk: Literal["forge"] = "forge"
    label: str

    @property
    def key(self) -> str:
        """One label per item."""
        return f"{self.kind}:{self.item.key}:{self.label}"


class RecordVerdict(_Act):
    """Store the reviewer's verdict as a comment of our own on the pull request."""

    risk: Literal["forge"] = "forge"
    pull: int
    epoch: int
    base: Sha
    base_branch: str
    head: Sha
    run: int

    @property
    def key(self) -> str:
        """One verdict per base, head and run."""
        return f"{self.kind}:{self.item.key}:{self.base}:{self.head}:{self.run}"


class HandOver(_Act):
    """Tell a human that it is their turn: comment, assignee, `human:review`."""

    risk: Literal["forge"] = "forge"
    pull: int
    epoch: int
    base: Sha
    head: Sha

    @property
    def key(self) -> str:
        """One hand-over per head."""
        return f"{self.kind}:{self.item.key}:{self.epoch}:{self.head}"


type Action = (
    Claim
    | Block
    | Explain
    | FetchSource
    | CreateWorktree
    | PrepareWorktree
    | RemoveWorktree
    | StartAgent
    | ImportChange
    | PublishCommit
    | OpenPullRequest
    | ShowPhase
    | RecordVerdict
    | HandOver
)

ACTIONS: tuple[type[_Act], ...] = (
    Claim,
    Block,
    Explain,
    FetchSource,
    CreateWorktree,
    PrepareWorktree,
    RemoveWorktree,
    StartAgent,
    ImportChange,
    PublishCommit,
    OpenPullRequest,
    ShowPhase,
    RecordVerdict,
    HandOver,
)
"""Every kind, in the order of an issue's life (documentation and completeness tests)."""
