"""A tick for people, while it goes on: one line per outcome, and where it came to rest.

Called by `toban run-once` for every outcome as it happens. Pure.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from controller.domain.actions import Action, ShowPhase, StartAgent
from controller.domain.outcome import Outcome, Result
from controller.domain.plan import Hold, Plan
from controller.domain.reasons import MEANINGS
from controller.render.lines import (
    EMPTY,
    LONGEST,
    Line,
    Span,
    Style,
    count,
    foreign,
    line,
    moment,
    title_of,
)
from controller.render.plan_text import NO_ADVICE, nothing, symbol, unseen_lines, waits

AGENT_LINE = 200
WORDS: Mapping[Result, str] = {
    "Applied": "done",
    "AlreadyTrue": "was so already",
    "Skipped": "no longer needed",
    "Deferred": "not now",
    "Failed": "failed",
    "Refused": "refused, for a human to judge",
}


def outcome_line(outcome: Outcome) -> Line:
    """What became of one action."""
    mark, action = symbol(outcome.action), outcome.action
    said = foreign(outcome.message or action.message, LONGEST)
    reason = f"{outcome.reason}: " if outcome.reason is not None else ""
    until = f" (until {moment(outcome.until)})" if outcome.until else ""
    return line(
        mark,
        f" {action.item} {action.kind}{particular(action)}: ",
        Span(WORDS[outcome.result], style_of(outcome.result)),
        f"; {reason}{said}{until}",
    )


def particular(action: Action) -> str:
    """What tells two actions of one kind apart."""
    match action:
        case StartAgent():
            again = f", attempt {action.attempt}" if action.attempt > 1 else ""
            return f" ({action.task.phase}{again})"
        case ShowPhase():
            return f" ({action.label})"
        case _:
            return ""


def style_of(result: Result) -> Style:
    """How an outcome stands out."""
    match result:
        case "Applied" | "AlreadyTrue":
            return "good"
        case "Skipped":
            return "dim"
        case "Deferred":
            return "warn"
        case "Failed" | "Refused":
            return "bad"
    assert_never(result)


def agent_line(text: str) -> Line:
    """One event of a running agent."""
    return line(Span(f"    | {foreign(text, AGENT_LINE)}", "dim"))


def end_lines(
    outcomes: Iterable[Outcome],
    *,
    rest: Hold | None,
    plan: Plan,
    titles: Mapping[str, str],
    stopped: bool = False,
) -> list[Line]:
    """Where the tick came to rest, why the others wait, and one line to sum it up."""
    done = [each for each in outcomes if each.result == "Applied"]
    bad = [each for each in outcomes if each.result in ("Failed", "Deferred", "Refused")]
    lines: list[Line] = []
    if stopped:
        lines.append(line(Span("Stopped as asked; the work is kept.", "bold")))
    elif rest is not None:
        lines += _rest(rest, titles)
    elif not done and not bad:
        lines.append(nothing(plan))
    resting = rest.item.key if rest is not None else None
    lines += waits([hold for hold in plan.holds if hold.item.key != resting], titles)
    lines += unseen_lines(plan.unseen)
    summary = (
        f"Tick: {count(len(done), 'action')} done, {len(bad)} not done, "
        f"{len(plan.holds)} waiting, {len(plan.unseen)} unseen."
    )
    return [*lines, EMPTY, line(Span(summary, "bold"))]


def _rest(rest: Hold, titles: Mapping[str, str]) -> list[Line]:
    meaning = MEANINGS[rest.reason]
    title = title_of(titles.get(rest.item.key, ""))
    until = f" (until {moment(rest.until)})" if rest.until else ""
    head = line(
        Span(f"{rest.item}{title} rests: ", "bold"),
        f"{rest.reason}: {foreign(rest.message)}{until}",
    )
    advice = line(Span(f"  next: {meaning.advice}", "dim"))
    return [head] if meaning.advice == NO_ADVICE else [head, advice]
