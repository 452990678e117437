"""`toban explain REF`: every rule for one item. Writes nothing.

Called by `controller.cli.app`.
"""

from pathlib import Path

from controller import bootstrap
from controller.cli import exits
from controller.cli.app import Only
from controller.cli.screen import Screen, show_json
from controller.cli.session import Row, open_config, parse_ref, want_issues
from controller.errors import TobanError
from controller.render.explain import explain_document, explain_lines
from controller.runtime.status import inquire


def explain(path: Path | None, ref: str, *, as_json: bool) -> int:
    """Run the command; returns the exit code."""
    asked = parse_ref(ref, hint="REF")
    config = open_config(path)
    issue = want_issues(config, Only.ORDERS if isinstance(asked, Row) else Only.ISSUES, asked)
    readers = bootstrap.issues(config, writes=False).readers
    answer = inquire(issue, readers) if issue is not None else None
    if answer is None:
        raise TobanError(f"{issue}: no such issue, or the token does not see it")
    if as_json:
        show_json(explain_document(answer))
    else:
        Screen().show(explain_lines(answer))
    return exits.FAILED if answer.unseen else exits.OK
