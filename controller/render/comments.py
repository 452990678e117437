"""Comments on GitHub: the record that toban reads back, and under it what a person needs to know.

Called by `controller.runtime.apply` with finished records. The first line is the marker; everything
foreign passes `controller.render.markdown`, so that no second marker, mention or link can stand in
the rest. Every body stays below LIMIT characters. Never asks GitHub and never decides.
"""

from collections.abc import Sequence

from controller.domain.ids import IssueId
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.repository import Change
from controller.render.markdown import code, fenced, prose
from controller.workloads.issues.markers import (
    BlockRecord,
    ClaimRecord,
    ExplainRecord,
    HandOverRecord,
    PushRecord,
    Record,
    VerdictRecord,
    encode,
)
from controller.workloads.issues.verdict import Finding, Severity, Verdict

LIMIT = 60_000
"""Characters of a comment; GitHub refuses more than 65,536."""
MARKER_LIMIT = 40_000
"""Characters of a marker; the rest is for people."""
MAX_FINDINGS = 50
_VERDICT_LIMIT = MARKER_LIMIT - 4_000
"""Characters of the verdict within its marker; the other fields take the rest."""
_CUTS = (
    # message, path, summary, findings: the first row under which the marker fits is taken
    (2_000, 300, 4_000, MAX_FINDINGS),
    (1_000, 300, 2_000, MAX_FINDINGS),
    (500, 200, 1_000, MAX_FINDINGS),
    (250, 100, 1_000, MAX_FINDINGS),
    (100, 60, 500, 40),
    (60, 40, 200, 20),
)
_SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor", "info")
_MAX_LINE_NUMBER = 10**9
_LISTED = 30
_SHORT = 12


def marker_of(record: Record) -> str:
    """First line of the record's comment: what the comment is looked up by."""
    return encode(record)


def claim(record: ClaimRecord, *, actor: str) -> str:
    """Work on a text begins. `actor` is the login of whoever put `agent:ready` on."""
    return _body(
        record,
        f"toban works on this issue: {code(actor, 100)} put `agent:ready` on.",
        f"It answers title and body as they stand now (SHA-256 `{record.digest[:_SHORT]}`). "
        "If somebody edits them, toban stops, keeps what is there and says so; a new order is "
        "`agent:ready` put on again.",
        f"Next: a worker makes the change on the branch `{_branch(record)}`, a second agent "
        "reviews it, and a person decides about the pull request. Taking toban's label off stops "
        "the work.",
    )


def push(record: PushRecord, *, change: Change) -> str:
    """A commit is announced, just before it is pushed."""
    verb = "reworked its change" if record.task.phase == "rework" else "made a change"
    return _body(
        record,
        f"toban {verb} and pushes it to `{_branch(record)}`.",
        f"Commit {record.sha} on `{record.parent[:_SHORT]}`: {count(record.files, 'file')}, "
        f"+{change.added_lines} −{change.removed_lines} lines. Run {record.run}, "
        f"{record.tokens:,} tokens.",
    )


def verdict(record: VerdictRecord) -> str:
    """What the reviewer said. Raises ValueError for a verdict that `storable` did not cut."""
    said = record.verdict
    marker = marker_of(record)
    if len(marker) > MARKER_LIMIT:
        msg = f"a verdict's marker has {len(marker)} characters: cut the verdict by storable()"
        raise ValueError(msg)
    head = (
        f"**Review: {said.verdict}** of `{record.head[:_SHORT]}` against "
        f"{code(record.base_branch, 100)} at `{record.base[:_SHORT]}` (run {record.run})."
    )
    then = (
        "Next: a person decides. This approval holds for exactly this commit."
        if said.approves
        else "Next: the worker gets these findings and mends the change in this pull request, as "
        "long as the rework budget lasts."
    )
    parts = [head, prose(said.summary, 5_000), _tally(said.findings)]
    room = LIMIT - len(marker) - sum(len(part) for part in parts) - len(then) - 500
    parts += [_findings(said.findings, room=room), then]
    return _body(record, *parts)


def block(
    record: BlockRecord, *, message: str, details: str = "", worktree: str | None = None
) -> str:
    """Why toban stopped and how to go on.

    `details` is foreign text (findings, output of a check). `worktree` is the kept one's folder,
    relative to toban's root, None when there is none.
    """
    return _body(
        record,
        f"**toban stopped: {record.reason}.** {prose(message, 3_000)}",
        _meaning(record.reason, message),
        fenced(details, 20_000, "text") if details.strip() else "",
        f"The work is kept on toban's host in {code(worktree, 300)}." if worktree else "",
        f"**What to do:** {_advice(record.reason)}",
    )


def explain(record: ExplainRecord) -> str:
    """Why nothing more happens; no label changes."""
    meaning = MEANINGS[record.reason]
    return _body(
        record,
        f"**{record.reason}:** {meaning.text}.",
        f"**What to do:** {meaning.advice}.",
    )


