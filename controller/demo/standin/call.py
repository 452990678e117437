"""One API call: who asks, for what, with which body; and the answer as a value.

Built by `api` from the HTTP request, handed to the functions in ``routes_*``. Knows how to page, to
read fields and to insist on a permission; knows nothing of ASGI.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlencode

from controller.demo.standin.accounts import App, Role, Token
from controller.demo.standin.state import Refusal, State, invalid, not_found
from controller.demo.standin.values import Issue, Json, Pull, Repo

PER_PAGE = 30
MAX_PER_PAGE = 100
_DIFF, _PATCH, _RAW = ("diff", "patch", "raw")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer. `body` is JSON, or text when `media` is set, or None for no body."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str | None = None


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request after its token, path and body were understood."""

    state: State
    token: Token | None
    method: str
    path: str
    params: Mapping[str, Any]
    query: Mapping[str, str]
    accept: str
    body: Any
    found: Repo | None = None
    signer: App | None = None

    # Who

    @property
    def app(self) -> App:
        """The App that signed the request."""
        if self.signer is None:
            raise Refusal(401, "A JSON web token could not be decoded")
        return self.signer

    @property
    def me(self) -> Token:
        """The caller's token; Refusal 401 without one."""
        if self.token is None:
            raise Refusal(401, "Requires authentication")
        return self.token

    @property
    def login(self) -> str | None:
        """The caller's login, None without a token."""
        return None if self.token is None else self.token.login

    @property
    def role(self) -> Role:
        """The caller's role in the repository of the path."""
        return self.state.role(self.repo, self.token)

    def need(self, role: Role, area: str) -> str:
        """Insist on the right to write `area`; gives the login."""
        token = self.me
        if token.kind == "classic" and not {"repo", "public_repo"} & set(token.scopes):
            raise not_found()
        if not token.allows(area, write=True) or not token.covers(self.repo.full_name):
            self.forbid(token)
        if self.role < role:
            raise Refusal(403, f"Must have {role.word} access to {self.repo.full_name}.")
        return token.login

    def look(self, area: str) -> None:
        """Insist on the right to read `area`."""
        if self.token is not None and not self.token.allows(area, write=False):
            self.forbid(self.token)

    @staticmethod
    def forbid(token: Token) -> NoReturn:
        """Refuse a token that lacks a permission."""
        kind = "integration" if token.kind == "installation" else "personal access token"
        raise Refusal(403, f"Resource not accessible by {kind}")

    # What

    @property
    def repo(self) -> Repo:
        """The repository of the path."""
        if self.found is None:
            raise not_found()
        return self.found

    def issue(self) -> Issue:
        """The issue or pull request of the path; Refusal 404 when there is none."""
        issue = self.repo.issues.get(self.params["number"])
        if issue is None:
            raise not_found()
        self.look("issues" if issue.pull is None else "pull_requests")
        return issue

    def pull(self) -> tuple[Issue, Pull]:
        """The pull request of the path; Refusal 404 when there is none."""
        self.look("pull_requests")
        issue = self.repo.issues.get(self.params["number"])
        if issue is None or issue.pull is None:
            raise not_found()
        return issue, issue.pull

    # Body

    def given(self, name: str) -> bool:
        """Whether the body has that field, and not null."""
        return isinstance(self.body, dict) and self.body.get(name) is not None

    def text(self, name: str, resource: str, *, default: str | None = None) -> str:
        """A text field of the body; Refusal 422 when it is missing without a default."""
        if not self.given(name):
            if default is None:
                raise invalid(resource, name, "missing_field")
            return default
        value = self.body[name]
        if not isinstance(value, str):
            raise Refusal(422, f"Invalid request.\n\nFor 'properties/{name}', not a string.")
        return value

    def names(self, name: str) -> list[str]:
        """A list of texts (or of objects with a name) in the body; empty when missing."""
        value = self.body if isinstance(self.body, list) else (self.body or {}).get(name) or []
        if isinstance(value, str):
            return [value]
        plain = [it["name"] if isinstance(it, dict) and "name" in it else it for it in value]
        if not all(isinstance(it, str) for it in plain):
            raise Refusal(422, f"Invalid request.\n\nFor 'properties/{name}', not a string.")
        return plain

    def number(self, name: str, default: int, least: int = 1) -> int:
        """A whole number of the query; nonsense counts as the default, as on GitHub."""
        value = self.query.get(name, "")
        return max(int(value), least) if value.isdecimal() else default

    # Answers

    def wants(self) -> str | None:
        """The special form that the caller asked for: diff, patch, raw or none of them."""
        for form in (_DIFF, _PATCH, _RAW):
            if f".{form}" in self.accept:
                return form
        return None

    def page[T](self, items: Sequence[T], shape: Callable[[T], Json]) -> Reply:
        """One page of `items`, with a Link header when there are more pages."""
        rows, headers = self.slice(items)
        return Reply(body=[shape(row) for row in rows], headers=headers)

    def slice[T](self, items: Sequence[T]) -> tuple[Sequence[T], dict[str, str]]:
        """The wanted page of `items` and its Link header."""
        size = min(self.number("per_page", PER_PAGE), MAX_PER_PAGE)
        page = self.number("page", 1)
        last = max(-(-len(items) // size), 1)
        rows = items[(page - 1) * size : page * size]
        relations: list[tuple[str, int]] = []
        if page > 1:
            relations.append(("prev", min(page - 1, last)))
        if page < last:
            relations += [("next", page + 1), ("last", last)]
        if page > 1:
            relations.append(("first", 1))
        if last == 1 and page == 1:
            return rows, {}
        links = (f'<{self._link(number)}>; rel="{name}"' for name, number in relations)
        return rows, {"Link": ", ".join(links)}

    def _link(self, page: int) -> str:
        path = self.path
        if self.found is not None:
            rest = path.split("/", 4)[4:]
            path = "/".join([f"/repositories/{self.found.id}", *rest])
        return f"{self.state.base_url}{path}?{urlencode({**self.query, 'page': page})}"


type Handler = Callable[[Call], Reply]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An operation of the API. A path with ``{owner}/{repo}`` is resolved before the handler."""

    method: str
    path: str
    handler: Handler
    users_only: bool = False
    by_app: bool = False


class Routes:
    """Collects the endpoints of one module."""

    def __init__(self) -> None:
        self.endpoints: list[Endpoint] = []

    def __call__(
        self, method: str, path: str, *, users_only: bool = False, by_app: bool = False
    ) -> Callable[[Handler], Handler]:
        """Decorator: answer `method` `path`.

        `users_only` refuses installation tokens; `by_app` takes an App's signature instead of one.
        """

        def register(handler: Handler) -> Handler:
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=path,
                    handler=handler,
                    users_only=users_only,
                    by_app=by_app,
                )
            )
            return handler

        return register


def flat(groups: Iterable[Routes]) -> list[Endpoint]:
    """All endpoints of several modules."""
    return [endpoint for group in groups for endpoint in group.endpoints]
