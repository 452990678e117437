"""Collect what goes into a prompt, and write it: issue, permitted comments, base instructions.

Called by `controller.runtime.apply_agent` right before a run. Reads the forge and the trusted
repository; comments count only by people with write access and from before the label.
"""

import secrets
from pathlib import Path
from typing import NamedTuple

from controller.domain.actions import StartAgent
from controller.domain.forge import RANK, Comment, Issue
from controller.domain.values import Seen, Unseen
from controller.runtime.context import Context
from controller.workloads.issues.labels import Epoch, replay
from controller.workloads.issues.markers import VerdictRecord, is_record
from controller.workloads.issues.prompts import PromptValues, Remark, build, fits_inline
from controller.workloads.issues.verdict import Verdict


class Material(NamedTuple):
    """What was collected for one prompt."""

    issue: Issue
    comments: tuple[Remark, ...]
    instructions: str
    verdict: Verdict | None
    """Whose findings are open, None when there are none."""
    diff: str


def gather(action: StartAgent, c: Context, *, diff: str) -> Material | Unseen:
    """All parts of the prompt, or the source that could not be seen."""
    issue, events = c.facts.issue, c.facts.events
    if isinstance(issue, Unseen):
        return issue
    if isinstance(events, Unseen):
        return events
    comments = _remarks(c, replay(events).epoch)
    if isinstance(comments, Unseen):
        return comments
    instructions = c.w.repository.read_file(c.item.repository, sha=action.base, path="AGENTS.md")
    return Material(issue, comments, instructions or "", _open_verdict(action, c), diff)


def _remarks(c: Context, epoch: Epoch | None) -> Seen[tuple[Remark, ...]]:
    """Comments on issue and pull request that a permitted person wrote before the label."""
    numbers = [c.item.number]
    if not isinstance(c.facts.pulls, Unseen):
        numbers += [pull.number for pull in c.facts.pulls if pull.is_open]
    found: list[Comment] = []
    for number in numbers:
        comments = c.r.items.comments(c.item.repository, number)
        if isinstance(comments, Unseen):
            return comments
        found += [
            each
            for each in comments
            if epoch is not None and each.updated_at < epoch.at and not is_record(each.body)
        ]
    return _permitted(c, sorted(found, key=lambda each: (each.created_at, each.id)))


def _permitted(c: Context, comments: list[Comment]) -> Seen[tuple[Remark, ...]]:
    """Those by people with write access. Who cannot be judged now makes the whole unseen."""
    may: dict[str, bool] = {}
    kept: list[Remark] = []
    for each in comments:
        if each.author is None or each.author.is_bot:
            continue
        login = each.author.login
        if login not in may:
            permission = c.r.items.permission(c.item.repository, login)
            if isinstance(permission, Unseen):
                return permission
            may[login] = RANK[permission] >= RANK["write"]
        if may[login]:
            kept.append(Remark(author=login, at=each.created_at, text=each.body))
    return tuple(kept)


def _open_verdict(action: StartAgent, c: Context) -> Verdict | None:
    """The last verdict of ours, if it asked for rework; a new epoch's worker gets it too."""
    if action.task.phase == "review" or c.facts.pull is None:
        return None
    if isinstance(c.facts.pull.records, Unseen):
        return None
    verdicts = [
        each.record
        for each in c.facts.pull.records
        if each.intact and isinstance(each.record, VerdictRecord)
    ]
    last = verdicts[-1].verdict if verdicts else None
    return last if last is not None and not last.approves else None


def write_prompt(action: StartAgent, c: Context, m: Material, directory: Path) -> str:
    """The whole prompt. A diff that is too long for it is written beside it for the reviewer."""
    inline = fits_inline(m.diff)
    place = directory / "scratch" / "change.diff"
    if not inline:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        place.write_text(m.diff, encoding="utf-8", errors="replace")
    values = PromptValues(
        item=c.item,
        nonce=secrets.token_hex(16),
        title=m.issue.title,
        body=m.issue.body,
        comments=m.comments,
        base_branch=c.facts.base_branch,
        base=action.base,
        head=action.head,
        instructions=m.instructions,
        feedback=action.feedback,
        summary=m.verdict.summary if m.verdict else "",
        findings=m.verdict.findings if m.verdict else (),
        protected=c.w.settings.limits.protected_paths,
        verify=c.r.policy.of(c.item.repository.key).verify,
        diff=m.diff if inline else "",
        diff_file="" if inline else str(place),
    )
    return build(_template(action, c), values=values)


def _template(action: StartAgent, c: Context) -> str:
    templates = c.w.settings.templates[action.task.phase]
    return templates[action.task.round - 1 if action.task.phase == "rework" else 0]
