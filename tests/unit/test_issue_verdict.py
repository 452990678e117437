"""The reviewer's verdict is one strict document; everything else is a failed review."""

import json
from contextlib import suppress

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.workloads.issues.verdict import (
    MAX_CHARACTERS,
    SCHEMA,
    VerdictError,
    parse_verdict,
)

FINDING = {"severity": "major", "path": "src/x.py", "line": 12, "message": "違う"}
GOOD = {"version": 1, "verdict": "rework", "summary": "要約", "findings": [FINDING]}


def but(**changes: object) -> str:
    return json.dumps(GOOD | changes, ensure_ascii=False)


def finding(**changes: object) -> str:
    return but(findings=[FINDING | changes])


@pytest.mark.parametrize(
    "text",
    [but(), f"\n {but()} \n", but(findings=[]), finding(line=None), but(verdict="approve")],
    ids=["plain", "white space around", "no finding", "no line", "approve"],
)
def test_a_verdict(text: str) -> None:
    document = json.loads(text)
    found = parse_verdict(text)
    assert found.model_dump(mode="json") == document
    assert found.approves == (document["verdict"] == "approve")


BAD = {
    "empty": "",
    "prose": "LGTM",
    "text before": f"Here: {but()}",
    "text after": f"{but()} thanks",
    "fenced": f"```json\n{but()}\n```",
    "two documents": f"{but()}{but()}",
    "a list": f"[{but()}]",
    "null": "null",
    "NaN": but().replace("12", "NaN"),
    "Infinity": but().replace("12", "-Infinity"),
    "duplicate key": but().replace('"version"', '"verdict": "approve", "version"'),
    "duplicate key in a finding": finding().replace('"line"', '"path": "y", "line"'),
    "added key": but(extra=1),
    "added key in a finding": finding(extra=1),
    "unknown version": but(version=2),
    "version as text": but(version="1"),
    "version as a fraction": but().replace('"version": 1', '"version": 1.0'),
    "version as a truth": but(version=True),
    "unknown verdict": but(verdict="maybe"),
    "verdict in capitals": but(verdict="APPROVE"),
    "unknown severity": finding(severity="blocker"),
    "line as text": finding(line="12"),
    "line as a truth": finding(line=True),
    "line as a fraction": finding(line=1.5),
    "message missing": but(findings=[{k: v for k, v in FINDING.items() if k != "message"}]),
    "no findings": json.dumps({k: v for k, v in GOOD.items() if k != "findings"}),
    "raw newline in a string": but().replace("要約", "a\nb"),
    "nested too deep": "[" * 100_000,
    "a number of 5,000 digits": finding().replace("12", "1" * 5_000),
    "a lone surrogate": but().replace("要約", "\ud800"),
    "too long": but(summary="x" * MAX_CHARACTERS),
    "too many findings": but(findings=[FINDING] * 201),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_no_verdict(text: str) -> None:
    with pytest.raises(VerdictError):
        parse_verdict(text)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_judged_without_another_error(text: str) -> None:
    with suppress(VerdictError):
        assert parse_verdict(text).version == 1


def test_the_schema_says_the_same_as_the_parser() -> None:
    jsonschema.validate(GOOD, SCHEMA)
    for name in ("unknown version", "unknown verdict", "unknown severity", "added key"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(BAD[name]), SCHEMA)
