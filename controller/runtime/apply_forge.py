"""Acts on GitHub: records as comments, labels, pull request, hand-over, and the one push.

Called by `controller.runtime.apply`. The record is posted before the label moves, so that a crash
between the two leaves something from which the next look goes on.
"""

from controller.domain.actions import (
    Block,
    Claim,
    Explain,
    HandOver,
    OpenPullRequest,
    PublishCommit,
    RecordVerdict,
    ShowPhase,
)
from controller.domain.outcome import Outcome
from controller.domain.reasons import Reason
from controller.domain.repository import Refusal
from controller.domain.runs import Run
from controller.domain.values import Unseen
from controller.ports.agents import Confinement
from controller.render import comments
from controller.render.pull_text import pull_text
from controller.runtime import places
from controller.runtime.context import Context, applied, deferred, refused
from controller.workloads.issues import markers
from controller.workloads.issues.labels import BLOCKED, HUMAN, ours, replay
from controller.workloads.issues.verdict import parse_verdict
from controller.workloads.issues.visible import visible


def claim(action: Claim, c: Context) -> Outcome:
    """Post the claim, if a worker could run here at all; the label follows as an act of its own."""
    place = places.state(c.w.settings.root, c.item) / "probe"
    (place / "workspace").mkdir(parents=True, exist_ok=True, mode=0o700)
    broken = c.w.agents.probe(
        Confinement(
            root=c.w.settings.root,
            workspace=place / "workspace",
            git_data=None,
            scratch=place / "scratch",
            secrets=c.w.settings.secrets,
            writable=True,
        )
    )
    if broken is not None:
        return deferred(action, broken)
    record = markers.ClaimRecord(
        issue=c.item.key, epoch=action.epoch, digest=action.digest, head=action.head
    )
    events = c.facts.events
    epoch = None if isinstance(events, Unseen) else replay(events).epoch
    actor = epoch.actor.login if epoch and epoch.actor else "somebody"
    c.post(c.item.number, body=comments.claim(record, actor=actor))
    return applied(action)


def block(action: Block, c: Context) -> Outcome:
    """Say once why toban stops, then show it."""
    record = markers.BlockRecord(issue=c.item.key, epoch=action.epoch, reason=action.reason)
    body = comments.block(
        record,
        message=action.message,
        details=action.details,
        worktree=f"worktrees/{c.item.folder}" if _has_worktree(c) else None,
    )
    c.post(c.item.number, body=body)
    show(c, BLOCKED)
    return applied(action)


def _has_worktree(c: Context) -> bool:
    local = c.facts.local
    return not isinstance(local, Unseen) and local.worktree.state != "absent"


def show(c: Context, label: str) -> None:
    """Add one label of ours, then take the others off."""
    issue = c.facts.issue
    standing = () if isinstance(issue, Unseen) else ours(issue.labels)
    others = tuple(each for each in standing if each != label)
    c.w.forge.set_label(c.item, label=label, remove=others)


def explain(action: Explain, c: Context) -> Outcome:
    """Say once why nothing more happens."""
    record = markers.ExplainRecord(issue=c.item.key, epoch=action.epoch, reason=action.reason)
    c.post(action.on, body=comments.explain(record))
    return applied(action)


def show_phase(action: ShowPhase, c: Context) -> Outcome:
    """Make the label show where the work stands."""
    show(c, action.label)
    return applied(action)


def publish_commit(action: PublishCommit, c: Context) -> Outcome:
    """Announce the commit, advance the local branch, push it."""
    change = action.change
    record = markers.PushRecord(
        issue=c.item.key,
        epoch=action.epoch,
        task=action.task,
        run=action.run,
        sha=change.sha,
        parent=change.parent,
        files=change.files,
        tokens=action.tokens,
    )
    c.post(c.item.number, body=comments.push(record, change=change))
    c.w.repository.advance(c.item, sha=change.sha, parent=change.parent)
    result = c.w.repository.push(c.item, sha=change.sha, expected=action.expected)
    match result:
        case Refusal():
            return refused(action, Reason(result.reason), result.message)
        case Unseen():
            return deferred(action, result)
        case None:
            return applied(action)


def open_pull_request(action: OpenPullRequest, c: Context) -> Outcome:
    """Open the pull request, or adopt our own open one."""
    issue = c.facts.issue
    hidden = not isinstance(issue, Unseen) and any(
        visible(text)[1] for text in (issue.title, issue.body)
    )
    text = pull_text(
        c.item,
        title=c.title(),
        base_branch=action.base_branch,
        base=action.base,
        change=action.change,
        answer=_answer(c.facts.runs, action.head),
        hidden_text_removed=hidden,
    )
    pull = c.w.forge.open_pull(c.item, base=action.base_branch, text=text)
    return applied(action, pull.url)


def _answer(runs: tuple[Run, ...], head: str) -> str:
    """What the worker said about the commit that is proposed, hostile text."""
    found = [
        run.answer
        for run in runs
        if run.delivery and run.delivery.change and run.delivery.change.sha == head
    ]
    return found[-1] if found else ""


def record_verdict(action: RecordVerdict, c: Context) -> Outcome:
    """Store the verdict on the pull request, bound to base and head, signed if there is a key."""
    run = next(run for run in c.facts.runs if run.seq == action.run)
    verdict = comments.storable(parse_verdict(run.answer))
    record = markers.VerdictRecord(
        issue=c.item.key,
        epoch=action.epoch,
        pull=action.pull,
        base=action.base,
        base_branch=action.base_branch,
        head=action.head,
        run=action.run,
        verdict=verdict,
    )
    signed = markers.sign(record, c.r.signing_keys)
    c.post(action.pull, body=comments.verdict(signed))
    return applied(action, verdict.verdict)


def hand_over(action: HandOver, c: Context) -> Outcome:
    """Comment, assignee, then `human:review`: the label comes last, so that it means all of it."""
    login = c.r.policy.assignee or c.facts.me.login
    assigned = c.w.forge.assign(c.item, login=login)
    record = markers.HandOverRecord(
        issue=c.item.key, epoch=action.epoch, pull=action.pull, base=action.base, head=action.head
    )
    mergeable = c.r.pulls.mergeable(c.item.repository, action.pull)
    body = comments.hand_over(
        record,
        assignee=login if assigned else None,
        wanted=login,
        mergeable=None if isinstance(mergeable, Unseen) else mergeable,
        sensitive=_sensitive(c),
    )
    c.post(c.item.number, body=body)
    show(c, HUMAN)
    return applied(action, login if assigned else f"{login} cannot be assigned")


def _sensitive(c: Context) -> tuple[str, ...]:
    """Sensitive paths of every commit that was made here."""
    found = {
        path
        for run in c.facts.runs
        if run.delivery and run.delivery.change
        for path in run.delivery.change.sensitive
    }
    return tuple(sorted(found))