def hand_over(
    record: HandOverRecord,
    *,
    assignee: str | None,
    wanted: str,
    mergeable: bool | None = None,
    sensitive: Sequence[str] = (),
) -> str:
    """It is a person's turn.

    `wanted` is the login that was to be assigned, `assignee` the one that GitHub took, None when it
    dropped it. `mergeable` is None while GitHub has not said whether the pull request merges.
    `sensitive` are changed paths under policy.sensitive_paths.
    """
    return _body(
        record,
        banner(sensitive),
        f"**Your turn:** the review approved `{record.head[:_SHORT]}` of pull request "
        f"#{record.pull}. toban does not merge.",
        _CONFLICT if mergeable is False else "",
        ""
        if assignee
        else f"GitHub did not accept {code(wanted, 100)} as assignee: it needs access to this "
        "repository.",
        "To accept it, merge the pull request. To send it back, write comments that say what to "
        "change, then take `human:review` off and put `agent:ready` on: the worker reads the "
        "comments of people with write access. A new commit makes this approval void.",
    )


_CONFLICT = (
    "It conflicts with its base branch as that is now. toban resolves no conflicts: merge or "
    "rebase by hand, or send it back."
)


def banner(sensitive: Sequence[str]) -> str:
    """A warning that stands above everything else; empty when nothing sensitive was changed."""
    if not sensitive:
        return ""
    return (
        "> [!WARNING]\n> This change touches files that decide what is built, installed or run. "
        f"Read them first: {paths(sensitive)}."
    )


def paths(names: Sequence[str]) -> str:
    """A list of foreign paths in one line, of which at most 30 are shown."""
    shown = ", ".join(code(name, 300) for name in names[:_LISTED])
    left = len(names) - _LISTED
    return f"{shown} and {left} more" if left > 0 else shown


def storable(verdict: Verdict) -> Verdict:
    """The verdict cut so that its marker stays below MARKER_LIMIT, visibly and as little as needed.

    Of more than 50 findings the least severe go. Equal when nothing has to be cut; cutting twice is
    cutting once. The word approve or rework never changes.
    """
    cuts = (_shortened(verdict, cut) for cut in _CUTS)
    smallest = _shortened(verdict, _CUTS[-1])
    return next((cut for cut in cuts if _size(cut) <= _VERDICT_LIMIT), smallest)


def _shortened(verdict: Verdict, cut: tuple[int, int, int, int]) -> Verdict:
    message, path, summary, most = cut
    findings = (
        Finding(
            severity=each.severity,
            path=_cut(each.path, path),
            line=each.line if each.line is None or abs(each.line) < _MAX_LINE_NUMBER else None,
            message=_cut(each.message, message),
        )
        for each in verdict.findings
    )
    return Verdict(
        version=1,
        verdict=verdict.verdict,
        summary=_cut(verdict.summary, summary),
        findings=_fewer(tuple(findings), most),
    )


def _fewer(findings: tuple[Finding, ...], most: int) -> tuple[Finding, ...]:
    """The most severe findings in their order, and a last one that says how many are missing."""
    if len(findings) <= most:
        return findings
    ranked = sorted(
        range(len(findings)), key=lambda at: (_SEVERITIES.index(findings[at].severity), at)
    )
    kept = sorted(ranked[: most - 1])
    lost = len(findings) - len(kept)
    note = f"{lost} further findings of the review were too many to be stored."
    return (
        *(findings[at] for at in kept),
        Finding(severity="info", path="", line=None, message=note),
    )


def _cut(text: str, limit: int) -> str:
    note = " … [cut]"
    return text if len(text) <= limit else text[: limit - len(note)] + note


def _size(verdict: Verdict) -> int:
    """Characters that the verdict takes in a marker."""
    zero = "0" * 40
    empty = VerdictRecord(
        issue="", epoch=0, pull=0, base=zero, base_branch="", head=zero, run=0, verdict=verdict
    )
    return len(encode(empty))


def _tally(findings: tuple[Finding, ...]) -> str:
    counts = [(sum(each.severity == one for each in findings), one) for one in _SEVERITIES]
    told = ", ".join(f"{count} {severity}" for count, severity in counts if count)
    return f"**Findings:** {told or 'none'}"


def _findings(findings: tuple[Finding, ...], *, room: int) -> str:
    """As many findings as `room` characters hold."""
    shown: list[str] = []
    for each in findings:
        entry = _finding(each)
        room -= len(entry) + 1
        if room < 0:
            break
        shown.append(entry)
    left = len(findings) - len(shown)
    if left:
        shown.append(f"- … and {count(left, 'more finding')} in the record of this comment.")
    return "\n".join(shown)


def _finding(finding: Finding) -> str:
    line = f":{finding.line}" if finding.line is not None else ""
    place = f" {code(finding.path + line, 320)}" if finding.path else ""
    message = prose(finding.message, 2_500).replace("\n", "\n  ")
    return f"- **{finding.severity}**{place}: {message}"


def _branch(record: Record) -> str:
    return IssueId.parse(record.issue).branch


def _meaning(reason: Reason, message: str) -> str:
    """What the code means, unless the message says just that."""
    text = MEANINGS[reason].text
    return "" if message.strip() == text else f"{text[:1].upper()}{text[1:]}."


def _advice(reason: Reason) -> str:
    advice = MEANINGS[reason].advice
    if "agent:ready" in advice:
        return f"{advice}."
    return f"{advice}. toban goes on when `agent:blocked` is taken off and `agent:ready` put on."


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _body(record: Record, *parts: str) -> str:
    return "\n\n".join([marker_of(record), *filter(None, parts)])
