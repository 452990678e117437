"""`toban labels` for people and as JSON. Pure; called by `controller.cli`."""

from collections.abc import Iterable

from controller.domain.ids import Repository
from controller.render.lines import Line, Span, foreign, line
from controller.render.plan_json import SCHEMA, Document, safe


def labelled_line(repository: Repository, changed: tuple[str, ...], error: str) -> Line:
    """What became of one repository's labels."""
    if error:
        return line(f"{repository}: ", Span("failed", "bad"), f": {foreign(error)}")
    if changed:
        return line(f"{repository}: ", Span("written", "good"), f": {', '.join(changed)}")
    return line(f"{repository}: ", Span("all six are as they should be", "good"))


def labelled_document(done: Iterable[tuple[Repository, tuple[str, ...], str]]) -> Document:
    """`labels --json`."""
    return {
        "schema": SCHEMA,
        "repositories": [
            {"repository": str(repository), "changed": list(changed), "error": safe(error) or None}
            for repository, changed, error in done
        ],
    }
