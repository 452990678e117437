"""`toban run-once`: one tick of issues under the workload's lock, told as it goes.

Called by `controller.cli.app`, and by `serve` as a fresh process for every tick. The first SIGTERM,
SIGINT or SIGHUP ends the running agent, lets the present act finish, and begins no other.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from controller import bootstrap
from controller.cli import exits
from controller.cli.app import Only
from controller.cli.logs import Log
from controller.cli.plan import titles
from controller.cli.screen import Screen, show_json
from controller.cli.session import asked_for, open_config, want_issues
from controller.domain.ids import IssueId
from controller.domain.outcome import Outcome
from controller.render.lines import line
from controller.render.plan_json import tick_document
from controller.render.progress import agent_line, end_lines, outcome_line
from controller.runtime.stragglers import end_stragglers
from controller.runtime.tick import Tick, Told, run_issues

WORKLOAD = "issues"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Stop:
    """Whether toban was told to stop, and by which signal."""

    def __init__(self) -> None:
        self.by: int | None = None

    def asked(self) -> bool:
        """Whether a signal has come."""
        return self.by is not None


class _Voice(NamedTuple):
    outcome: Callable[[Outcome], None]
    line: Callable[[str], None]
    note: Callable[[str], None]


def run_once(
    path: Path | None, *, only: Only | None, item: str | None, as_json: bool, verbose: bool
) -> int:
    """Run the command; returns the exit code."""
    workload, ref = asked_for(only, item)
    config = open_config(path)
    issue = want_issues(config, workload, ref)
    log = Log(verbose=verbose)
    screen = None if as_json else Screen()
    voice = _logged(_voice(screen), log)
    stop = Stop()
    ports = bootstrap.issues(config, writes=True)
    with bootstrap.locks(config).hold(WORKLOAD):
        log.info("tick_started", workload=WORKLOAD, item=str(issue) if issue else None)
        tick = _tick(ports, issue, voice, stop)
        log.info("tick_ended", outcomes=len(tick.outcomes), complete=tick.seen.plan.complete)
    if screen is None:
        show_json(tick_document(tick.outcomes, rest=tick.rest, plan=tick.seen.plan))
    else:
        screen.show(
            end_lines(
                tick.outcomes,
                rest=tick.rest,
                plan=tick.seen.plan,
                titles=titles(tick.seen),
                stopped=stop.asked(),
            )
        )
    return code_of(tick, stop)


def code_of(tick: Tick, stop: Stop) -> int:
    """SIGTERM is obeyed and therefore no error; other signals have their usual codes."""
    if stop.by is not None:
        return exits.OK if stop.by == signal.SIGTERM else exits.SIGNALLED + stop.by
    return exits.OK if tick.well else exits.FAILED


def _tick(ports: bootstrap.Issues, issue: IssueId | None, voice: _Voice, stop: Stop) -> Tick:
    writers = ports.writers()
    with obeying(stop, writers.agents.stop):
        for ended in end_stragglers(ports.readers, writers):
            voice.note(f"ended what a killed tick had left: {ended}")
        told = Told(outcome=voice.outcome, line=voice.line, stopping=stop.asked)
        return run_issues(ports.readers, writers, told, only=issue)


def _voice(screen: Screen | None) -> _Voice:
    """Outcomes as they happen; an agent's own events only where a person may be watching."""
    if screen is None:
        return _Voice(lambda _: None, lambda _: None, lambda _: None)

    def line_of(text: str) -> None:
        if screen.is_terminal:
            screen.show([agent_line(text)])

    return _Voice(
        outcome=lambda outcome: screen.show([outcome_line(outcome)]),
        line=line_of,
        note=lambda text: screen.show([line(text)]),
    )


def _logged(voice: _Voice, log: Log) -> _Voice:
    """The same voice, with every outcome and note in the log beside it."""

    def outcome(each: Outcome) -> None:
        action = each.action
        log.info(
            "outcome",
            item=str(action.item),
            kind=action.kind,
            result=each.result,
            reason=str(each.reason or action.reason),
            message=each.message,
        )
        voice.outcome(each)

    def note(text: str) -> None:
        log.info("straggler_ended", what=text)
        voice.note(text)

    return voice._replace(outcome=outcome, note=note)


@contextmanager
def obeying(stop: Stop, end_agent: Callable[[], None]) -> Iterator[None]:
    """Obey the first signal after the present act, a second one at once."""

    def obey(number: int, _frame: FrameType | None) -> None:
        if stop.asked():
            raise KeyboardInterrupt
        stop.by = number
        end_agent()

    before = {number: signal.signal(number, obey) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
