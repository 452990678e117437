"""`toban explain` for people and as JSON: every rule in order, and where it is decided.

Called by `controller.cli`. Pure.
"""

from typing import assert_never

from controller.domain.explanation import Explanation, RuleWord, Word
from controller.domain.reasons import MEANINGS
from controller.render.lines import EMPTY, Line, Span, foreign, line, moment, title_of
from controller.render.plan_json import SCHEMA, Document, safe, stamp, unseen_document
from controller.render.plan_text import NO_ADVICE, unseen_lines

WIDTH = 11


def explain_lines(explanation: Explanation) -> list[Line]:
    """One block per rule; the speaking one with its reason and what a person can do."""
    head = f"{explanation.item}{title_of(explanation.title)}"
    lines = [line(Span(head, "bold"))]
    if explanation.rules:
        lines.append(EMPTY)
    for word in explanation.rules:
        lines += _rule(word)
    if explanation.unseen:
        lines += [EMPTY, line("Nothing is judged while something is unseen.")]
    lines += unseen_lines(explanation.unseen)
    return [*lines, *_end(explanation)]


def explain_document(explanation: Explanation) -> Document:
    """`explain --json`."""
    hold = explanation.in_plan
    return {
        "schema": SCHEMA,
        "item": str(explanation.item),
        "title": safe(explanation.title),
        "complete": not explanation.unseen,
        "rules": [_document(word) for word in explanation.rules],
        "waits": None
        if hold is None
        else {
            "reason": str(hold.reason),
            "message": safe(hold.message),
            "until": stamp(hold.until),
        },
        "unseen": unseen_document(explanation.unseen),
    }


def _document(word: RuleWord) -> Document:
    return {
        "rule": word.rule,
        "sentence": word.sentence,
        "where": word.where,
        "word": word.word,
        "action": word.action or None,
        "reason": None if word.reason is None else str(word.reason),
        "message": safe(word.message),
        "until": stamp(word.until),
    }


def _mark(word: Word) -> Span:
    match word:
        case "satisfied":
            return Span("satisfied".ljust(WIDTH), "good")
        case "acts":
            return Span("ACTS".ljust(WIDTH), "start")
        case "holds":
            return Span("HOLDS".ljust(WIDTH), "warn")
        case "not reached":
            return Span("not reached".ljust(WIDTH), "dim")
    assert_never(word)


def _rule(word: RuleWord) -> list[Line]:
    lines = [line("  ", _mark(word.word), f"  {word.rule}: ", Span(word.sentence, "dim"))]
    if word.reason is None:
        return lines
    indent = " " * (WIDTH + 4)
    act = f"{word.action}, " if word.action else ""
    until = f" (until {moment(word.until)})" if word.until else ""
    said = f": {foreign(word.message)}{until}"
    lines.append(line(indent, Span(f"{act}{word.reason}", "bold"), said))
    advice = MEANINGS[word.reason].advice
    if advice != NO_ADVICE:
        lines.append(line(f"{indent}next: {advice}"))
    lines.append(line(indent, Span(f"decided in {word.where}", "dim")))
    return lines


def _end(explanation: Explanation) -> list[Line]:
    if not explanation.rules:
        return []
    hold = explanation.in_plan
    if hold is not None:
        said = f"It waits all the same: {hold.reason}: {foreign(hold.message)}"
        return [EMPTY, line(Span(said, "bold"))]
    spoke = next((w for w in explanation.rules if w.word in ("acts", "holds")), None)
    if spoke is None:
        return [EMPTY, line(Span("Every rule is satisfied.", "bold"))]
    if spoke.word == "acts":
        return [EMPTY, line(Span(f"The next tick does this: {spoke.action}.", "bold"))]
    return [EMPTY, line(Span(f"It waits: {spoke.reason}.", "bold"))]
