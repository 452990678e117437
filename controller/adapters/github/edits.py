"""When an issue's body was last edited: from GraphQL, else from the issue's own times.

Called by the reader. REST has no event for an edited body, and an edit that was put back counts
too, so the history of edits is asked for and never the text compared. Sends queries only.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from controller.adapters.github.answers import pause_asked, speaks_of_limit
from controller.adapters.github.http import Api
from controller.adapters.github.shape import Node, ShapeError
from controller.domain.forge import Comment, Event, Issue
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen

# Both ends of the history: GitHub does not document its order.
QUERY = """
query BodyEdits($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      lastEditedAt
      oldest: userContentEdits(first: 1) { nodes { editedAt } }
      newest: userContentEdits(last: 1) { nodes { editedAt } }
    }
  }
}
""".strip()

_SOURCE = "POST /graphql"
_NO_SUCH_FIELD = ("doesn't exist on type", "cannot query field")
"""How GitHub's servers and graphql-core say that a schema lacks a field."""


def last_edit(
    api: Api, issue: Issue, events: Iterable[Event], comments: Iterable[Comment]
) -> Seen[datetime | None]:
    """The last edit of the body after its creation, None = never. See `ports.forge`."""
    repository = issue.item.repository
    reply = api.query(
        QUERY,
        {"owner": repository.owner, "name": repository.name, "number": issue.item.number},
    )
    if isinstance(reply, Unseen):
        return reply
    if not reply.found:
        return unexplained_update(issue, events, comments)
    try:
        answer = Node(reply.json)
        errors = answer.maybe("errors")
        if errors is not None:
            trouble = _trouble(errors, api)
            return unexplained_update(issue, events, comments) if trouble == "unserved" else trouble
        found = answer["data"]["repository"]["issue"]
        times = [t for t in _times(found) if t > issue.created_at]
    except ShapeError as error:
        return Unseen(source=_SOURCE, reason=str(error))
    return max(times, default=None)


def unexplained_update(
    issue: Issue, events: Iterable[Event], comments: Iterable[Comment]
) -> datetime | None:
    """The issue's `updated_at` where no event and no comment explains it, else None.

    The rule for a forge without GraphQL. It sees too many edits rather than too few: other changes
    move `updated_at` too, and then somebody labels the issue again.
    """
    explained = [issue.created_at]
    explained.extend(event.at for event in events)
    for comment in comments:
        explained += (comment.created_at, comment.updated_at)
    return issue.updated_at if issue.updated_at > max(explained) else None


def _times(found: Node) -> Iterable[datetime]:
    last = found.maybe("lastEditedAt")
    if last is not None:
        yield last.time()
    for end in ("oldest", "newest"):
        history = found.maybe(end)
        nodes = None if history is None else history.maybe("nodes")
        for entry in () if nodes is None else nodes.entries():
            yield entry["editedAt"].time()


def _trouble(errors: Node, api: Api) -> Unseen | Literal["unserved"]:
    entries = list(errors.entries())
    messages = [entry["message"].text() for entry in entries]
    kinds = {kind.value for entry in entries if (kind := entry.maybe("type")) is not None}
    said = api.clean("; ".join(messages))
    # GraphQL answers a limit with status 200, so it is read as the 429 that it is.
    if "RATE_LIMITED" in kinds or any(map(speaks_of_limit, messages)):
        now = api.pause.now()
        until = api.pause.ask(pause_asked(429, {}, said, now) or now)
        return Unseen(source=_SOURCE, reason=said, until=until, code=Reason.RATE_LIMITED)
    if messages and all(any(w in m.lower() for w in _NO_SUCH_FIELD) for m in messages):
        return "unserved"
    if "NOT_FOUND" in kinds:
        return Unseen(source=_SOURCE, reason=said, code=Reason.ISSUE_NOT_FOUND)
    if "FORBIDDEN" in kinds:
        return Unseen(source=_SOURCE, reason=said, code=Reason.ACCESS_DENIED)
    return Unseen(source=_SOURCE, reason=said or "answered with errors without a message")
