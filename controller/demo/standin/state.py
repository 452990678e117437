"""The stand-in's memory: accounts, tokens, repositories, counters, clock and what was asked.

Shared by the domain modules (`issues`, `pulls`), by the routes and by the control plane. Whoever
reads or writes it holds `lock`. Lost when the process ends; only the bare repositories stay.
"""

import threading
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from time import time

from controller.demo.standin.accounts import App, Installation, Role, Token, User
from controller.demo.standin.faults import FaultBox
from controller.demo.standin.gitrepo import BareRepo
from controller.demo.standin.values import Json, Push, Repo, Seen

COMMENT_IDS = 3_000_000_000
EVENT_IDS = 20_000_000_000
RATE_LIMIT = 5000
ANONYMOUS_LIMIT = 60
HOUR = 3600


class Refusal(Exception):  # noqa: N818 - an answer, as GitHub gives it
    """An answer that is an error, as GitHub words it."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[Json] | list[str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = headers or {}


def not_found() -> Refusal:
    """404, the answer for everything that the caller cannot see."""
    return Refusal(404, "Not Found")


def invalid(resource: str, field: str, code: str, **more: str) -> Refusal:
    """422 with one entry in ``errors``."""
    return Refusal(
        422, "Validation Failed", [{**more, "resource": resource, "field": field, "code": code}]
    )


def custom(resource: str, message: str) -> Refusal:
    """422 with an entry of code ``custom``, which carries a sentence and no field."""
    return Refusal(
        422,
        "Validation Failed",
        [{"resource": resource, "code": "custom", "message": message}],
    )


class Clock:
    """Real time plus an offset, in whole seconds since the epoch, never going back by itself."""

    def __init__(self) -> None:
        self.offset = 0.0

    def now(self) -> int:
        """Seconds since the epoch."""
        return int(time() + self.offset)

    def set(self, when: datetime) -> None:
        """Make `when` the present moment; it goes on from there."""
        self.offset = when.timestamp() - time()

    def advance(self, seconds: float) -> None:
        """Move the present moment."""
        self.offset += seconds


def stamp(seconds: int) -> str:
    """A moment as the API writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class State:
    """Everything the stand-in knows."""

    def __init__(self, root: Path) -> None:
        self.lock = threading.RLock()
        self.root = root
        self.clock = Clock()
        self.faults = FaultBox()
        self.graphql_on = True
        self.base_url = "http://127.0.0.1"
        self.users: dict[str, User] = {}
        self.tokens: dict[str, Token] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.repos: dict[int, Repo] = {}
        self.old_names: dict[str, int] = {}
        self.pushes: list[Push] = []
        self.seen: list[Seen] = []
        self.arrived = threading.Condition(self.lock)
        self.crashes: list[str] = []
        self.rate_limit = RATE_LIMIT
        self._rates: dict[str, tuple[int, int]] = {}
        self._git: dict[int, BareRepo] = {}
        self._ids = count(1001)

    def next_id(self, above: int = 0) -> int:
        """A fresh id. Ids only ever grow; `above` keeps the kinds of ids apart, as on GitHub."""
        return above + next(self._ids)

    def now(self) -> int:
        """The present moment of the stand-in's clock."""
        return self.clock.now()

    # What was asked

    def log(self, seen: Seen) -> None:
        """Take a request into the log and wake who waits for it."""
        with self.lock:
            self.seen.append(seen)
            self.arrived.notify_all()

    def allowance(self, login: str | None) -> tuple[int, int, int]:
        """Limit, used requests and end of the present hour for all tokens of a user together."""
        limit = ANONYMOUS_LIMIT if login is None else self.rate_limit
        start, used = self._rates.get(login or "", (self.now(), 0))
        if start + HOUR <= self.now():
            start, used = self.now(), 0
        self._rates[login or ""] = (start, used)
        return limit, used, start + HOUR

    def spend(self, login: str | None) -> None:
        """Count one request against the primary limit; Refusal 403 when nothing is left."""
        limit, used, reset = self.allowance(login)
        if used >= limit:
            who = "your address" if login is None else f"user ID {self.user(login).id}"
            raise Refusal(403, f"API rate limit exceeded for {who}.")
        self._rates[login or ""] = (reset - HOUR, used + 1)

    # Accounts

    def user(self, login: str) -> User:
        """The account; Refusal 404 when there is none."""
        found = self.users.get(login.lower())
        if found is None:
            raise not_found()
        return found

    def token(self, value: str) -> Token | None:
        """The token, unless it is unknown or has expired."""
        token = self.tokens.get(value)
        if token is None or (token.expires_at is not None and token.expires_at <= self.now()):
            return None
        return token

    # Repositories

    def add(self, repo: Repo, git: BareRepo) -> None:
        """Take a new repository in."""
        self.repos[repo.id] = repo
        self._git[repo.id] = git

    def repo(self, full_name: str) -> Repo:
        """The repository of that present or former name; Refusal 404 when there is none."""
        wanted = full_name.lower()
        for repo in self.repos.values():
            if repo.full_name.lower() == wanted:
                return repo
        if wanted in self.old_names:
            return self.repos[self.old_names[wanted]]
        raise not_found()

    def git(self, repo: Repo) -> BareRepo:
        """The bare repository of `repo`."""
        return self._git[repo.id]

    def role(self, repo: Repo, token: Token | None) -> Role:
        """What the caller may do here: its own role, or writing where an App is installed."""
        if token is None:
            return repo.role(None)
        installed = token.account == repo.owner and token.covers(repo.full_name)
        return max(repo.role(token.login), Role.WRITE if installed else Role.NONE)

    def visible(self, repo: Repo, token: Token | None) -> bool:
        """Whether the caller may know that `repo` exists."""
        if token is None:
            return not repo.private
        if self.role(repo, token) is Role.NONE:
            return False
        if not repo.private:
            return True
        return token.covers(repo.full_name) and (token.kind != "classic" or "repo" in token.scopes)

    def member_repos(self, token: Token) -> list[Repo]:
        """The repositories in which the caller has a role of its own, oldest first."""
        return [
            repo
            for repo in self.repos.values()
            if self.visible(repo, token)
            and token.covers(repo.full_name)
            and (
                repo.owner in {token.login, token.account}
                or token.login.lower() in repo.collaborators
            )
        ]
