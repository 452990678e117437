"""One look kept in one file: desired, observation, policy and plan (`toban plan --save`).

The bug report, and a unit test: `plan(desired, observation, policy)` gives the plan again. Holds no
secret, because no value that planning knows holds one. Called by `controller.cli`.
"""

import json
from typing import Any

from pydantic import ValidationError

from controller import __version__
from controller.domain.actions import ACTIONS
from controller.domain.plan import Plan
from controller.domain.policy import Policy
from controller.domain.values import Value
from controller.errors import TobanError
from controller.workloads.issues.planner import Desired, Observation

SCHEMA = 1
_KINDS = {kind.__name__: kind for kind in ACTIONS}


class Saved(Value):
    """What planning was given, and what it answered."""

    desired: Desired
    observation: Observation
    policy: Policy
    plan: Plan


def dump(saved: Saved) -> str:
    """One JSON document. Actions carry their kind, since two kinds can have equal fields."""
    document: dict[str, Any] = {"schema": SCHEMA, "toban": __version__}
    document |= saved.model_dump(mode="json")
    document["plan"]["actions"] = [
        {"kind": action.kind, **action.model_dump(mode="json")} for action in saved.plan.actions
    ]
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def load(text: str) -> Saved:
    """Read what `dump` wrote. Raises TobanError that says what is wrong."""
    try:
        document = json.loads(text)
        schema = document.pop("schema")
        document.pop("toban")
        if schema != SCHEMA:
            raise TobanError(f"a saved plan of schema {schema!r}; this version reads {SCHEMA}")
        plan = document["plan"]
        plan["actions"] = [
            _KINDS[each.pop("kind")].model_validate(each) for each in plan["actions"]
        ]
        return Saved.model_validate(document)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise TobanError(f"not a saved plan: {error}") from error
