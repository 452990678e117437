"""The sections of the order table: `[orders]`, its windows, its Codex and the one Chrome.

Made by `controller.config.load`; read by bootstrap and the queue commands.
"""

from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, Strict, ValidationInfo, field_validator

from controller.config.fields import (
    Duration,
    Effort,
    Line,
    LoopbackUrl,
    Model,
    Place,
    Section,
    Span,
    TimeOfDay,
    Timezone,
    UrlPatterns,
    Words,
)

type Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Window(Section):
    """Reserved time: nothing is sent from `start` up to, not including, `end`."""

    start: TimeOfDay
    end: TimeOfDay
    """Before `start` means on the next day; `days` names the day on which the window opens."""
    timezone: Timezone
    line: Line | None = None
    """Rows of this line may go inside; None: no row may."""
    days: Annotated[tuple[Day, ...], Strict(strict=False)] = DAYS

    @field_validator("end")
    @classmethod
    def _some_time(cls, value: time, info: ValidationInfo) -> time:
        if value == info.data.get("start"):
            raise ValueError("expected another time than start: the window would be empty")
        return value

    @field_validator("days")
    @classmethod
    def _some_days(cls, value: tuple[Day, ...]) -> tuple[Day, ...]:
        if not value:
            raise ValueError('expected at least one day such as "mon"')
        if len(set(value)) != len(value):
            raise ValueError("expected each day once")
        return value


class OrdersAgent(Section):
    """The Codex that carries out an order; its limits are those of `Orders`."""

    model: Model = "gpt-5.6-luna"
    effort: Effort = "medium"


class Chrome(Section):
    """The one Chrome that all rows share."""

    url: LoopbackUrl = "http://127.0.0.1:9222"
    allowed_urls: UrlPatterns = ("https://*",)


class Orders(Section):
    """The order table. That this section stands there is what makes orders wanted."""

    table: Place = Path("~/ai/queue/CHROME_QUEUE.md")
    directory: Place = Path("~/ai/queue")
    sender: Literal["codex", "companion", "command"] = "codex"
    command: Words = ()
    """argv, never a shell line; only with `sender = "command"`."""
    resource: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*:[A-Za-z0-9._-]+$")] = "chrome:main"
    retry_every: Span = timedelta(seconds=60)
    timeout: Span = timedelta(hours=2)
    pause_between: Duration = timedelta(0)
    windows: Annotated[tuple[Window, ...], Strict(strict=False)] = ()
    agent: OrdersAgent = OrdersAgent()
    chrome: Chrome = Chrome()

    @field_validator("command")
    @classmethod
    def _command(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        sender = info.data.get("sender")
        if sender == "command" and not (value and value[0].strip()):
            raise ValueError('expected a program and its arguments with sender = "command"')
        if sender in {"codex", "companion"} and value:
            raise ValueError(f'expected nothing here with sender = "{sender}"')
        if any("\0" in word for word in value):
            raise ValueError("expected words without NUL characters")
        return value
