"""`toban status`: a look at every item, as a table, JSON, or a page. Writes only the page.

Called by `controller.cli.app`.
"""

from pathlib import Path

from controller import bootstrap
from controller.cli import exits
from controller.cli.files import write_result
from controller.cli.run_once import WORKLOAD
from controller.cli.screen import Screen, show_json, warn
from controller.cli.session import open_config, want_issues
from controller.render.lines import foreign
from controller.render.page import status_page
from controller.render.status import Frame, status_document, status_lines
from controller.runtime.status import survey


def status(path: Path | None, *, html: Path | None, as_json: bool) -> int:
    """Run the command; returns the exit code."""
    config = open_config(path)
    want_issues(config, None, None)
    readers = bootstrap.issues(config, writes=False).readers
    holder = bootstrap.lock_reader(config).holder(WORKLOAD)
    found = survey(readers, busy_since=holder.since if holder else None)
    frame = Frame(
        host=found.host,
        policy=readers.policy,
        unseen=found.unseen,
        now=readers.clock.now(),
        tick=holder.text if holder else "",
    )
    if html is not None:
        write_result(html, status_page(found.items, frame))
    if as_json:
        show_json(status_document(found.items))
        for each in found.unseen:
            warn(f"not seen: {foreign(each.source)}: {foreign(each.reason)}")
    else:
        Screen().show(status_lines(found.items, frame))
    return exits.FAILED if found.unseen else exits.OK
