"""Pull requests and commits in words: title, body, commit message.

Called by `controller.runtime.apply`. `Closes #N` and the trailer are written here alone; whatever
comes from the issue or the worker passes `controller.render.markdown`. Both the message and the
text depend on their arguments only: a repeated import makes the same commit.
"""

from controller.domain.ids import IssueId, Sha
from controller.domain.repository import Change
from controller.domain.runs import Task
from controller.ports.forge import PullText
from controller.render.comments import banner, count, paths
from controller.render.markdown import code, commit_line, commit_text, quoted
from controller.workloads.issues.lineage import trailer

MAX_TITLE = 200
MAX_SUBJECT = 72
_ANSWER = 20_000
_ANSWER_IN_COMMIT = 2_000


def pull_text(
    item: IssueId,
    *,
    title: str,
    base: Sha,
    base_branch: str,
    change: Change | None,
    answer: str,
    hidden_text_removed: bool = False,
) -> PullText:
    """Title and body of the item's pull request.

    `title` is the issue's, `answer` the worker's final message (both foreign). `change` is None
    when the pushed commit was made on a machine that is gone. `hidden_text_removed`: the worker did
    not get all of the issue's text (see `controller.workloads.issues.prompts.visible`).
    """
    parts = [
        banner(change.sensitive) if change else "",
        f"Closes #{item.number}",
        _made(item, base=base, base_branch=base_branch, change=change),
        _left_out(change),
        _HIDDEN if hidden_text_removed else "",
        f"The worker's own words, unchecked:\n\n{quoted(answer, _ANSWER)}"
        if answer.strip()
        else "",
        "---",
        _FOOTER,
    ]
    return PullText(
        title=commit_line(title, MAX_TITLE) or f"Issue {item.number}",
        body="\n\n".join(part for part in parts if part),
    )


_HIDDEN = (
    "Parts of the issue were not given to the worker: text that a reader does not see (HTML "
    "comments, invisible characters) or that exceeds 20,000 characters."
)
_FOOTER = (
    "Made by toban and reviewed by a second agent, whose verdict stands in a comment. "
    "A person reads it and merges; toban never does."
)


def _made(item: IssueId, *, base: Sha, base_branch: str, change: Change | None) -> str:
    size = (
        f": {count(change.files, 'file')}, +{change.added_lines} −{change.removed_lines} lines"
        if change
        else ""
    )
    return f"Branch `{item.branch}` on {code(base_branch, 100)} at `{base[:12]}`{size}."


def _left_out(change: Change | None) -> str:
    if change is None or not change.ignored_new:
        return ""
    return f"New files that `.gitignore` keeps out of the commit: {paths(change.ignored_new)}."


def commit_message(item: IssueId, *, title: str, task: Task, run: int, answer: str = "") -> str:
    """Message of the commit that a run's work becomes.

    Subject of at most 72 characters, the worker's words, and as the last line the trailer by which
    `controller.workloads.issues.lineage` counts rework rounds. No foreign line can look like it.
    """
    prefix = f"Rework {task.round}: " if task.phase == "rework" else ""
    subject = commit_line(title, MAX_SUBJECT - len(prefix)) or f"Issue {item.number}"
    parts = [
        prefix + subject,
        commit_text(answer, _ANSWER_IN_COMMIT),
        # No "#N" here: each push would leave a reference in the issue's timeline.
        f"Run {run} for issue {item.number}.",
        trailer(item, task),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
