"""How a run ended, judged from our own clock, the exit code, the event stream and its messages.

Used by `controller.adapters.codex.runner`; pure. Codex has no error codes: its sentences are the
only evidence, so each is matched here and nowhere else.
"""

import re
from datetime import datetime, timedelta

from controller.domain.runs import RunEnd
from controller.domain.text import safe_text
from controller.domain.values import Value

MESSAGE_LIMIT = 400


class Evidence(Value):
    """What is known about an ended run."""

    ended: str
    """Of `supervise.Ended`; `asked` = the model's address never answered."""
    code: int
    completed: bool
    failure: str | None
    last_error: str | None
    last_message: str
    started: bool
    """Whether a thread was begun."""
    stderr: str
    """Its tail."""


class Judgement(Value):
    """The end of a run and why, for people and for the pause."""

    end: RunEnd
    message: str
    resume_at: datetime | None = None


_LIMIT = re.compile(
    r"usage limit|upgrade to (?:plus|pro|max)|quota exceeded|exceeded your .*quota"
    r"|insufficient_quota|rate limit|429 too many requests|out of credits|more credits",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"401 unauthorized|403 forbidden|not logged in|log ?in again|sign in again|token.{0,20}expired"
    r"|refresh token",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"waiting for network|connection failed|error sending request|high demand|at capacity"
    r"|overloaded|unexpected status 5\d\d|\b50[0234]\b (?:internal|bad|service|gateway)"
    r"|timed out connecting|dns error",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"missing environment variable", re.IGNORECASE)
_NO_THREAD = re.compile(r"no rollout found|thread not found", re.IGNORECASE)
_CONTEXT = re.compile(r"context window|context_length_exceeded", re.IGNORECASE)

_BY_CLOCK: dict[str, tuple[RunEnd, str]] = {
    "timeout": ("timeout", "it ran longer than its timeout and was ended"),
    "silent": ("silent", "it said nothing for longer than its silence limit and was ended"),
    "stopped": ("stopped", "it was ended because toban was told to stop"),
    "flood": ("incomplete", "it wrote more than a run may write and was ended"),
}
USAGE_ERROR = 2
"""Exit code of Codex for flags that it does not know."""


def judge(evidence: Evidence, *, now: datetime) -> Judgement:
    """The end of a run. `now` carries a time zone, the one in which Codex names clock times."""
    if evidence.ended in _BY_CLOCK:
        end, message = _BY_CLOCK[evidence.ended]
        return Judgement(end=end, message=message)
    whole = (
        evidence.code == 0
        and evidence.completed
        and evidence.failure is None
        and bool(evidence.last_message.strip())
    )
    if whole and evidence.ended == "itself":
        return Judgement(end="complete", message="it answered")
    # Once it runs, stderr quotes the model, which must not be able to feign a usage limit.
    stderr = "" if evidence.started else _first_error(evidence.stderr)
    said = evidence.failure or evidence.last_error or stderr
    safe = safe_text(said, limit=MESSAGE_LIMIT)
    if not evidence.completed:
        return _by_message(said, safe, evidence, now)
    if evidence.code == 0 and evidence.failure is None:
        return Judgement(end="incomplete", message="it ended without a final message")
    return Judgement(
        end="incomplete", message=f"it ended with exit code {evidence.code}: {safe}".rstrip(": ")
    )


def _first_error(stderr: str) -> str:
    """From the first line that begins with `Error` on: warnings may stand before it."""
    found = re.search(r"^error\b.*", stderr, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    return (found[0] if found else stderr).strip()


def _by_message(said: str, safe: str, evidence: Evidence, now: datetime) -> Judgement:
    if _LIMIT.search(said):
        return Judgement(
            end="usage-limit", message=f"usage limit: {safe}", resume_at=resume_time(said, now=now)
        )
    if _LOGIN.search(said):
        return Judgement(
            end="unreachable",
            message=f"the model refused the login (run `codex login` as toban's user): {safe}",
        )
    if evidence.ended == "asked" or _AWAY.search(said):
        return Judgement(end="unreachable", message=f"the model is not reachable: {safe}")
    if _NO_KEY.search(said):
        return Judgement(end="not-started", message=f"codex could not start: {safe}")
    if _NO_THREAD.search(said):
        return Judgement(end="incomplete", message=f"its thread is gone: {safe}")
    if evidence.code == USAGE_ERROR or (not evidence.started and evidence.code > 0):
        said_or_code = safe or f"exit code {evidence.code} and no word"
        return Judgement(end="not-started", message=f"codex could not start: {said_or_code}")
    if _CONTEXT.search(said):
        return Judgement(end="incomplete", message=f"the task is too long for the model: {safe}")
    how = f"signal {-evidence.code}" if evidence.code < 0 else f"exit code {evidence.code}"
    return Judgement(end="incomplete", message=f"it ended early ({how}): {safe}".removesuffix(": "))


_CLOCK = re.compile(
    r"again at (?:(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?,? "
    r"(?P<year>\d{4}),? )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s?(?P<half>[AP]M)?",
    re.IGNORECASE,
)
_IN = re.compile(
    r"again in ((?:\d{1,4} (?:day|hour|minute|second)s?[ ,]*(?:and )?)+)", re.IGNORECASE
)
_PART = re.compile(r"(\d+) (day|hour|minute|second)", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
JUST_PASSED = timedelta(minutes=10)
"""A clock time so short ago is this one, not tomorrow's: the message names whole minutes."""
SOON = timedelta(minutes=2)
HOURS, NOON = 24, 12


def resume_time(said: str, *, now: datetime) -> datetime | None:
    """When a usage limit ends, read from Codex's sentence; None when it names no time."""
    if pause := _IN.search(said):
        parts = {unit.lower(): int(count) for count, unit in _PART.findall(pause[1])}
        return now + timedelta(
            days=parts.get("day", 0),
            hours=parts.get("hour", 0),
            minutes=parts.get("minute", 0),
            seconds=parts.get("second", 0),
        )
    clock = _CLOCK.search(said)
    if clock is None:
        return None
    try:
        return _clock_time(clock, now)
    except ValueError:
        return None


def _clock_time(clock: re.Match[str], now: datetime) -> datetime:
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % NOON + (NOON if clock["half"].upper() == "PM" else 0)
    local = now.replace(hour=hour, minute=int(clock["minute"]), second=0, microsecond=0)
    if clock["month"]:
        month = _MONTHS.index(clock["month"].lower()) + 1
        return local.replace(year=int(clock["year"]), month=month, day=int(clock["day"]))
    if local > now:
        return local
    return now + SOON if now - local <= JUST_PASSED else local + timedelta(days=1)
