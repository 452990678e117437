"""The two shapes on which every other value stands: a frozen value, and a source not seen.

Used everywhere; imports nothing of ours and does no I/O.
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value without surprises: unknown fields are refused, equality is by content."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Unseen(Value):
    """A source that could not be read. Never an empty answer: an error is not an absence."""

    source: str
    """What was asked, for instance `GET /repos/octo/a/issues` or `git ls-remote octo/a`."""
    reason: str
    """One sentence for people, already free of secrets."""
    until: datetime | None = None
    """When asking again makes sense (a rate limit's end); None when nothing is known."""
    code: str = "ForgeUnseen"
    """Reason code under which a hold shows it (see `controller.domain.reasons`)."""


type Seen[T] = T | Unseen
"""Either what a source answered, or the reason why it did not."""
