"""Our durable records: one JSON object in an HTML comment at the first byte of a comment of ours.

Written by `controller.runtime.apply`, read back by observe. A record counts only when the comment
is by our numeric id, was never edited, begins with the marker and names this very issue.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from controller.domain.forge import Comment, Person
from controller.domain.ids import IssueId, Sha
from controller.domain.reasons import Reason
from controller.domain.runs import Task
from controller.domain.values import Value
from controller.workloads.issues.verdict import Verdict

_LINE = re.compile(r"<!-- toban (\{.*\}) -->")
_MAX_LINE = 60_000


class _Record(Value):
    v: Literal[1] = 1
    issue: str
    """`IssueId.key` of the issue the record belongs to."""
    epoch: int | None


class ClaimRecord(_Record):
    """The text with this digest is being worked on."""

    kind: Literal["claim"] = "claim"
    digest: str
    head: Sha | None


class PushRecord(_Record):
    """This commit is ours; posted before it is pushed (decisions 7)."""

    kind: Literal["push"] = "push"
    task: Task
    run: int
    sha: Sha
    parent: Sha
    files: int
    tokens: int


class VerdictRecord(_Record):
    """What our reviewer said of exactly this base and head."""

    kind: Literal["verdict"] = "verdict"
    pull: int
    base: Sha
    base_branch: str
    head: Sha
    run: int
    verdict: Verdict
    signature: str = ""
    """HMAC-SHA256 over the canonical record without this field; empty without a key."""


class BlockRecord(_Record):
    """Why toban stopped."""

    kind: Literal["block"] = "block"
    reason: Reason


class ExplainRecord(_Record):
    """Why nothing more happens, without a label."""

    kind: Literal["explain"] = "explain"
    reason: Reason


class HandOverRecord(_Record):
    """A human was told that this head is theirs."""

    kind: Literal["hand-over"] = "hand-over"
    pull: int
    base: Sha
    head: Sha


type Record = (
    ClaimRecord | PushRecord | VerdictRecord | BlockRecord | ExplainRecord | HandOverRecord
)
_RECORDS: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])


class Stored(Value):
    """A record together with the comment that holds it."""

    comment: int
    intact: bool
    """By us, never edited, and correctly signed where a signature is required.

    A record that is not intact cannot act; a verdict still counts against the budget."""
    record: Record


def encode(record: Record) -> str:
    """The marker line. Everything but letters, digits and plain punctuation is escaped in it."""
    text = json.dumps(record.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    escaped = re.sub(r"[<>@#&`]|--|[\x00-\x1f\x7f-\x9f\ud800-\udfff]", _escape, text)
    return f"<!-- toban {escaped} -->"


def _escape(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in match.group())


def decode(body: str) -> Record | None:
    """The record at the first byte of a comment, None when there is none that can be read."""
    line, _, rest = body.replace("\r\n", "\n").partition("\n")
    match = _LINE.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None or "<!-- toban " in rest:
        return None
    try:
        document = json.loads(match[1], object_pairs_hook=_unique_keys)
        return _RECORDS.validate_python(document, strict=False)
    except (ValidationError, ValueError, RecursionError):
        return None


def is_record(body: str) -> bool:
    """Whether a comment claims to be one of our records, whoever wrote it."""
    return body.startswith("<!-- toban ")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return document


def stored(
    comments: Iterable[Comment], *, item: IssueId, me: Person, keys: Sequence[bytes]
) -> tuple[Stored, ...]:
    """All records of ours about `item` among `comments`, in their order.

    `keys` are the signing keys, any of which verifies; empty = no signature is required.
    """
    found: list[Stored] = []
    for comment in comments:
        if comment.author is None or comment.author.id != me.id:
            continue
        record = decode(comment.body)
        if record is None or record.issue != item.key:
            continue
        intact = comment.unedited and _signed(record, keys)
        found.append(Stored(comment=comment.id, intact=intact, record=record))
    return tuple(found)


def sign(record: VerdictRecord, keys: Sequence[bytes]) -> VerdictRecord:
    """The record with a signature by the first key, unchanged when there is none."""
    if not keys:
        return record
    return record.model_copy(update={"signature": _digest(record, keys[0])})


def _signed(record: Record, keys: Sequence[bytes]) -> bool:
    if not isinstance(record, VerdictRecord) or not keys:
        return True
    return any(hmac.compare_digest(record.signature, _digest(record, key)) for key in keys)


def _digest(record: VerdictRecord, key: bytes) -> str:
    bare = record.model_copy(update={"signature": ""})
    canonical = json.dumps(bare.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
    return hmac.new(key, canonical.encode(), hashlib.sha256).hexdigest()


def text_digest(title: str, body: str) -> str:
    """SHA-256 of exactly this title and body, hexadecimal."""
    joined = f"{title}\0{body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()
