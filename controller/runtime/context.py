"""What an act has at hand: the action's item as it was just seen, the ports, and a voice.

Made by `controller.runtime.tick` for every action; used by `controller.runtime.apply_*`.
"""

from collections.abc import Callable
from typing import NamedTuple

from controller.domain.actions import Action
from controller.domain.forge import Comment
from controller.domain.ids import IssueId
from controller.domain.outcome import Outcome
from controller.domain.reasons import Reason
from controller.domain.tokens import redact
from controller.domain.values import Unseen
from controller.ports.records import Posted
from controller.runtime.look import body_digest
from controller.runtime.tools import Readers, Writers
from controller.workloads.issues.facts import IssueFacts


class Context(NamedTuple):
    """One look at the item, and all ports."""

    facts: IssueFacts
    r: Readers
    w: Writers
    tell: Callable[[str], None]
    """Gets one safe line per event of a running agent."""

    @property
    def item(self) -> IssueId:
        """The item that is acted on."""
        return self.facts.item

    def harmless(self, text: str) -> str:
        """What an agent or command said, without tokens of any known shape or of this host."""
        return redact(text, self.w.settings.limits.secrets)

    def title(self) -> str:
        """The issue's title, hostile text; empty when it was not seen."""
        return "" if isinstance(self.facts.issue, Unseen) else self.facts.issue.title

    def post(self, number: int, *, body: str) -> Comment:
        """Post a record of ours once, and remember its id so that a stale list is noticed.

        The body's first line is the record's marker.
        """
        marker = body.partition("\n")[0]
        comment = self.w.forge.comment(self.item.repository, number, body=body, marker=marker)
        digest = body_digest(comment.body)
        now = self.r.clock.now()
        self.w.records.note_posted(
            self.item, Posted(number=number, comment=comment.id, body=digest, at=now)
        )
        return comment


def applied(action: Action, message: str = "") -> Outcome:
    """The action was carried out."""
    return Outcome(action=action, result="Applied", message=message)


def deferred(action: Action, unseen: Unseen) -> Outcome:
    """Not now: something could not be seen, which says nothing about the item."""
    reason = Reason(unseen.code) if unseen.code in set(Reason) else Reason.FORGE_UNSEEN
    message = f"{unseen.source}: {unseen.reason}"
    return Outcome(
        action=action, result="Deferred", reason=reason, message=message, until=unseen.until
    )


def refused(action: Action, reason: Reason, message: str) -> Outcome:
    """Only a human can judge this: the item becomes blocked with this reason."""
    return Outcome(action=action, result="Refused", reason=reason, message=message)


def failed(action: Action, reason: Reason, message: str) -> Outcome:
    """It did not work; the next tick looks again."""
    return Outcome(action=action, result="Failed", reason=reason, message=message)
