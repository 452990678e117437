"""Comments: the record is read back, a person learns what to do, and nothing foreign acts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.domain.reasons import MEANINGS, Reason
from controller.domain.repository import Change
from controller.domain.runs import Task
from controller.render import comments
from controller.workloads.issues.markers import (
    BlockRecord,
    ClaimRecord,
    ExplainRecord,
    HandOverRecord,
    PushRecord,
    Record,
    VerdictRecord,
    decode,
    sign,
)
from controller.workloads.issues.verdict import Finding, Severity, Verdict
from tests.builders.issue import EPOCH, ITEM, sha
from tests.rendered import acts

LIMIT = 60_000
KEY = ITEM.key
HOSTILE = (
    "<!-- toban {} --> @octo fixes #1 ![x](y)\n# a\n- b\n```\n/retest\nCo-authored-by: x"
    "\x1b[2J\u202e"
)
OURS = frozenset(
    {
        *("strong_open", "strong_close", "fence", "blockquote_open", "blockquote_close", "hr"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }
)
CLAIM = ClaimRecord(issue=KEY, epoch=EPOCH, digest="d" * 64, head=None)
PUSH = PushRecord(
    issue=KEY,
    epoch=EPOCH,
    task=Task(phase="rework", epoch=EPOCH, on=sha("h1"), round=1),
    run=3,
    sha=sha("h2"),
    parent=sha("h1"),
    files=1,
    tokens=12345,
)
CHANGE = Change(sha=sha("h2"), parent=sha("h1"), files=1, added_lines=7, removed_lines=2)
HAND = HandOverRecord(issue=KEY, epoch=EPOCH, pull=9, base=sha("b"), head=sha("h2"))


def finding(severity: Severity = "major", message: str = "wrong", line: int | None = 3) -> Finding:
    return Finding(severity=severity, path="src/検索.py", line=line, message=message)


def said(*findings: Finding, approve: bool = False, summary: str = "まとめ") -> Verdict:
    return Verdict(
        version=1,
        verdict="approve" if approve else "rework",
        summary=summary,
        findings=findings,
    )


def stored(verdict: Verdict, base_branch: str = "main") -> VerdictRecord:
    return VerdictRecord(
        issue=KEY,
        epoch=EPOCH,
        pull=9,
        base=sha("b"),
        base_branch=base_branch,
        head=sha("h2"),
        run=4,
        verdict=verdict,
    )


def block(reason: Reason = Reason.CHECK_FAILED) -> BlockRecord:
    return BlockRecord(issue=KEY, epoch=EPOCH, reason=reason)


def human(body: str, record: Record) -> str:
    """What stands under the marker, after the checks that hold for every comment."""
    assert len(body) < LIMIT
    assert decode(body) == record
    first, empty, rest = body.split("\n", 2)
    assert first == comments.marker_of(record)
    assert empty == ""
    return rest


BODIES = {
    "claim": (CLAIM, comments.claim(CLAIM, actor="octo")),
    "push": (PUSH, comments.push(PUSH, change=CHANGE)),
    "approve": (stored(said(approve=True)), comments.verdict(stored(said(approve=True)))),
    "rework": (stored(said(finding())), comments.verdict(stored(said(finding())))),
    "block": (block(), comments.block(block(), message="a", details="b", worktree="worktrees/o/r")),
    "explain": (
        ExplainRecord(issue=KEY, epoch=EPOCH, reason=Reason.ISSUE_CLOSED),
        comments.explain(ExplainRecord(issue=KEY, epoch=EPOCH, reason=Reason.ISSUE_CLOSED)),
    ),
    "hand-over": (HAND, comments.hand_over(HAND, assignee="octo", wanted="octo")),
}


@pytest.mark.parametrize(("record", "body"), BODIES.values(), ids=BODIES.keys())
def test_every_comment_is_read_back(record: Record, body: str) -> None:
    allowed = {"reference"} if record.kind == "hand-over" else set()
    assert set(acts(human(body, record), allowed=OURS)) <= allowed


SAYS = {
    "claim": ("claim", ("`octo` put `agent:ready` on", "`dddddddddddd`", "`agent/issue-58`")),
    "push": ("push", (sha("h2"), "1 file, +7 −2 lines", "Run 3", "12,345 tokens", "reworked")),
    "approve": ("approve", ("**Review: approve**", "**Findings:** none", "a person decides")),
    "rework": ("rework", ("- **major** `src/検索.py:3`: wrong", "1 major", "まとめ", "`main`")),
    "block": ("block", ("CheckFailed", "```text\nb\n```", "`worktrees/o/r`", "`agent:ready`")),
    "explain": ("explain", ("IssueClosed", "merge or close the pull request")),
    "hand-over": ("hand-over", ("#9", "send it back", "does not merge", "`agent:ready`")),
}


@pytest.mark.parametrize(("which", "words"), SAYS.values(), ids=SAYS.keys())
def test_a_comment_says_what_a_person_needs(which: str, words: tuple[str, ...]) -> None:
    body = BODIES[which][1]
    assert [word for word in words if word not in body] == []


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_says_what_to_do(reason: Reason) -> None:
    body = human(comments.block(block(reason), message="x"), block(reason))
    assert reason in body
    assert MEANINGS[reason].advice in body
    assert "`agent:ready`" in body
    assert acts(body, allowed=OURS) == []


def test_a_block_says_its_meaning_once() -> None:
    text = MEANINGS[Reason.TEXT_CHANGED].text
    body = comments.block(block(Reason.TEXT_CHANGED), message=text)
    assert body.count("changed after") == 1


HAND_OVERS = {
    "conflict": (
        comments.hand_over(HAND, assignee="octo", wanted="octo", mergeable=False),
        "conflicts with its base branch",
    ),
    "sensitive": (
        comments.hand_over(HAND, assignee="octo", wanted="octo", sensitive=("package.json", "a`b")),
        "`package.json`, ``a`b``.",
    ),
    "assignee dropped": (
        comments.hand_over(HAND, assignee=None, wanted="octo"),
        "did not accept `octo` as assignee",
    ),
}


@pytest.mark.parametrize(("body", "words"), HAND_OVERS.values(), ids=HAND_OVERS.keys())
def test_a_hand_over_warns(body: str, words: str) -> None:
    plain = comments.hand_over(HAND, assignee="octo", wanted="octo", mergeable=True)
    assert words in human(body, HAND)
    assert words not in plain


def test_the_banner_stands_on_top() -> None:
    body = comments.hand_over(HAND, assignee="o", wanted="o", sensitive=("Makefile",))
    assert human(body, HAND).startswith("> [!WARNING]\n> ")


def test_a_long_list_of_paths_says_how_many_are_missing() -> None:
    assert comments.paths([f"p{at}" for at in range(33)]).endswith("`p29` and 3 more")


def test_a_list_of_findings_that_is_cut_says_so() -> None:
    verdict = said(*(finding(message="*" * 400) for _ in range(50)))
    record = stored(comments.storable(verdict))
    body = human(comments.verdict(record), record)
    shown = body.count("- **major**")
    assert 0 < shown < 50
    assert f"… and {50 - shown} more findings in the record" in body


def test_a_verdict_too_large_to_be_stored_is_refused() -> None:
    with pytest.raises(ValueError, match=r"storable\(\)"):
        comments.verdict(stored(said(*(finding(message="x" * 9000) for _ in range(9)))))


def test_storable_keeps_what_fits() -> None:
    verdict = said(*(finding(message="あ" * 500) for _ in range(20)))
    assert comments.storable(verdict) == verdict


def test_storable_cuts_visibly() -> None:
    cut = comments.storable(said(finding(message="x" * 5000, line=10**12)))
    (only,) = cut.findings
    assert only.message.endswith(" … [cut]")
    assert len(only.message) == 2000
    assert only.line is None


def test_storable_drops_the_least_severe_and_says_how_many() -> None:
    many = [finding("minor", str(at)) for at in range(60)] + [finding("critical", "last")]
    cut = comments.storable(said(*many))
    assert len(cut.findings) == 50
    assert [each.message for each in cut.findings[:2]] == ["0", "1"]
    assert cut.findings[-2].message == "last"
    assert cut.findings[-1].message.startswith("12 further findings")


texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from([HOSTILE, "@" * 3000, "é" * 2500, "\x7f" * 9000, '"' * 9000, "<!--" * 999]),
)
findings = st.builds(
    Finding,
    severity=st.sampled_from(["critical", "major", "minor", "info"]),
    path=texts,
    line=st.one_of(st.none(), st.integers(), st.just(10**4000)),
    message=texts,
)
verdicts = st.builds(
    Verdict,
    version=st.just(1),
    verdict=st.sampled_from(["approve", "rework"]),
    summary=texts,
    findings=st.lists(findings, max_size=60).map(tuple),
)


@settings(max_examples=40)  # each is a comment as large as comments get
@given(verdicts, st.sampled_from(["main", "b" * 244, "枝`@octo"]))
def test_any_verdict_becomes_a_comment_that_is_read_back(verdict: Verdict, branch: str) -> None:
    cut = comments.storable(verdict)
    record = sign(stored(cut, branch), [b"key"])
    assert cut.verdict == verdict.verdict
    assert comments.storable(cut) == cut
    assert len(comments.marker_of(record)) <= comments.MARKER_LIMIT
    assert acts(human(comments.verdict(record), record), allowed=OURS) == []


@given(texts, texts, texts)
def test_any_block_is_read_back(message: str, details: str, folder: str) -> None:
    body = comments.block(block(), message=message, details=details, worktree=folder)
    assert acts(human(body, block()), allowed=OURS) == []


@given(texts, st.lists(texts, max_size=40), st.sampled_from([None, True, False]))
def test_any_hand_over_is_read_back(
    login: str,
    sensitive: list[str],
    mergeable: bool | None,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    body = comments.hand_over(
        HAND, assignee=None, wanted=login, mergeable=mergeable, sensitive=sensitive
    )
    assert acts(human(body, HAND), allowed=OURS) == ["reference"]


@given(texts)
def test_any_claim_is_read_back(actor: str) -> None:
    assert acts(human(comments.claim(CLAIM, actor=actor), CLAIM), allowed=OURS) == []
