"""`toban plan`: one look, printed. Holds readers only, so that it cannot write anywhere.

Called by `controller.cli.app`. The file of `--save` is all that it ever makes.
"""

from pathlib import Path

from controller import bootstrap
from controller.cli import exits
from controller.cli.app import Only
from controller.cli.files import write_result
from controller.cli.screen import Screen, show_json
from controller.cli.session import asked_for, open_config, want_issues
from controller.domain.plan import Plan
from controller.render.plan_json import plan_document
from controller.render.plan_text import plan_lines
from controller.runtime.observe import Seen, observe
from controller.runtime.saved import Saved, dump


def plan(
    path: Path | None, *, only: Only | None, item: str | None, save: Path | None, as_json: bool
) -> int:
    """Run the command; returns the exit code."""
    workload, ref = asked_for(only, item)
    config = open_config(path)
    issue = want_issues(config, workload, ref)
    readers = bootstrap.issues(config, writes=False).readers
    seen = observe(readers, only=issue)
    if save is not None:
        saved = Saved(
            desired=seen.desired,
            observation=seen.observation,
            policy=readers.policy,
            plan=seen.plan,
        )
        write_result(save, dump(saved))
    if as_json:
        show_json(plan_document(seen.plan))
    else:
        Screen().show(plan_lines(seen.plan, titles(seen)))
    return code_of(seen.plan)


def titles(seen: Seen) -> dict[str, str]:
    """Titles of the listed issues by `IssueId.key`, hostile text."""
    return {issue.item.key: issue.title for issue in seen.desired.issues}


def code_of(plan: Plan) -> int:
    """1 while something wanted stayed unseen, whatever else there is to do (decisions 18)."""
    if not plan.complete:
        return exits.FAILED
    return exits.ACTIONS if plan.actions else exits.OK
