"""A plan for people: what would be done and why, why everything else waits, what was not seen.

Called by `toban plan` and at the end of `run-once`. Pure: the same plan is the same text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from controller.domain import actions as a
from controller.domain.plan import Hold, Plan
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.render.lines import EMPTY, Line, Span, Style, count, foreign, line, moment, title_of

NO_ADVICE = "nothing to do"
RISKS: Mapping[a.Risk, str] = {
    "none": "nothing outside",
    "disk": "writes on this disk only",
    "forge": "writes on GitHub",
    "agent": "starts Codex in its sandbox",
}
_CODES = frozenset(str(reason) for reason in Reason)
MOST = 20
"""Items of one reason that are named; `--json` has all of them."""
LONGEST_STEP = 120


def plan_lines(plan: Plan, titles: Mapping[str, str]) -> list[Line]:
    """The whole plan. `titles` has the issues' titles by `IssueId.key`, hostile text."""
    lines: list[Line] = []
    if plan.actions:
        lines.append(line(Span("toban would do this now:", "bold")))
        for action in plan.actions:
            lines += [EMPTY, *_action(action, titles)]
        if plan.then:
            lines += [EMPTY, *_then(plan.then)]
    else:
        lines.append(nothing(plan))
    lines += waits(plan.holds, titles)
    lines += unseen_lines(plan.unseen)
    lines += [EMPTY, line(Span(summary(plan), "bold"))]
    return lines


def nothing(plan: Plan) -> Line:
    """What is said instead of actions."""
    if plan.complete:
        return line(Span("Nothing to do.", "bold"))
    return line(Span("Nothing to do among what could be seen.", "bad"))


def summary(plan: Plan) -> str:
    """One line to sum it up: `Plan: 1 action, 3 waiting, 0 unseen.`."""
    return (
        f"Plan: {count(len(plan.actions), 'action')}, {len(plan.holds)} waiting, "
        f"{len(plan.unseen)} unseen."
    )


def symbol(action: a.Action) -> Span:
    """`+` makes something, `~` changes something, `>` starts Codex, `-` takes something away."""
    match action:
        case a.Claim() | a.Explain() | a.CreateWorktree() | a.OpenPullRequest() | a.RecordVerdict():
            return Span("+", "create")
        case (
            a.Block()
            | a.FetchSource()
            | a.PrepareWorktree()
            | a.ImportChange()
            | a.PublishCommit()
            | a.ShowPhase()
            | a.HandOver()
        ):
            return Span("~", "change")
        case a.StartAgent():
            return Span(">", "start")
        case a.RemoveWorktree():
            return Span("-", "remove")
    assert_never(action)


def what(action: a.Action) -> str:
    """What an action of this kind does, in one sentence."""
    return (action.__doc__ or action.kind).strip().partition("\n")[0]


def particulars(action: a.Action) -> str:
    """What this one action is about, empty when its item says it all."""
    match action:
        case a.StartAgent():
            model = f"{action.model.model} ({action.model.effort})"
            return (
                f"{action.task.phase}, attempt {action.attempt}, {model}, "
                f"at most {action.model.timeout_s / 60:g} min, on {action.head[:12]}"
            )
        case a.ShowPhase():
            return action.label
        case a.CreateWorktree():
            return action.at[:12]
        case a.PublishCommit():
            change = action.change
            files = count(change.files, "file")
            return f"{change.sha[:12]}: {files}, +{change.added_lines} -{change.removed_lines}"
        case a.HandOver() | a.RecordVerdict():
            return f"pull request #{action.pull}"
        case a.FetchSource() | a.OpenPullRequest():
            return f"base {foreign(action.base_branch)}"
        case _:
            return ""


def _action(action: a.Action, titles: Mapping[str, str]) -> list[Line]:
    mark = symbol(action)
    title = title_of(titles.get(action.item.key, ""))
    return [
        line("  ", mark, " ", Span(action.kind, mark.style), f"  {action.item}{title}"),
        line(f"      what  {what(action)}"),
        *([line(f"            {about}")] if (about := particulars(action)) else []),
        line(f"      why   {action.reason}: {foreign(action.message)}"),
        line(f"      risk  {RISKS[action.risk]}"),
    ]


def _then(names: tuple[str, ...]) -> Iterator[Line]:
    """The conditions that follow, folded at a comfortable width."""
    rest = list(names)
    head = "  then: "
    while rest:
        taken = [rest.pop(0)]
        while rest and len(head) + len(", ".join([*taken, rest[0]])) <= LONGEST_STEP:
            taken.append(rest.pop(0))
        yield line(Span(head + ", ".join(taken) + ("," if rest else ""), "dim"))
        head = " " * len(head)


def waits(holds: Iterable[Hold], titles: Mapping[str, str]) -> list[Line]:
    """Everything that waits, by reason in the order of first appearance; empty for no holds."""
    groups: dict[Reason, list[Hold]] = {}
    for hold in holds:
        groups.setdefault(hold.reason, []).append(hold)
    lines: list[Line] = []
    for reason, held in groups.items():
        lines += [EMPTY] if lines else [EMPTY, line(Span("Waiting:", "bold"))]
        lines += _group(reason, held, titles)
    return lines


def _group(reason: Reason, held: list[Hold], titles: Mapping[str, str]) -> Iterator[Line]:
    meaning = MEANINGS[reason]
    style: Style = "warn" if meaning.advice != NO_ADVICE else ""
    yield line("  ", Span(reason, style), f": {meaning.text}")
    if meaning.advice != NO_ADVICE:
        yield line(Span(f"    next: {meaning.advice}", "dim"))
    for hold in held[:MOST]:
        said = "" if hold.message == meaning.text else f": {foreign(hold.message)}"
        until = f" (until {moment(hold.until)})" if hold.until else ""
        yield line(f"    {hold.item}{title_of(titles.get(hold.item.key, ''))}{said}{until}")
    if len(held) > MOST:
        yield line(f"    and {len(held) - MOST} more (--json names all)")


def unseen_lines(unseen: Iterable[Unseen]) -> list[Line]:
    """What could not be seen, and what a person can do about it; empty for nothing."""
    lines: list[Line] = []
    for each in unseen:
        until = f" (until {moment(each.until)})" if each.until else ""
        source = Span(foreign(each.source), "bad")
        lines.append(line("  ", source, f": {foreign(each.reason)}{until}"))
        meaning = MEANINGS.get(Reason(each.code)) if each.code in _CODES else None
        if meaning is not None and meaning.advice != NO_ADVICE:
            lines.append(line(Span(f"    next: {meaning.advice}", "dim")))
    head = line(Span("Not seen (an error is not an absence):", "bold"))
    return [EMPTY, head, *lines] if lines else []
