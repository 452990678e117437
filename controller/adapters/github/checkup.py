"""Looking at the connection itself: reachable, whose token, which permissions, which labels.

Implements `controller.ports.checkup.ForgeCheckup` for `toban doctor` and `toban labels`; no part of
a tick. Headers matter here, so two questions are asked on a connection of its own. Never writes.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from controller.adapters.github import decode
from controller.adapters.github.answers import TOKEN, absent, one_line, refusal
from controller.adapters.github.http import API_VERSION, USER_AGENT, Api
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.shape import Node, ShapeError, parse
from controller.adapters.github.wire import Raw, Wire, WireError
from controller.domain.ids import Repository
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import TobanError
from controller.ports.checkup import Access, Account

OK: Final = 200
_MINE = {"affiliation": "owner,collaborator,organization_member", "sort": "pushed"}


class GitHubCheckup:
    """See `controller.ports.checkup.ForgeCheckup`. `timeout` is in seconds for each wait.

    `app_login` gives the login of a GitHub App, None with a token.
    """

    def __init__(
        self,
        api: Api,
        *,
        credential: Callable[[], str],
        timeout: float,
        app_login: Callable[[], Seen[str]] | None = None,
    ) -> None:
        self._api = api
        self._credential = credential
        self._app_login = app_login
        self._wire = Wire(api.api_url, timeout=timeout)

    def reach(self) -> Seen[datetime | None]:
        """Any answer at all shows that the forge is there; no credential is sent."""
        raw = self._ask("/", token="")
        if isinstance(raw, Unseen):
            return raw
        with suppress(ValueError, TypeError, OverflowError):
            moment = parsedate_to_datetime(raw.headers.get("date", ""))
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return None

    def account(self) -> Seen[Account]:
        """Who the credential is; an App's token is asked for its rate limit instead."""
        try:
            token = self._credential()
        except TobanError as error:
            return Unseen(
                source="credential", reason=one_line(str(error)), code=Reason.TOKEN_REFUSED
            )
        if not TOKEN.fullmatch(token):
            reason = "the token is empty or holds characters that no token has"
            return Unseen(source="credential", reason=reason, code=Reason.TOKEN_REFUSED)
        path = "/user" if self._app_login is None else "/rate_limit"
        raw = self._ask(path, token=token)
        if isinstance(raw, Unseen):
            return raw
        if raw.status != OK:
            code, reason = refusal(raw.status, one_line(_message(raw), hide=token))
            return Unseen(source=f"GET {path}", reason=reason, code=code)
        try:
            return self._account(raw)
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))

    def _account(self, raw: Raw) -> Seen[Account]:
        login = self._app_login() if self._app_login else decode.person(Node(parse(raw.body))).login
        if isinstance(login, Unseen):
            return login
        headers = raw.headers
        scopes = headers.get("x-oauth-scopes")
        return Account(
            login=login,
            scopes=None
            if scopes is None
            else tuple(s.strip() for s in scopes.split(",") if s.strip()),
            expires=one_line(headers.get("github-authentication-token-expiration", "")),
            remaining=_number(headers.get("x-ratelimit-remaining")),
            limit=_number(headers.get("x-ratelimit-limit")),
        )

    def access(self, repository: Repository) -> Seen[Access]:
        """What we may do with one repository."""
        path = f"/repos/{repository}"
        reply = self._api.get(path)
        if isinstance(reply, Unseen):
            return reply
        if not reply.found:
            return absent(f"GET {path}", reply, Reason.REPOSITORY_NOT_FOUND)
        try:
            found = self._access(Node(reply.json))
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))
        if found.repository.key != repository.key:
            reason = f"the repository is {found.repository} now"
            return Unseen(source=f"GET {path}", reason=reason, code=Reason.REPOSITORY_MOVED)
        return found

    def owned(self, owner: str) -> Seen[tuple[Access, ...]]:
        """Every repository of `owner` that we see."""
        path, query, under = "/user/repos", _MINE, None
        if self._app_login is not None:
            path, query, under = "/installation/repositories", {}, "repositories"
        nodes = self._api.pages(path, query, missing=Reason.FORGE_UNSEEN, under=under)
        if isinstance(nodes, Unseen):
            return nodes
        try:
            found = [self._access(node) for node in nodes]
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))
        return tuple(a for a in found if a.repository.owner.lower() == owner.lower())

    def labels(self, repository: Repository) -> Seen[tuple[str, ...]]:
        """Names of all labels of a repository."""
        nodes = GitHubReader(self._api).labels_of(repository)
        if isinstance(nodes, Unseen):
            return nodes
        try:
            return tuple(node["name"].text() for node in nodes)
        except ShapeError as error:
            return Unseen(source=f"GET /repos/{repository}/labels", reason=str(error))

    def _access(self, node: Node) -> Access:
        permissions = node.maybe("permissions")
        push = permissions.maybe("push") if permissions is not None else None
        told = push is not None and push.flag()
        return Access(
            repository=decode.full_name(node["full_name"]),
            archived=node["archived"].flag(),
            push=told if self._app_login is None else None,
        )

    def _ask(self, path: str, *, token: str) -> Seen[Raw]:
        headers = {
            "User-Agent": USER_AGENT,
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": API_VERSION,
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            return self._wire.exchange("GET", f"{self._wire.prefix}{path}", headers)
        except WireError as error:
            return Unseen(source=f"GET {path}", reason=one_line(str(error), hide=token))


def _message(raw: Raw) -> str:
    try:
        message = Node(parse(raw.body)).maybe("message")
        return "" if message is None else message.text()
    except ShapeError:
        return ""


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else None
