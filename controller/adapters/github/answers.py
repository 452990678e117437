"""What an answer of the forge means: a refusal, a pause, a lost write. Words for people.

Between observation or application and GitHub: called by the reader (`http`) and the writer alike,
so that both read a rate limit the same way. Never sends anything and never shows a token.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from controller.adapters.github.shape import Json, Node
from controller.domain.reasons import Reason
from controller.domain.text import safe_text
from controller.domain.values import Unseen

MAX_PAUSE = timedelta(hours=24)
"""Longest pause that is believed; GitHub's own limits end within the hour."""
SECONDARY_PAUSE = timedelta(seconds=60)
"""GitHub's advice for a secondary limit that names no time: at least one minute."""
TOKEN = re.compile(r"[\x21-\x7e]+")
"""What can stand in an Authorization header; anything else is no token and is never sent."""

_SHOWN = 300
_LIMIT_WORDS = (
    "secondary rate limit",
    "api rate limit exceeded",
    "abuse detection",
    "please retry your request again later",
    "please wait a few minutes before you try again",
)


class Reply(NamedTuple):
    """An answer that says something: 200, or one of the absences 404, 409 and 410."""

    status: int
    json: Json
    next: str | None = None

    @property
    def found(self) -> bool:
        """Whether what was asked for is there."""
        return self.status == 200  # noqa: PLR2004 - HTTP


class LostAnswerError(Exception):
    """A write was sent and no usable answer came back: it may or may not have happened."""


class RefusedError(Exception):
    """The forge refused a write for good. `code` is a reason code, `status` its HTTP status."""

    def __init__(self, sentence: str, *, status: int, code: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


class RedirectedError(Exception):
    """The forge wants the request at another address. Nothing was done under either name."""


def one_line(text: str, *, hide: str = "") -> str:
    """`text` as one safe line of at most 300 characters, with `hide` (the token) blotted out."""
    return safe_text(text.replace(hide, "***") if hide else text, limit=_SHOWN).strip()


def refusal(status: int, message: str) -> tuple[Reason, str]:
    """Reason code and sentence of an answer that is neither success nor pause."""
    said = f": {message}" if message else ""
    match status:
        case 401:
            return Reason.TOKEN_REFUSED, f"the token was refused (401){said}"
        case 403:
            return Reason.ACCESS_DENIED, f"the token may not do this (403){said}"
        case _:
            return Reason.FORGE_UNSEEN, f"answered {status}{said}"


def absent(source: str, reply: Reply, code: Reason) -> Unseen:
    """What the forge says is not there, where that is no answer to the question."""
    message = Node(reply.json).maybe("message")
    said = f": {message.value}" if message is not None and message.value else ""
    return Unseen(source=source, reason=f"answered {reply.status}{said}", code=code)


def limited(source: str, reason: str, until: datetime) -> Unseen:
    """What a pause leaves unread."""
    return Unseen(source=source, reason=reason, until=until, code=Reason.RATE_LIMITED)


def pause_asked(
    status: int, headers: Mapping[str, str], message: str, now: datetime
) -> datetime | None:
    """Until when the forge wants silence, None when this answer asks for no pause.

    `headers` have lower-case names. Order as documented by GitHub: `Retry-After`, else the reset
    of a used-up primary limit, else a minute for whatever speaks of a limit.
    """
    if status not in (403, 429):
        return None
    wait = _retry_after(headers, now)
    if wait is None and headers.get("x-ratelimit-remaining") == "0":
        wait = _until_reset(headers, now) or SECONDARY_PAUSE
    if wait is None and (status == 429 or speaks_of_limit(message)):  # noqa: PLR2004 - HTTP
        wait = SECONDARY_PAUSE
    if wait is None:
        return None
    return now + min(max(wait, timedelta(seconds=1)), MAX_PAUSE)


def speaks_of_limit(message: str) -> bool:
    """Whether the forge's sentence is one of a rate limit (GitHub sends no code for it)."""
    folded = message.lower()
    return any(words in folded for words in _LIMIT_WORDS)


def _retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    seconds = _digits(value)
    if seconds is not None:
        return timedelta(seconds=seconds)
    moment = _http_date(value)
    return None if moment is None else moment - (_http_date(headers.get("date", "")) or now)


def _until_reset(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    seconds = _digits(headers.get("x-ratelimit-reset", "").strip())
    if seconds is None:
        return None
    # The reset is a time of the forge's clock, so it is compared with the forge's own Date.
    reset = datetime.fromtimestamp(seconds, UTC)
    return reset - (_http_date(headers.get("date", "")) or now) + timedelta(seconds=1)


def _digits(value: str) -> int | None:
    # Eleven digits hold every Unix time that datetime can express.
    if not re.fullmatch(r"[0-9]{1,11}", value):
        return None
    return int(value)


def _http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
