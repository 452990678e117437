"""Acts on this disk: fetch, worktree, prepare, import with its checks. GitHub is not written to.

Called by `controller.runtime.apply`.
"""

from controller.domain.actions import (
    CreateWorktree,
    FetchSource,
    ImportChange,
    PrepareWorktree,
    RemoveWorktree,
)
from controller.domain.ids import Sha
from controller.domain.outcome import Outcome
from controller.domain.reasons import Reason
from controller.domain.repository import CommitText, Refusal
from controller.domain.runs import Delivery, Run
from controller.domain.values import Unseen
from controller.errors import UnpushedError
from controller.render.pull_text import commit_message
from controller.runtime import places
from controller.runtime.commands import CommandFailure, confine, run_commands
from controller.runtime.context import Context, applied, deferred, failed, refused
from controller.runtime.prepare import add_prepared, checkout_for_verify, prepare


def fetch_source(action: FetchSource, c: Context) -> Outcome:
    """Fetch the base branch and the item's branch into the trusted repository."""
    unseen = c.w.repository.fetch(c.item, base=action.base_branch)
    return applied(action) if unseen is None else deferred(action, unseen)


def create_worktree(action: CreateWorktree, c: Context) -> Outcome:
    """Check out the item's branch; `prepare` is due again."""
    c.w.records.set_prepared(c.item, done=False)
    try:
        tree = c.w.repository.create_worktree(c.item, at=action.at, pushed=action.pushed)
    except UnpushedError as error:
        return refused(action, Reason.BRANCH_UNPUSHED, str(error))
    if tree.state != "ours" or tree.head != action.at:
        return refused(action, Reason.WORKTREE_TAMPERED, tree.detail or "it stands elsewhere")
    return applied(action)


def remove_worktree(action: RemoveWorktree, c: Context) -> Outcome:
    """Remove the clean worktree."""
    c.w.repository.remove_worktree(c.item)
    return applied(action)


def prepare_worktree(action: PrepareWorktree, c: Context) -> Outcome:
    """Run the `prepare` commands in the fresh worktree, and where `verify` will run."""
    local = c.facts.local
    at = None if isinstance(local, Unseen) else local.worktree.head
    if at is None:
        return failed(action, Reason.PREPARE_FAILED, "the worktree is not there")
    problem = prepare(c, at=at)
    if isinstance(problem, Unseen):
        return deferred(action, problem)
    if problem is not None:
        return failed(action, Reason.PREPARE_FAILED, problem.sentence())
    c.w.records.set_prepared(c.item, done=True)
    return applied(action)


def import_change(action: ImportChange, c: Context) -> Outcome:
    """Import the worker's tree as one commit, run `verify` on exactly it, and record the result.

    Nothing is pushed and no branch moves; a refusal is recorded too, and rules decide what follows.
    """
    run = next(run for run in c.facts.runs if run.seq == action.run)
    c.w.agents.end_stragglers(c.r.records.run_directory(c.item, run.seq))
    result = c.w.repository.import_change(
        c.item,
        parent=action.parent,
        base=action.base,
        limits=c.w.settings.limits,
        text=_commit_text(action, run, c),
    )
    refusal = result if isinstance(result, Refusal) else verify(c, sha=result.sha, base=action.base)
    if isinstance(refusal, Unseen):
        return deferred(action, refusal)
    delivery = (
        Delivery(refusal=refusal, base=_base_tip(c))
        if refusal is not None
        else Delivery(change=None if isinstance(result, Refusal) else result)
    )
    c.w.records.deliver(c.item, seq=run.seq, delivery=delivery)
    if refusal is not None:
        return applied(action, f"{refusal.reason}: {refusal.message}")
    return applied(action)


def _base_tip(c: Context) -> str:
    tip = c.facts.base_tip
    return "" if isinstance(tip, Unseen) or tip is None else tip


def _commit_text(action: ImportChange, run: Run, c: Context) -> CommitText:
    """Equal for a repeated import of the same run, so that the commit is the same one."""
    ended = run.ended_at or run.started_at
    return CommitText(
        author_name=c.w.settings.author_name,
        author_email=c.w.settings.author_email,
        message=commit_message(
            c.item, title=c.title(), task=action.task, run=run.seq, answer=run.answer
        ),
        at=int(ended.timestamp()),
    )


def verify(c: Context, *, sha: Sha, base: Sha) -> Refusal | Unseen | None:
    """Run the `verify` commands on exactly `sha`; on failure also on the untouched base.

    What fails on the base too is a hold and not the worker's fault (decisions 11).
    """
    commands = c.r.policy.of(c.item.repository.key).verify
    if not commands:
        return None
    problem = _verify_at(c, sha=sha)
    if problem is None or isinstance(problem, Unseen):
        return problem
    on_base = _verify_at(c, sha=base)
    if isinstance(on_base, Unseen):
        return on_base
    if on_base is not None and on_base.command == problem.command:
        return Refusal(kind="hold", reason=Reason.CHECK_FAILS_ON_BASE, message=on_base.sentence())
    return Refusal(kind="fixable", reason=Reason.CHECK_FAILED, message=problem.sentence())


def _verify_at(c: Context, *, sha: Sha) -> CommandFailure | Unseen | None:
    """Run the commands in a scratch checkout of `sha` plus what `prepare` made."""
    root = c.w.settings.root
    place = checkout_for_verify(c, sha=sha)
    add_prepared(c, place)
    directory = places.state(root, c.item) / "verify"
    return run_commands(
        c,
        c.r.policy.of(c.item.repository.key).verify,
        confinement=confine(
            c,
            workspace=place,
            directory=directory,
            git_data=places.bare(root, c.item.repository),
            network=False,
        ),
        directory=directory,
    )
