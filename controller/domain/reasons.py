"""The closed list of reason codes: why something is done, waits or was refused, and what to do.

Rules, adapters and renderers name a reason; logic never reads a message. `docs/planning.md` lists
every code; a test keeps both equal.
"""

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """Why an item acts, waits or stops. CamelCase codes are part of the contract."""

    # why an action is taken
    READY_LABEL = "ReadyLabel"
    WORK_DUE = "WorkDue"
    ATTEMPT_FAILED = "AttemptFailed"
    DELIVERY_REFUSED = "DeliveryRefused"
    CHANGE_MADE = "ChangeMade"
    CHANGE_VALIDATED = "ChangeValidated"
    HEAD_PUSHED = "HeadPushed"
    LABEL_BEHIND = "LabelBehind"
    HEAD_UNREVIEWED = "HeadUnreviewed"
    VERDICT_GIVEN = "VerdictGiven"
    REWORK_ASKED = "ReworkAsked"
    APPROVED = "Approved"
    SOURCE_MISSING = "SourceMissing"
    WORKTREE_MISSING = "WorktreeMissing"
    PREPARE_DUE = "PrepareDue"
    FINISHED = "Finished"
    # why an item waits
    WAITS_FOR_TURN = "WaitsForTurn"
    WAITS_FOR_HUMAN = "WaitsForHuman"
    BLOCKED = "Blocked"
    DONE = "Done"
    ISSUE_CLOSED = "IssueClosed"
    LABEL_REMOVED = "LabelRemoved"
    LABEL_BY_HAND = "LabelByHand"
    WORKTREE_KEPT = "WorktreeKept"
    REPOSITORY_ARCHIVED = "RepositoryArchived"
    RATE_LIMITED = "RateLimited"
    USAGE_LIMIT = "UsageLimit"
    RUNS_SPENT = "RunsSpent"
    TOKENS_SPENT = "TokensSpent"
    MEMORY_LOW = "MemoryLow"
    DISK_LOW = "DiskLow"
    HOST_UNSEEN = "HostUnseen"
    FORGE_UNSEEN = "ForgeUnseen"
    FORGE_BEHIND = "ForgeBehind"
    REPOSITORY_MOVED = "RepositoryMoved"
    REPOSITORY_NOT_FOUND = "RepositoryNotFound"
    ISSUE_NOT_FOUND = "IssueNotFound"
    COMMIT_UNKNOWN = "CommitUnknown"
    TOKEN_REFUSED = "TokenRefused"  # noqa: S105 - a reason code, not a secret
    ACCESS_DENIED = "AccessDenied"
    BASE_BRANCH_MISSING = "BaseBranchMissing"
    GIT_UNSEEN = "GitUnseen"
    SANDBOX_NOT_ENFORCED = "SandboxNotEnforced"
    MODEL_UNREACHABLE = "ModelUnreachable"
    AGENT_NOT_STARTED = "AgentNotStarted"
    STOPPED = "Stopped"
    CHECK_FAILS_ON_BASE = "CheckFailsOnBase"
    PREPARE_FAILED = "PrepareFailed"
    ACTION_FAILED = "ActionFailed"
    # why an item is refused or blocked
    NOT_PERMITTED = "NotPermitted"
    TEXT_CHANGED = "TextChanged"
    NO_CLAIM = "NoClaim"
    BRANCH_NOT_OURS = "BranchNotOurs"
    BRANCH_DIVERGED = "BranchDiverged"
    FOREIGN_COMMITS = "ForeignCommits"
    FOREIGN_PULL_REQUEST = "ForeignPullRequest"
    PULL_REQUEST_CLOSED = "PullRequestClosed"
    ALREADY_MERGED = "AlreadyMerged"
    WORKTREE_TAMPERED = "WorktreeTampered"
    WORKTREE_DIRTY = "WorktreeDirty"
    BRANCH_UNPUSHED = "BranchUnpushed"
    WORKER_FAILED = "WorkerFailed"
    REVIEW_FAILED = "ReviewFailed"
    BUDGET_SPENT = "BudgetSpent"
    DELIVERY_BUDGET_SPENT = "DeliveryBudgetSpent"
    PUSH_REJECTED = "PushRejected"
    DIFF_TOO_LARGE = "DiffTooLarge"
    HOST_SECRET_IN_CHANGE = "HostSecretInChange"  # noqa: S105 - a reason code, not a secret
    # why a change is sent back to the worker
    EMPTY_CHANGE = "EmptyChange"
    WHITESPACE_ERROR = "WhitespaceError"
    PROTECTED_PATH = "ProtectedPath"
    TOO_MANY_FILES = "TooManyFiles"
    FILE_TOO_LARGE = "FileTooLarge"
    CHANGE_TOO_LARGE = "ChangeTooLarge"
    LINK_OUTSIDE = "LinkOutside"
    NESTED_REPOSITORY = "NestedRepository"
    ODD_NAME = "OddName"
    SPECIAL_FILE = "SpecialFile"
    UNREADABLE_FILE = "UnreadableFile"
    SECRET_IN_CHANGE = "SecretInChange"  # noqa: S105 - a reason code, not a secret
    CHECK_FAILED = "CheckFailed"


