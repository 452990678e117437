"""`toban demo`: four issues from the label to their end, on this machine alone, in under a minute.

Called by `controller.cli.demo`. Builds the stage, starts toban's own commands as processes until
everything rests, shows what came of it, and says 0 only if all of it came as it had to. Needs no
account; nothing leaves loopback.
"""

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from controller.cli.exits import ACTIONS, FAILED, OK
from controller.cli.screen import Screen
from controller.demo import words
from controller.demo.endings import Ending, endings
from controller.demo.model import ScriptedModel
from controller.demo.stage import Stage
from controller.demo.story import REPOSITORY, Story, script, stories
from controller.render.lines import EMPTY

MAX_TICKS = 8
"""Twice the number of issues: a story that needs more is not coming to an end."""
MOVING = frozenset({"agent:ready", "agent:working", "agent:review", "agent:rework"})
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Stopped(BaseException):
    """Somebody ends the demo. Beside Exception, so that nothing takes it for an error."""


def run(*, keep: bool) -> int:
    """Play the demo; with `keep` stay until a signal comes. Returns the exit code."""
    screen, told = Screen(), stories()
    folder = tempfile.TemporaryDirectory(prefix="toban-demo-", delete=False)
    code, kept = FAILED, False
    with _signals():
        try:
            with Stage(Path(folder.name).resolve(), ScriptedModel(script(told))) as stage:
                if _ready(stage, screen, told):
                    code, kept = _play(stage, screen, told), keep
                    screen.show(words.invitation(stage) if keep else words.onward())
                    if keep:
                        _wait()
        except _Stopped:
            screen.show([EMPTY, words.stopped(Path(folder.name) if kept else None)])
        finally:
            _ignore_signals()
            if not kept:
                folder.cleanup()
    return code


def _ready(stage: Stage, screen: Screen, told: tuple[Story, ...]) -> bool:
    """Say what will be seen, build the world, and try the sandbox; False ends the demo."""
    if shutil.which("git") is None:
        screen.show(words.no_git())
        return False
    screen.show(words.introduction(told))
    broken = stage.sandbox()
    if broken is not None:
        screen.show(words.no_sandbox(broken.reason))
        return False
    stage.build(told)
    return True


def _play(stage: Stage, screen: Screen, told: tuple[Story, ...]) -> int:
    """Everything from the first plan to the last check."""
    begun = time.monotonic()
    odd: list[str] = []

    def toban(*arguments: str, expected: int = OK, quiet: bool = False) -> None:
        if not quiet:
            screen.show(words.command(*arguments))
        code = stage.toban(*arguments, quiet=quiet)
        if code != expected:
            odd.append(f"`toban {' '.join(arguments)}` ended with {code} instead of {expected}")

    toban("plan", expected=ACTIONS)
    for _ in range(MAX_TICKS):
        if odd or not _moving(stage, told):
            break
        toban("run-once")
    toban("plan", quiet=True)
    toban("status")
    screen.show(words.proposal(stage, told[0]))
    found = (
        *endings(stage, told),
        Ending("every command ended well, and `toban plan` has nothing left to do", tuple(odd)),
    )
    screen.show(words.judgement(found, seconds=time.monotonic() - begun))
    return FAILED if any(each.wrong for each in found) else OK


def _moving(stage: Stage, told: tuple[Story, ...]) -> bool:
    """Whether the labels say that something is still to be done."""
    labels = (stage.world.labels(REPOSITORY, story.number) for story in told)
    return any(not MOVING.isdisjoint(each) for each in labels)


@contextmanager
def _signals() -> Iterator[None]:
    """The first signal raises `_Stopped` wherever we are; later ones do not disturb the end."""

    def obey(_number: int, _frame: FrameType | None) -> None:
        _ignore_signals()
        raise _Stopped

    before = {number: signal.signal(number, obey) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _wait() -> None:
    """Until a signal raises `_Stopped`."""
    while True:
        signal.pause()
