"""`toban doctor` for people and as JSON. Pure; called by `controller.cli`."""

from collections.abc import Iterable, Sequence

from controller.domain.checkup import Finding
from controller.render.lines import EMPTY, Line, Span, Style, count, foreign, line
from controller.render.plan_json import SCHEMA, Document, safe

STYLES: dict[str, Style] = {"ok": "good", "warn": "warn", "fail": "bad"}


def finding_lines(finding: Finding) -> list[Line]:
    """One check: `ok`, `warn` or `fail`, what was found, and how to mend it."""
    mark = Span(finding.level.ljust(4), STYLES[finding.level])
    lines = [line(mark, f"  {foreign(finding.check)}: {foreign(finding.message)}")]
    if finding.advice:
        lines.append(line(f"      fix: {foreign(finding.advice)}"))
    return lines


def summary_lines(findings: Sequence[Finding]) -> list[Line]:
    """One line to sum it up."""
    bad = [each for each in findings if each.level == "fail"]
    odd = [each for each in findings if each.level == "warn"]
    text = (
        f"Doctor: {count(len(findings), 'check')}, {len(bad)} failed, {count(len(odd), 'warning')}."
    )
    return [EMPTY, line(Span(text, "bold"))]


def doctor_document(findings: Iterable[Finding]) -> Document:
    """`doctor --json`."""
    checks = [
        {
            "check": safe(each.check),
            "status": each.level,
            "message": safe(each.message),
            "fix": safe(each.advice),
        }
        for each in findings
    ]
    return {
        "schema": SCHEMA,
        "well": all(check["status"] != "fail" for check in checks),
        "checks": checks,
    }
