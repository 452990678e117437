"""The bare minimum of planning: `plan_many.py COUNT` values, twelve checks each, one answer each.

Prints JSON: CPU seconds for the checks, and for the way from JSON to JSON.
"""

import json
import sys
import time

from pydantic import BaseModel, ConfigDict, TypeAdapter

RULES = 12


class Item(BaseModel):
    """Eleven fields, as flat as can be."""

    model_config = ConfigDict(frozen=True)
    number: int
    owner: str
    repository: str
    title: str
    body: str
    labels: tuple[str, ...]
    is_open: bool
    author: str
    head: str
    base: str
    updated: str


class Answer(BaseModel):
    """What becomes of one item."""

    model_config = ConfigDict(frozen=True)
    number: int
    reason: str
    message: str


def judge(items: tuple[Item, ...]) -> list[Answer]:
    """Ask every check about every item; the last one speaks."""
    found = []
    for item in sorted(items, key=lambda it: (it.updated, it.number)):
        for rule in range(RULES):
            if rule == RULES - 1 and "human:review" in item.labels:
                message = f"{item.owner} decides"
                found.append(Answer(number=item.number, reason="WaitsForHuman", message=message))
    return found


def main() -> None:
    """Judge, then from JSON to JSON."""
    many = TypeAdapter(tuple[Item, ...])
    items = tuple(
        Item(
            number=number,
            owner="octo",
            repository="app",
            title="title",
            body="body",
            labels=("human:review",),
            is_open=True,
            author="octo",
            head="0" * 40,
            base="1" * 40,
            updated="2026-11-30T12:00:00Z",
        )
        for number in range(int(sys.argv[1]))
    )
    begun = time.process_time()
    judge(items)
    planned = time.process_time() - begun
    text = many.dump_json(items)
    begun = time.process_time()
    json.dumps([answer.model_dump() for answer in judge(many.validate_json(text))])
    print(json.dumps({"plan": planned, "round_trip": time.process_time() - begun}))


if __name__ == "__main__":
    main()
