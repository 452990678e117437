"""Every change on GitHub: labels, comments, the pull request, the assignee.

Called by runtime's apply, one call an action. Sends through PyGithub, once; whatever a lost answer
did is looked up by a deterministic key before anything else happens. Implements
`ports.forge.ForgeWriter`. Never merges, deletes a branch, or touches a label that is not ours.
"""

from __future__ import annotations  # PyGithub is loaded at the first write only

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.adapters.github import decode
from controller.adapters.github.finder import fold
from controller.adapters.github.http import Api
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.send import Sender, need, read
from controller.adapters.github.shape import Node
from controller.domain.forge import Comment, Person, PullRequest
from controller.domain.ids import IssueId, Repository
from controller.domain.values import Seen
from controller.errors import ForgeError
from controller.ports.forge import LabelText, PullText

if TYPE_CHECKING:
    from github import Github

MAX_BODY = 65_000
"""Characters of a body; GitHub refuses more than 65,536."""
MAX_TITLE = 250
"""Characters of a title; GitHub refuses more than 256."""

_OURS = re.compile(r"agent:[a-z]+|human:review")


class GitHubWriter:
    """Writes; `identity` says who we are. The token and the pause are those of `api`."""

    def __init__(
        self,
        api: Api,
        *,
        identity: Callable[[], Seen[Person]],
        seconds_between_writes: float = 1.0,
    ) -> None:
        self._api = api
        self._identity = identity
        self._reader = GitHubReader(api)
        self._sender = Sender(api, self._reader, seconds_between_writes=seconds_between_writes)

    def close(self) -> None:
        """Close the connections; the next write opens others."""
        self._sender.close()

    def set_label(self, item: IssueId, *, label: str, remove: tuple[str, ...]) -> None:
        """Add `label` first, then take off those of `remove` that the answer shows."""
        _only_ours(label, *remove)
        names = self._add_label(item, label)
        if fold(label) not in map(fold, names):
            raise ForgeError(f"{item}: GitHub dropped the label {label}; may the token write?")
        old = {fold(name) for name in remove} - {fold(label)}
        for name in names:
            if fold(name) in old:
                self._remove_label(item, name)

    def comment(self, repository: Repository, number: int, *, body: str, marker: str) -> Comment:
        """Post a comment whose first line is `marker`, or return our own unedited one."""
        if not marker.strip() or "\n" in marker or "\r" in marker:
            raise ForgeError(f"a comment's marker is one line, not {marker!a}")
        there = self._own_comment(repository, number, marker)
        if there is not None:
            return there
        text = body if _first_line(body) == marker else f"{marker}\n{body}"

        def post(github: Github) -> Comment:
            issue = github.get_repo(str(repository)).get_issue(number)
            return decode.comment(Node(issue.create_comment(capped(text, MAX_BODY)).raw_data))

        return self._sender.send(
            repository,
            f"comment on {repository}#{number}",
            post,
            found=lambda: self._own_comment(repository, number, marker),
        )

    def open_pull(self, item: IssueId, *, base: str, text: PullText) -> PullRequest:
        """Open the pull request, or return our own open one."""
        there = self._open_pull(item)
        if there is not None:
            return there

        def create(github: Github) -> PullRequest:
            made = github.get_repo(str(item.repository)).create_pull(
                base,
                item.branch,
                title=capped(text.title, MAX_TITLE),
                body=capped(text.body, MAX_BODY),
            )
            return decode.pull(Node(made.raw_data))

        return self._sender.send(
            item.repository,
            f"pull request for {item}",
            create,
            found=lambda: self._open_pull(item),
            refused=lambda error: self._open_pull(item) if error.status == 422 else None,  # noqa: PLR2004 - HTTP
        )

    def assign(self, item: IssueId, *, login: str) -> bool:
        """Add an assignee; False when GitHub's answer does not show it."""

        def add(github: Github) -> bool:
            issue = github.get_repo(str(item.repository)).get_issue(item.number)
            issue.add_to_assignees(login)
            return login.lower() in {person.login.lower() for person in issue.assignees}

        return self._sender.send(
            item.repository,
            f"assignee {login!a} of {item}",
            add,
            found=lambda: self._assigned(item, login) or None,
        )

    def ensure_labels(
        self, repository: Repository, labels: tuple[LabelText, ...]
    ) -> tuple[str, ...]:
        """Create or repair the labels; existing spelling stays. Says which were changed."""
        _only_ours(*(label.name for label in labels))
        known = self._labels(repository)
        wrong = [label for label in labels if not _same(known.get(fold(label.name)), label)]
        for label in wrong:
            self._put_label(repository, label, known.get(fold(label.name)))
        return tuple(label.name for label in wrong)

    def _add_label(self, item: IssueId, label: str) -> tuple[str, ...]:
        path = f"/repos/{item.repository}/issues/{item.number}/labels"

        def add(github: Github) -> tuple[str, ...]:
            # Issue.add_to_labels throws the answer away, which is what says whether it worked.
            _, answer = github.requester.requestJsonAndCheck(
                "POST", path, input={"labels": [label]}
            )
            return decode.labels(Node(answer))

        def found() -> tuple[str, ...] | None:
            names = self._labels_on(item)
            return names if fold(label) in map(fold, names) else None

        return self._sender.send(item.repository, f"label {label} on {item}", add, found=found)

    def _remove_label(self, item: IssueId, name: str) -> None:
        def remove(github: Github) -> bool:
            github.get_repo(str(item.repository)).get_issue(item.number).remove_from_labels(name)
            return True

        self._sender.send(
            item.repository,
            f"label {name} off {item}",
            remove,
            found=lambda: True if name not in self._labels_on(item) else None,
            refused=lambda error: True if error.status == 404 else None,  # noqa: PLR2004 - HTTP
        )

    def _put_label(self, repository: Repository, label: LabelText, old: LabelText | None) -> None:
        def put(github: Github) -> bool:
            home = github.get_repo(str(repository))
            if old is None:
                home.create_label(label.name, label.color, label.description)
            else:
                home.get_label(old.name).edit(old.name, label.color, label.description)
            return True

        def there() -> bool | None:
            return _same(self._labels(repository).get(fold(label.name)), label) or None

        self._sender.send(
            repository,
            f"label {label.name} of {repository}",
            put,
            found=there,
            refused=lambda error: there() if error.status == 422 else None,  # noqa: PLR2004 - HTTP
        )

    def _own_comment(self, repository: Repository, number: int, marker: str) -> Comment | None:
        me = need(self._identity())
        for comment in need(self._reader.comments(repository, number)):
            mine = comment.author is not None and comment.author.id == me.id
            if mine and comment.unedited and _first_line(comment.body) == marker:
                return comment
        return None

    def _open_pull(self, item: IssueId) -> PullRequest | None:
        me = need(self._identity())
        there = [pull for pull in need(self._reader.pulls(item)) if pull.is_open]
        for pull in there:
            if pull.author is not None and pull.author.id == me.id:
                return pull
        for pull in there:
            by = "a deleted account" if pull.author is None else self._api.clean(pull.author.login)
            raise ForgeError(f"{item}: the open pull request #{pull.number} is by {by}, not by us")
        return None

    def _labels_on(self, item: IssueId) -> tuple[str, ...]:
        node = need(self._reader.raw_issue(item))
        return read(lambda: decode.labels(node["labels"]), str(item))

    def _assigned(self, item: IssueId, login: str) -> bool:
        node = need(self._reader.raw_issue(item))
        logins = read(lambda: decode.assignees(node), str(item))
        return login.lower() in {name.lower() for name in logins}

    def _labels(self, repository: Repository) -> dict[str, LabelText]:
        nodes = need(self._reader.labels_of(repository))
        labels = read(lambda: [_label_text(node) for node in nodes], f"labels of {repository}")
        return {fold(label.name): label for label in labels}


def capped(text: str, limit: int) -> str:
    """`text` with at most `limit` characters, and a visible note where it was cut."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= limit:
        return text
    note = "…" if limit < MAX_BODY else f"\n\n*(cut by toban: the text has {len(text)} characters)*"
    return text[: limit - len(note)] + note


def _only_ours(*names: str) -> None:
    for name in names:
        if not _OURS.fullmatch(fold(name)):
            raise ForgeError(f"{name!a} is no label of toban's; no other is touched")


def _first_line(body: str) -> str:
    return body.split("\n", 1)[0].rstrip("\r")


def _label_text(node: Node) -> LabelText:
    description = node.maybe("description")
    return LabelText(
        name=node["name"].text(),
        color=node["color"].text(),
        description="" if description is None else description.text(),
    )


def _same(known: LabelText | None, wanted: LabelText) -> bool:
    return (
        known is not None
        and known.color.lower() == wanted.color.lower()
        and known.description == wanted.description
    )
