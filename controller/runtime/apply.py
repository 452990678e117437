"""Carry out one action and say what became of it. Errors of the ports end here, never the tick.

Called by `controller.runtime.tick` with facts that were seen just before.
"""

from typing import assert_never

from controller.domain import actions as a
from controller.domain.outcome import Outcome
from controller.domain.reasons import Reason
from controller.errors import (
    AgentError,
    ForgeError,
    ForgeLimitedError,
    ForgeUnknownError,
    RepositoryError,
)
from controller.runtime import apply_agent, apply_disk, apply_forge
from controller.runtime.context import Context, failed


def apply(action: a.Action, c: Context) -> Outcome:
    """Do it. Whatever a port raises becomes an outcome of this action alone."""
    try:
        return _dispatch(action, c)
    except ForgeLimitedError as error:
        return Outcome(
            action=action,
            result="Deferred",
            reason=Reason.RATE_LIMITED,
            message=str(error),
            until=error.until,
        )
    except ForgeUnknownError as error:
        return Outcome(
            action=action, result="Deferred", reason=Reason.FORGE_UNSEEN, message=str(error)
        )
    except (ForgeError, RepositoryError, AgentError) as error:
        return failed(action, Reason.ACTION_FAILED, str(error))
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        return failed(action, Reason.ACTION_FAILED, f"{what}{error.strerror or error}")


def _dispatch(action: a.Action, c: Context) -> Outcome:  # noqa: C901, PLR0912 - one line per kind
    match action:
        case a.Claim():
            return apply_forge.claim(action, c)
        case a.Block():
            return apply_forge.block(action, c)
        case a.Explain():
            return apply_forge.explain(action, c)
        case a.FetchSource():
            return apply_disk.fetch_source(action, c)
        case a.CreateWorktree():
            return apply_disk.create_worktree(action, c)
        case a.PrepareWorktree():
            return apply_disk.prepare_worktree(action, c)
        case a.RemoveWorktree():
            return apply_disk.remove_worktree(action, c)
        case a.StartAgent():
            return apply_agent.start_agent(action, c)
        case a.ImportChange():
            return apply_disk.import_change(action, c)
        case a.PublishCommit():
            return apply_forge.publish_commit(action, c)
        case a.OpenPullRequest():
            return apply_forge.open_pull_request(action, c)
        case a.ShowPhase():
            return apply_forge.show_phase(action, c)
        case a.RecordVerdict():
            return apply_forge.record_verdict(action, c)
        case a.HandOver():
            return apply_forge.hand_over(action, c)
    assert_never(action)