class Meaning(NamedTuple):
    """What a code means, and what a person can do about it."""

    text: str
    advice: str


_NONE = "nothing to do"
_AGAIN = "toban tries again at the next tick"
_RELABEL = "take `agent:blocked` off and put `agent:ready` on"
_WORKER = "the worker gets the message and mends it, within the budget"

MEANINGS: dict[Reason, Meaning] = {
    Reason.READY_LABEL: Meaning("a person with permission put `agent:ready` on", _NONE),
    Reason.WORK_DUE: Meaning("the worker has not answered this text yet", _NONE),
    Reason.ATTEMPT_FAILED: Meaning("the last run gave no complete answer; one more is due", _NONE),
    Reason.DELIVERY_REFUSED: Meaning("the change was refused; the worker gets the message", _NONE),
    Reason.CHANGE_MADE: Meaning("the worker has answered; its change is imported", _NONE),
    Reason.CHANGE_VALIDATED: Meaning("the validated commit is pushed", _NONE),
    Reason.HEAD_PUSHED: Meaning("the pushed head has no pull request yet", _NONE),
    Reason.LABEL_BEHIND: Meaning("the label does not show where the work stands", _NONE),
    Reason.HEAD_UNREVIEWED: Meaning("no verdict of ours stands on this base and head", _NONE),
    Reason.VERDICT_GIVEN: Meaning("the reviewer's verdict is stored on the pull request", _NONE),
    Reason.REWORK_ASKED: Meaning("the reviewer asked for rework and the budget lasts", _NONE),
    Reason.APPROVED: Meaning("the reviewer approved exactly this base and head", _NONE),
    Reason.SOURCE_MISSING: Meaning("the local copy lacks the base or the branch", _NONE),
    Reason.WORKTREE_MISSING: Meaning("the item has no worktree at the right commit", _NONE),
    Reason.PREPARE_DUE: Meaning("the `prepare` commands have not run in this worktree", _NONE),
    Reason.FINISHED: Meaning("the work is over and its worktree is clean and pushed", _NONE),
    Reason.WAITS_FOR_TURN: Meaning("another item goes first", _NONE),
    Reason.WAITS_FOR_HUMAN: Meaning(
        "approved; a human decides", "merge the pull request, or put `agent:ready` on alone"
    ),
    Reason.BLOCKED: Meaning(
        "`agent:blocked` stands on the issue", "read toban's comment there, then " + _RELABEL
    ),
    Reason.DONE: Meaning("merged or closed", _NONE),
    Reason.ISSUE_CLOSED: Meaning(
        "the issue was closed while its pull request is open", "merge or close the pull request"
    ),
    Reason.LABEL_REMOVED: Meaning(
        "somebody took toban's label off; the work is kept", "put `agent:ready` on to go on"
    ),
    Reason.LABEL_BY_HAND: Meaning(
        "`human:review` was put on by hand", "put `agent:ready` on alone to start toban"
    ),
    Reason.WORKTREE_KEPT: Meaning(
        "the work is over, but its worktree is not clean and pushed",
        "look at the worktree and remove it by hand",
    ),
    Reason.REPOSITORY_ARCHIVED: Meaning("the repository is archived", "unarchive it"),
    Reason.RATE_LIMITED: Meaning("GitHub asked for a pause", _AGAIN + " after it"),
    Reason.USAGE_LIMIT: Meaning("the model's usage limit is reached", "wait for its reset"),
    Reason.RUNS_SPENT: Meaning("policy.max_runs_per_day is reached", "wait, or raise it"),
    Reason.TOKENS_SPENT: Meaning("policy.max_tokens_per_day is reached", "wait, or raise it"),
    Reason.MEMORY_LOW: Meaning("free memory is below host.min_free_memory_percent", _AGAIN),
    Reason.DISK_LOW: Meaning("free disk is below host.min_free_disk_gb", "free some space"),
    Reason.HOST_UNSEEN: Meaning("memory or disk could not be measured", _AGAIN),
    Reason.FORGE_UNSEEN: Meaning("GitHub could not be read; that says nothing", _AGAIN),
    Reason.FORGE_BEHIND: Meaning("GitHub does not show the newest state everywhere yet", _AGAIN),
    Reason.REPOSITORY_MOVED: Meaning(
        "the repository has another name now", "name it in the configuration"
    ),
    Reason.REPOSITORY_NOT_FOUND: Meaning(
        "the repository is not there for this token", "check its name and the token's access"
    ),
    Reason.ISSUE_NOT_FOUND: Meaning("the issue cannot be seen any more", "check whether it moved"),
    Reason.COMMIT_UNKNOWN: Meaning("GitHub does not know a commit or branch", _AGAIN),
    Reason.TOKEN_REFUSED: Meaning("GitHub refused the token", "give toban a valid token"),
    Reason.ACCESS_DENIED: Meaning("the token may not do this", "widen the token's permissions"),
    Reason.BASE_BRANCH_MISSING: Meaning("the base branch does not exist", "push it, or set `base`"),
    Reason.GIT_UNSEEN: Meaning("git could not read the remote or the disk", _AGAIN),
    Reason.SANDBOX_NOT_ENFORCED: Meaning(
        "Codex's sandbox is not enforced, so nothing runs", "run `toban doctor`"
    ),
    Reason.MODEL_UNREACHABLE: Meaning("the model cannot be reached", _AGAIN),
    Reason.AGENT_NOT_STARTED: Meaning("Codex could not be started", "run `toban doctor`"),
    Reason.STOPPED: Meaning("toban was told to stop; the work is kept", _AGAIN),
    Reason.CHECK_FAILS_ON_BASE: Meaning(
        "a `verify` command fails on the untouched base too", "mend the base branch or the command"
    ),
    Reason.PREPARE_FAILED: Meaning("a `prepare` command failed", "mend the command or the base"),
    Reason.ACTION_FAILED: Meaning("the last action failed; nothing was guessed", _AGAIN),
    Reason.NOT_PERMITTED: Meaning(
        "whoever put `agent:ready` on may not start toban",
        "somebody with enough permission puts it on",
    ),
    Reason.TEXT_CHANGED: Meaning(
        "title or body changed after `agent:ready`", "read the text, then " + _RELABEL
    ),
    Reason.NO_CLAIM: Meaning("a label without a claim of toban's authorises nothing", _RELABEL),
    Reason.BRANCH_NOT_OURS: Meaning(
        "the branch holds commits that toban did not push", "rename or delete it, then " + _RELABEL
    ),
    Reason.BRANCH_DIVERGED: Meaning(
        "the branch on GitHub is not a descendant of what toban pushed",
        "put the branch right, then " + _RELABEL,
    ),
    Reason.FOREIGN_COMMITS: Meaning(
        "somebody else pushed to the branch; toban does not write on top",
        _RELABEL + " to hand it back",
    ),
    Reason.FOREIGN_PULL_REQUEST: Meaning(
        "somebody else opened a pull request from this branch", "close it, then " + _RELABEL
    ),
    Reason.PULL_REQUEST_CLOSED: Meaning("the pull request was closed unmerged", _RELABEL),
    Reason.ALREADY_MERGED: Meaning("a pull request for this issue was merged", "open a new issue"),
    Reason.WORKTREE_TAMPERED: Meaning(
        "the worktree is not what toban left", "look at it, move it away, then " + _RELABEL
    ),
    Reason.WORKTREE_DIRTY: Meaning(
        "the worktree holds work that is not pushed", "save it, remove it, then " + _RELABEL
    ),
    Reason.BRANCH_UNPUSHED: Meaning(
        "the local branch holds a commit that is not on GitHub",
        "move the worktree away, rename the local branch as the message says, then " + _RELABEL,
    ),
    Reason.WORKER_FAILED: Meaning(
        "the worker gave no complete answer within the budget", "read the run, then " + _RELABEL
    ),
    Reason.REVIEW_FAILED: Meaning(
        "the reviewer gave no readable verdict within the budget", "review by hand, or " + _RELABEL
    ),
    Reason.BUDGET_SPENT: Meaning(
        "the rework budget is spent and findings are open", "decide the findings, then " + _RELABEL
    ),
    Reason.DELIVERY_BUDGET_SPENT: Meaning(
        "the worker's change was refused too often", "read the message, then " + _RELABEL
    ),
    Reason.PUSH_REJECTED: Meaning("GitHub rejected the push", "read its message"),
    Reason.DIFF_TOO_LARGE: Meaning("a cut diff can never be approved", "review by hand"),
    Reason.HOST_SECRET_IN_CHANGE: Meaning(
        "the change holds a secret of this host", "find out how; change that secret"
    ),
    Reason.EMPTY_CHANGE: Meaning("the worker changed nothing", _WORKER),
    Reason.WHITESPACE_ERROR: Meaning("added lines fail the whitespace check", _WORKER),
    Reason.PROTECTED_PATH: Meaning("the change touches policy.protected_paths", _WORKER),
    Reason.TOO_MANY_FILES: Meaning("more files than policy.max_changed_files", _WORKER),
    Reason.FILE_TOO_LARGE: Meaning("a file is larger than policy.max_file_bytes", _WORKER),
    Reason.CHANGE_TOO_LARGE: Meaning("the change is larger than policy.max_total_bytes", _WORKER),
    Reason.LINK_OUTSIDE: Meaning("a symbolic link leaves the tree", _WORKER),
    Reason.NESTED_REPOSITORY: Meaning("a repository lies inside the tree", _WORKER),
    Reason.ODD_NAME: Meaning("a file name that cannot be delivered safely", _WORKER),
    Reason.SPECIAL_FILE: Meaning("a FIFO, socket or device lies in the tree", _WORKER),
    Reason.UNREADABLE_FILE: Meaning("a file or folder cannot be read", _WORKER),
    Reason.SECRET_IN_CHANGE: Meaning("an added line looks like a secret", _WORKER),
    Reason.CHECK_FAILED: Meaning("a `verify` command failed", _WORKER),
}
