"""The reviewer's verdict: one strict JSON document, or a failed review. Never a guess.

Called by rules (what a review run answered) and by the reader of markers. Text around the document,
duplicate keys, unknown values, NaN or a second document are refused.
"""

import json
from typing import Literal, NoReturn

from pydantic import Field, StrictInt, StrictStr, ValidationError

from controller.domain.values import Value

type Severity = Literal["critical", "major", "minor", "info"]
MAX_CHARACTERS = 200_000
"""An answer longer than this is refused unread."""


class Finding(Value):
    """One remark of the reviewer; hostile text."""

    severity: Severity
    path: StrictStr
    line: StrictInt | None
    message: StrictStr


class Verdict(Value):
    """What the reviewer says of exactly one (base, head)."""

    version: Literal[1]
    verdict: Literal["approve", "rework"]
    summary: StrictStr
    findings: tuple[Finding, ...] = Field(max_length=200)

    @property
    def approves(self) -> bool:
        """Whether it lets the change go to a human."""
        return self.verdict == "approve"


class VerdictError(ValueError):
    """The answer is no verdict; the text says what is wrong with it."""


def parse_verdict(text: str) -> Verdict:
    """Read the one JSON document of interface.md section 5.

    Raises VerdictError for everything else. White space around the document is tolerated.
    """
    if len(text) > MAX_CHARACTERS:
        msg = f"longer than {MAX_CHARACTERS} characters"
        raise VerdictError(msg)
    try:
        text.encode()
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        return Verdict.model_validate(_with_version(document))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "document"
        msg = f"{where}: {first['msg']}"
        raise VerdictError(msg) from error
    except VerdictError:
        raise
    except (ValueError, RecursionError) as error:
        msg = f"not one JSON document: {type(error).__name__}"
        raise VerdictError(msg) from error


def _with_version(document: object) -> object:
    """JSON's 1.0 and true equal 1 in Python; the contract's version is the integer."""
    if not isinstance(document, dict) or type(document.get("version")) is not int:
        msg = "expected a JSON object with the integer key version"
        raise VerdictError(msg)
    return document


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        msg = "a key stands twice"
        raise VerdictError(msg)
    return document


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not allowed"
    raise VerdictError(msg)


SCHEMA: dict[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "verdict", "summary", "findings"],
    "properties": {
        "version": {"type": "integer", "enum": [1]},
        "verdict": {"type": "string", "enum": ["approve", "rework"]},
        "summary": {"type": "string"},
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["severity", "path", "line", "message"],
                "properties": {
                    "severity": {"type": "string", "enum": ["critical", "major", "minor", "info"]},
                    "path": {"type": "string"},
                    "line": {"type": ["integer", "null"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
"""The same contract as a JSON schema for Codex (`--output-schema`); the parser above decides."""
