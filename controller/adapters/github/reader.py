"""One issue and what stands around it: text, history, people, branch, pull requests.

Called while observing an item, and by the writer to look up what a lost answer did. Implements
`ports.forge.ItemReader` and `PullReader`. Never writes, and never takes an error for an absence: a
404 counts only where the repository itself is seen.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from urllib.parse import quote

from controller.adapters.github import decode
from controller.adapters.github.answers import Reply, absent
from controller.adapters.github.edits import last_edit
from controller.adapters.github.http import Api
from controller.adapters.github.shape import Node, ShapeError
from controller.domain.forge import (
    Comment,
    Commit,
    Comparison,
    Event,
    Issue,
    Permission,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen

_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\[bot\])?")
"""Logins, those of managed users (`name_company`) and of Apps (`slug[bot]`) among them."""


class GitHubReader:
    """Reads one item. Every answer is what GitHub says now, by a conditional request."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def issue(self, item: IssueId) -> Seen[Issue]:
        """The issue now."""
        path = f"/repos/{item.repository}/issues/{item.number}"
        node = self.raw_issue(item)
        if isinstance(node, Unseen):
            return node
        try:
            if decode.is_pull(node):
                reason = f"{item} is a pull request, not an issue"
                return Unseen(source=f"GET {path}", reason=reason, code=Reason.ISSUE_NOT_FOUND)
            return decode.issue(node, item.repository)
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))

    def raw_issue(self, item: IssueId) -> Seen[Node]:
        """The issue's JSON, for the writer's look-ups."""
        path = f"/repos/{item.repository}/issues/{item.number}"
        node = self._one(path, missing=Reason.ISSUE_NOT_FOUND)
        if not isinstance(node, Unseen) or node.code != Reason.REPOSITORY_MOVED:
            return node
        # An issue that was transferred redirects as well, while its repository stays.
        if isinstance(self.repository(item.repository), Unseen):
            return node
        return node.model_copy(
            update={
                "code": Reason.ISSUE_NOT_FOUND,
                "reason": f"{item} was moved to another repository",
            }
        )

    def timeline(self, item: IssueId) -> Seen[tuple[Event, ...]]:
        """All events with an id, oldest first."""
        path = f"/repos/{item.repository}/issues/{item.number}/timeline"
        events = self._list(path, decode.event, missing=Reason.ISSUE_NOT_FOUND)
        if isinstance(events, Unseen):
            return events
        once = {(e.kind, e.id): e for e in events if e is not None}
        return tuple(sorted(once.values(), key=lambda e: e.at))

    def comments(self, repository: Repository, number: int) -> Seen[tuple[Comment, ...]]:
        """All comments of an issue or of a pull request's conversation, oldest first."""
        path = f"/repos/{repository}/issues/{number}/comments"
        comments = self._list(path, decode.comment, missing=Reason.ISSUE_NOT_FOUND)
        if isinstance(comments, Unseen):
            return comments
        once = {comment.id: comment for comment in comments}
        return tuple(sorted(once.values(), key=lambda c: (c.created_at, c.id)))

    def last_body_edit(
        self, issue: Issue, events: tuple[Event, ...], comments: tuple[Comment, ...]
    ) -> Seen[datetime | None]:
        """When the body was last edited after its creation, None = never."""
        return last_edit(self._api, issue, events, comments)

    def permission(self, repository: Repository, login: str) -> Seen[Permission]:
        """The account's role; `none` for a stranger."""
        if not _LOGIN.fullmatch(login):
            reason = f"{login[:60]!a} is no GitHub login"
            return Unseen(source=f"permission in {repository}", reason=reason)
        path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
        reply = self._api.get(path)
        if isinstance(reply, Unseen):
            return reply
        if not reply.found:
            return self._if_visible(repository, "none")
        return _shaped(f"GET {path}", reply, decode.permission)

    def repository(self, repository: Repository) -> Seen[RepositoryInfo]:
        """Default branch and state; a renamed repository is Unseen with code RepositoryMoved."""
        path = f"/repos/{repository}"
        node = self._one(path, missing=Reason.REPOSITORY_NOT_FOUND)
        if isinstance(node, Unseen):
            return node
        try:
            info = decode.repository_info(node)
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))
        if info.repository.key != repository.key:
            return Unseen(
                source=f"GET {path}",
                reason=f"the repository is {info.repository} now",
                code=Reason.REPOSITORY_MOVED,
            )
        return info

    def branch_tip(self, repository: Repository, branch: str) -> Seen[Sha | None]:
        """Tip of a branch, None when the forge says that it does not exist."""
        path = f"/repos/{repository}/git/ref/heads/{quote(branch)}"
        reply = self._api.get(path)
        if isinstance(reply, Unseen):
            return reply
        # A list is GitHub's older answer for a prefix of other names; 409 is an empty repository.
        if not reply.found or isinstance(reply.json, list):
            return self._if_visible(repository, None)
        node = Node(reply.json)
        try:
            if node["ref"].text() != f"refs/heads/{branch}":
                return self._if_visible(repository, None)
            return node["object"]["sha"].sha()
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))

    def pulls(self, item: IssueId) -> Seen[tuple[PullRequest, ...]]:
        """All pull requests from the item's branch, open and closed, oldest first."""
        path = f"/repos/{item.repository}/pulls"
        nodes = self._api.pages(
            path,
            {"head": f"{item.repository.owner}:{item.branch}", "state": "all"},
            missing=Reason.REPOSITORY_NOT_FOUND,
        )
        if isinstance(nodes, Unseen):
            return nodes
        wanted = (item.repository.key, item.branch)
        try:
            ours = [decode.pull(n) for n in nodes if decode.head_of_pull(n) == wanted]
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))
        return tuple(sorted(ours, key=lambda pull: pull.number))

    def commits(self, repository: Repository, number: int) -> Seen[tuple[Commit, ...]]:
        """Commits of a pull request, oldest first (the forge shows at most 250)."""
        path = f"/repos/{repository}/pulls/{number}/commits"
        return self._list(path, decode.commit, missing=Reason.FORGE_UNSEEN)

    def compare(self, repository: Repository, base: str, head: str) -> Seen[Comparison]:
        """How `head` stands to `base` (branch names or shas)."""
        path = f"/repos/{repository}/compare/{quote(base)}...{quote(head)}"
        # The counts are of all commits whatever the page holds.
        node = self._one(path, {"per_page": "1"}, missing=Reason.COMMIT_UNKNOWN)
        return _decoded(f"GET {path}", node, decode.comparison)

    def mergeable(self, repository: Repository, number: int) -> Seen[bool | None]:
        """Whether it merges without conflict; None while the forge is still computing."""
        path = f"/repos/{repository}/pulls/{number}"
        return _decoded(
            f"GET {path}", self._one(path, missing=Reason.FORGE_UNSEEN), decode.mergeable
        )

    def labels_of(self, repository: Repository) -> Seen[tuple[Node, ...]]:
        """The repository's labels as JSON, for the writer."""
        return self._api.pages(
            f"/repos/{repository}/labels", {}, missing=Reason.REPOSITORY_NOT_FOUND
        )

    def _one(
        self, path: str, query: Mapping[str, str] | None = None, *, missing: Reason
    ) -> Seen[Node]:
        reply = self._api.get(path, query)
        if isinstance(reply, Unseen):
            return reply
        if not reply.found:
            return absent(f"GET {path}", reply, missing)
        return Node(reply.json)

    def _list[T](
        self, path: str, shape: Callable[[Node], T], *, missing: Reason
    ) -> Seen[tuple[T, ...]]:
        nodes = self._api.pages(path, {}, missing=missing)
        if isinstance(nodes, Unseen):
            return nodes
        try:
            return tuple(shape(node) for node in nodes)
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))

    def _if_visible[T](self, repository: Repository, value: T) -> Seen[T]:
        info = self.repository(repository)
        return info if isinstance(info, Unseen) else value


def _shaped[T](source: str, reply: Reply, shape: Callable[[Node], T]) -> Seen[T]:
    return _decoded(source, Node(reply.json), shape)


def _decoded[T](source: str, node: Seen[Node], shape: Callable[[Node], T]) -> Seen[T]:
    if isinstance(node, Unseen):
        return node
    try:
        return shape(node)
    except ShapeError as error:
        return Unseen(source=source, reason=str(error))
