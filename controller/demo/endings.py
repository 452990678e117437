"""Whether the four stories really ended as they had to, read from the stand-in and nothing else.

Called by `controller.demo.main` when toban has nothing left to do. Looks at labels, pull requests,
commits, verdicts, pushes and at what the model was told; never at what toban printed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from controller.demo.stage import TOKENS, Stage
from controller.demo.standin.values import Issue
from controller.demo.story import BOT, OWNER, REPOSITORY, Story
from controller.workloads.issues.markers import BlockRecord, Record, VerdictRecord, decode

MAIN = "refs/heads/main"


class Ending(NamedTuple):
    """What became of one story, or of what holds for all of them."""

    what: str
    wrong: tuple[str, ...]
    """What differs, empty when all is as it had to be."""


def endings(stage: Stage, told: Sequence[Story]) -> tuple[Ending, ...]:
    """One for each story, and one for the promises that no story may break."""
    return (
        *(Ending(_outcome(stage, story), tuple(_wrong(stage, story))) for story in told),
        Ending(
            "nothing merged, nothing forced, main untouched, no token shown to the model",
            tuple(_broken(stage)),
        ),
    )


def pull_of(stage: Stage, number: int) -> Issue | None:
    """The pull request for an issue."""
    branch = _branch(number)
    pulls = stage.world.pulls(REPOSITORY)
    return next((it for it in pulls if it.pull is not None and it.pull.head == branch), None)


def records(stage: Stage, number: int) -> list[Record]:
    """Records that toban wrote on an issue or pull request, oldest first."""
    said = [it.body for it in stage.world.comments(REPOSITORY, number) if it.user == BOT]
    return [record for record in map(decode, said) if record is not None]


def _branch(number: int) -> str:
    return f"agent/issue-{number}"


def _commits(stage: Stage, number: int) -> list[str]:
    """Commits that arrived on the item's branch, by git and in their order."""
    ref = f"refs/heads/{_branch(number)}"
    pushes = stage.world.pushes(REPOSITORY)
    return [push.new or "" for push in pushes if push.ref == ref and push.via == "git"]


def _verdicts(stage: Stage, pull: Issue | None) -> list[VerdictRecord]:
    if pull is None:
        return []
    return [it for it in records(stage, pull.number) if isinstance(it, VerdictRecord)]


def _outcome(stage: Stage, story: Story) -> str:
    """`#1 human:review: PR #5, 1 commit, verdicts approve`."""
    labels = ", ".join(stage.world.labels(REPOSITORY, story.number))
    pull = pull_of(stage, story.number)
    if pull is None:
        return f"#{story.number} {labels}: no branch, no pull request, Codex never started"
    verdicts = ", ".join(it.verdict.verdict for it in _verdicts(stage, pull))
    count = len(_commits(stage, story.number))
    commits = f"{count} commit{'' if count == 1 else 's'}"
    return f"#{story.number} {labels}: pull request #{pull.number}, {commits}, review: {verdicts}"


def _wrong(stage: Stage, story: Story) -> Iterator[str]:
    labels = stage.world.labels(REPOSITORY, story.number)
    if labels != list(story.labels):
        yield f"its labels are {labels} instead of {list(story.labels)}"
    blocks = [it.reason for it in records(stage, story.number) if isinstance(it, BlockRecord)]
    if blocks != ([story.blocked] if story.blocked else []):
        yield f"toban stopped with {[str(it) for it in blocks]} instead of {story.blocked}"
    if story.verdicts:
        yield from _wrong_pull(stage, story)
    else:
        yield from _not_refused(stage, story)


def _wrong_pull(stage: Stage, story: Story) -> Iterator[str]:
    issue = pull_of(stage, story.number)
    if issue is None or issue.pull is None:
        yield "it has no pull request"
        return
    if issue.user != BOT or issue.state != "open":
        yield f"pull request #{issue.number} is {issue.state}, by {issue.user}"
    commits, verdicts = _commits(stage, story.number), _verdicts(stage, issue)
    said = tuple(it.verdict.verdict for it in verdicts)
    if said != story.verdicts:
        yield f"the verdicts are {list(said)} instead of {list(story.verdicts)}"
    if [it.head for it in verdicts] != commits or commits[-1:] != [issue.pull.head_sha]:
        yield "commits, verdicts and the head of the pull request do not belong together"
    assigned = stage.world.issue(REPOSITORY, story.number).assignees
    if story.blocked is None and OWNER not in assigned:
        yield f"it is assigned to {assigned} instead of {OWNER}"


def _not_refused(stage: Stage, story: Story) -> Iterator[str]:
    if pull_of(stage, story.number) is not None:
        yield "it has a pull request"
    if stage.world.head(REPOSITORY, _branch(story.number)) is not None:
        yield f"the branch {_branch(story.number)} exists"
    if _told(stage, (story.title, story.edit or story.body)):
        yield "its text reached the model"


def _broken(stage: Stage) -> Iterator[str]:
    for push in stage.world.pushes(REPOSITORY):
        if push.via == "git" and not push.ref.startswith("refs/heads/agent/issue-"):
            yield f"{push.user} pushed to {push.ref}"
        if not push.fast_forward or push.new is None:
            yield f"{push.ref} was forced or deleted"
        if push.ref == MAIN and push.via != "control":
            yield "main has moved"
    for issue in stage.world.pulls(REPOSITORY):
        if issue.pull is not None and issue.pull.merged_at is not None:
            yield f"pull request #{issue.number} was merged"
    if _told(stage, TOKENS.values()):
        yield "a token reached the model"


def _told(stage: Stage, words: Iterable[str]) -> bool:
    """Whether any of these words stood in a prompt or in the output of a tool."""
    heard = [text for it in stage.model.requests for text in (it.prompt, *it.outputs)]
    return any(word in text for word in words for text in heard)
