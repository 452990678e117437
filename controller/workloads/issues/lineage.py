"""Whose commits stand on the branch, and how many rework rounds they show. No counter anywhere.

Pure; called by `controller.workloads.issues.state`. Evidence is what we announced on GitHub before
each push, the commits' trailers, our verdicts and the intents on disk (decisions 2, 4, 7).
"""

import re
from collections.abc import Iterable
from typing import Literal

from controller.domain.forge import Commit, Comparison
from controller.domain.ids import IssueId, Sha
from controller.domain.runs import Run, Task
from controller.workloads.issues.markers import PushRecord, Stored, VerdictRecord

type Tip = Literal["absent", "base", "ours", "extended", "foreign"]
"""The remote branch: not there; without commits of its own; as we pushed it; that plus commits of
others; anything else."""

_TRAILER = re.compile(
    r"^Toban-Task: (?P<issue>\S+) (?P<phase>\w+) (?P<epoch>[0-9]{1,18}) (?P<round>[0-9]{1,4})$"
)


def trailer(item: IssueId, task: Task) -> str:
    """The line of a commit message that says which task of which epoch made it."""
    return f"Toban-Task: {item.key} {task.phase} {task.epoch} {task.round}"


def judge_tip(
    tip: Sha | None,
    *,
    own: tuple[PushRecord, ...],
    to_own: Comparison | None,
    to_base: Comparison | None,
) -> Tip:
    """Whose the remote branch is (decisions 7). `own` are our intact announcements, all epochs."""
    if tip is None:
        return "absent"
    if any(push.sha == tip for push in own):
        return "ours"
    if to_base is not None and to_base.ahead == 0:
        return "base"
    if own and to_own is not None and to_own.is_ancestor:
        return "extended"
    return "foreign"


def pushes(records: Iterable[Stored]) -> tuple[PushRecord, ...]:
    """Our intact announcements, oldest first."""
    return tuple(
        each.record for each in records if each.intact and isinstance(each.record, PushRecord)
    )


def delivered(
    own: tuple[PushRecord, ...], *, anchor: Sha | None, epoch: int
) -> tuple[PushRecord, ...]:
    """This epoch's announced commits that the branch really holds, oldest first.

    `anchor` is the newest commit of ours on the branch; parents are followed through our records.
    """
    by_sha = {push.sha: push for push in own}
    found: list[PushRecord] = []
    while anchor in by_sha and len(found) < len(by_sha):
        push = by_sha[anchor]
        if push.epoch == epoch:
            found.append(push)
        anchor = push.parent
    return tuple(reversed(found))


def rework_rounds(
    item: IssueId,
    *,
    epoch: int,
    head: Sha | None,
    commits: tuple[Commit, ...],
    verdicts: Iterable[VerdictRecord],
    runs: Iterable[Run],
    own: tuple[PushRecord, ...],
) -> int:
    """Finished rework rounds of this epoch: the largest of three kinds of evidence (decisions 4).

    `verdicts` include those that fail a check: they cannot act, but they count. A rework intent on
    the present `head` is the round under way and is not counted.
    """
    marked = [_round(item, commit, epoch) for commit in commits]
    by_commit = sum(1 for found in marked if found)
    ours = {push.sha for push in own}
    positions = {commit.sha: index for index, commit in enumerate(commits)}
    answered = {
        verdict.head
        for verdict in verdicts
        if verdict.epoch == epoch
        and not verdict.verdict.approves
        and verdict.head in positions
        and any(
            commit.sha in ours or found is not None
            for commit, found in list(zip(commits, marked, strict=True))[
                positions[verdict.head] + 1 :
            ]
        )
    }
    intents = {
        run.task.on
        for run in runs
        if run.task.phase == "rework" and run.task.epoch == epoch and run.task.on != head
    }
    return max(by_commit, len(answered), len(intents))


def _round(item: IssueId, commit: Commit, epoch: int) -> int | None:
    """Rework round by the trailer: 0 for another phase, None for no commit of this epoch."""
    for line in commit.message.splitlines():
        match = _TRAILER.match(line.strip())
        if match and match["issue"] == item.key and int(match["epoch"]) == epoch:
            return int(match["round"]) if match["phase"] == "rework" else 0
    return None
