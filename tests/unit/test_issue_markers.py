"""Our records in comments: written, read back, and not believed from anybody else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.forge import Comment, Person
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.workloads.issues import markers
from controller.workloads.issues.markers import (
    BlockRecord,
    ExplainRecord,
    HandOverRecord,
    Record,
    VerdictRecord,
    decode,
    encode,
    sign,
    stored,
    text_digest,
)
from controller.workloads.issues.verdict import Finding, Verdict
from tests.builders.issue import EPOCH, ITEM, ME, OCTO, at, claim, push, sha, verdict

KEYS = (b"first-key", b"second-key")
RECORDS: dict[str, Record] = {
    "claim": claim(),
    "push": push("h1", "base"),
    "verdict": verdict("h1", approve=False),
    "block": BlockRecord(issue=ITEM.key, epoch=None, reason=Reason.NO_CLAIM),
    "explain": ExplainRecord(issue=ITEM.key, epoch=EPOCH, reason=Reason.ISSUE_CLOSED),
    "hand-over": HandOverRecord(
        issue=ITEM.key, epoch=EPOCH, pull=7, base=sha("base"), head=sha("h1")
    ),
}


def comment(body: str, *, by: Person | None = ME, edited: bool = False) -> Comment:
    return Comment(id=1, author=by, body=body, created_at=at(1), updated_at=at(2 if edited else 1))


def read(*comments: Comment, item: IssueId = ITEM, keys: tuple[bytes, ...] = ()) -> list[bool]:
    return [each.intact for each in stored(comments, item=item, me=ME, keys=keys)]


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
def test_what_is_written_is_read_back(record: Record) -> None:
    line = encode(record)
    assert decode(f"{line}\n\nhello") == record
    assert decode(f"{line}\r\n\r\nhello") == record
    assert "\n" not in line


@given(st.text())
def test_no_text_breaks_out_of_a_marker(text: str) -> None:
    finding = Finding(severity="info", path=text, line=None, message=text)
    record = verdict("h1", approve=True).model_copy(
        update={"verdict": Verdict(version=1, verdict="approve", summary=text, findings=(finding,))}
    )
    line = encode(record)
    assert line.count("<!--") == line.count("-->") == 1
    assert not set("@#`&") & set(line)
    assert decode(line) == record


LINE = encode(claim())
FORGED: dict[str, Comment] = {
    "by somebody else": comment(LINE, by=OCTO),
    "by a deleted account": comment(LINE, by=None),
    "by a look-alike login": comment(LINE, by=Person(id=99, login=ME.login)),
    "quoted in a reply": comment(f"> {LINE}"),
    "after a blank": comment(f" {LINE}"),
    "two markers": comment(f"{LINE}\n{LINE}"),
    "a duplicate key": comment(LINE.replace('"v": 1', '"v": 1, "v": 1')),
    "an unknown key": comment(LINE.replace('"v": 1', '"v": 1, "w": 1')),
    "another version": comment(LINE.replace('"v": 1', '"v": 2')),
    "an unknown kind": comment(LINE.replace('"kind": "claim"', '"kind": "merge"')),
    "broken JSON": comment("<!-- toban {nope} -->"),
    "deep JSON": comment("<!-- toban " + '{"a":' * 20_000 + "1" + "}" * 20_000 + " -->"),
    "too long": comment("<!-- toban {" + " " * 70_000 + "} -->"),
    "no marker": comment("hello"),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_nothing_else_is_a_record(forged: Comment) -> None:
    assert read(forged) == []


def test_a_record_of_another_issue_is_not_ours() -> None:
    assert read(comment(LINE), item=IssueId.parse("octo/app#59")) == []


def test_an_edited_record_is_seen_but_not_intact() -> None:
    assert read(comment(LINE), comment(LINE, edited=True)) == [True, False]


def signed(keys: tuple[bytes, ...]) -> VerdictRecord:
    return sign(verdict("h1", approve=True), keys)


@pytest.mark.parametrize(
    ("record", "keys", "intact"),
    [
        (signed(KEYS), KEYS, True),
        (signed(KEYS[1:]), KEYS, True),
        (signed(()), KEYS, False),
        (signed((b"stranger",)), KEYS, False),
        (signed(KEYS), (), True),
        (signed(KEYS).model_copy(update={"head": sha("h2")}), KEYS, False),
        (claim(), KEYS, True),
    ],
    ids=[
        "signed",
        "by the second key",
        "unsigned",
        "by a stranger",
        "no key",
        "changed",
        "a claim",
    ],
)
def test_signatures(record: Record, keys: tuple[bytes, ...], *, intact: bool) -> None:
    assert read(comment(encode(record)), keys=keys) == [intact]


def test_the_digest_separates_title_and_body() -> None:
    assert text_digest("a", "b") != text_digest("ab", "")
    assert text_digest("が", "") != text_digest("か\u3099", ""), "NFC and NFD are different texts"
    assert text_digest("\ud800", "") == text_digest("\ud800", "")


def test_who_claims_to_be_a_record() -> None:
    assert markers.is_record(LINE)
    assert not markers.is_record("hello")
