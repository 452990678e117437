"""POST /graphql: real execution on a cut-down copy of GitHub's own schema.

Called by `front` through Starlette. Answers who the caller is and how an issue's text was edited. A
field or argument that GitHub's schema lacks is an error here too; one that the copy lacks as well.
"""

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from graphql import GraphQLError, GraphQLSchema, build_schema, graphql_sync
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from controller.demo.standin.accounts import Token
from controller.demo.standin.api import check_headers, encoded, parsed, refused
from controller.demo.standin.auth import identify
from controller.demo.standin.state import Refusal, State, not_found, stamp
from controller.demo.standin.values import Edit, Issue, Json, Repo

_MOST = 100


@cache
def schema() -> GraphQLSchema:
    """The copy of GitHub's schema."""
    text = resources.files(__package__).joinpath("schema.graphql").read_text(encoding="utf-8")
    return build_schema(text)


class Graph:
    """GraphQL on one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[Route]:
        """The one route."""

        async def endpoint(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(self._answer, request, body)

        return [Route("/graphql", endpoint, methods=["POST"])]

    def _answer(self, request: Request, body: bytes) -> Response:
        with self._state.lock:
            try:
                return JSONResponse(self._execute(*self._asked(request, body)))
            except Refusal as refusal:
                reply = refused(refusal)
                content, media = encoded(reply)
                return Response(content, reply.status, media_type=media)

    def _asked(self, request: Request, body: bytes) -> tuple[Json, Token]:
        check_headers(request.headers)
        if not self._state.graphql_on:
            raise not_found()
        token = identify(self._state, request.headers)
        if token is None:
            raise Refusal(401, "This endpoint requires you to be authenticated.")
        self._state.spend(token.login)
        asked = parsed(body)
        if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
            raise Refusal(400, "A query attribute must be specified and must be a string.")
        return asked, token

    def _execute(self, asked: Json, token: Token) -> Json:
        result = graphql_sync(
            schema(),
            asked["query"],
            root_value=_Root(self._state, token),
            variable_values=asked.get("variables"),
            operation_name=asked.get("operationName"),
            type_resolver=lambda value, *_: value["__typename"],
        )
        answer: Json = {}
        if result.data is not None:
            answer["data"] = result.data
        if result.errors:
            answer["errors"] = [_error(error) for error in result.errors]
        return answer


class _Root:
    """The fields of ``Query``; what they give are plain dictionaries and functions."""

    def __init__(self, state: State, token: Token) -> None:
        self._state = state
        self._token = token

    def viewer(self, _info: object) -> Json:
        """The caller."""
        return _actor(self._state, self._token.login)

    def repository(
        self,
        _info: object,
        *,
        owner: str,
        name: str,
        followRenames: bool = True,  # noqa: N803 - the schema names it so
    ) -> Json:
        """A repository that the caller can see."""
        full = f"{owner}/{name}"
        try:
            repo = self._state.repo(full)
        except Refusal:
            raise _missing(f"Could not resolve to a Repository with the name '{full}'.") from None
        renamed = repo.full_name.lower() != full.lower()
        if not self._state.visible(repo, self._token) or (renamed and not followRenames):
            raise _missing(f"Could not resolve to a Repository with the name '{full}'.")
        return {
            "databaseId": repo.id,
            "nameWithOwner": repo.full_name,
            "issue": lambda _info, number: self._issue(repo, number),
        }

    def _issue(self, repo: Repo, number: int) -> Json:
        if not self._token.allows("issues", write=False):
            raise _error_of("FORBIDDEN", "Resource not accessible by personal access token")
        issue = repo.issues.get(number)
        if issue is None or issue.pull is not None:
            raise _missing(f"Could not resolve to an Issue with the number of {number}.")
        edited = issue.last_edited_at
        return {
            "databaseId": issue.id,
            "number": issue.number,
            "title": issue.title,
            "body": issue.body or "",
            "author": _actor(self._state, issue.user),
            "editor": _actor(self._state, issue.edits[-1].editor) if issue.edits else None,
            "createdAt": stamp(issue.created_at),
            "updatedAt": stamp(issue.updated_at),
            "lastEditedAt": None if edited is None else stamp(edited),
            "includesCreatedEdit": bool(issue.edits),
            "userContentEdits": self._edits(issue),
        }

    def _edits(self, issue: Issue) -> Callable[..., Json]:
        """The versions of the body, newest first, as a connection."""

        def connection(
            _info: object,
            first: int | None = None,
            last: int | None = None,
            after: str | None = None,
            before: str | None = None,
        ) -> Json:
            count = first if first is not None else last
            if count is None:
                text = "You must provide a `first` or `last` value to properly paginate the "
                raise _error_of(
                    "MISSING_PAGINATION_BOUNDARIES", f"{text}`userContentEdits` connection."
                )
            if not 0 <= count <= _MOST:
                raise _error_of(
                    "EXCESSIVE_PAGINATION", f"Requesting {count} records, limit {_MOST}."
                )
            listed = issue.edits[::-1]
            start = int(after) if after else 0
            stop = int(before) - 1 if before else len(listed)
            if first is None:
                start = max(start, stop - count)
            else:
                stop = min(stop, start + count)
            return {
                "nodes": [self._edit(edit) for edit in listed[start:stop]],
                "totalCount": len(listed),
                "pageInfo": {
                    "startCursor": str(start + 1) if stop > start else None,
                    "endCursor": str(stop) if stop > start else None,
                    "hasNextPage": stop < len(listed),
                    "hasPreviousPage": start > 0,
                },
            }

        return connection

    def _edit(self, edit: Edit) -> Json:
        at = stamp(edit.at)
        return {
            "createdAt": at,
            "updatedAt": at,
            "editedAt": at,
            "diff": edit.body,
            "editor": _actor(self._state, edit.editor),
        }


def _actor(state: State, login: str) -> Json:
    """A user or bot. GraphQL writes the login of a bot without the suffix that REST has."""
    user = state.user(login)
    return {
        "__typename": "Bot" if user.kind == "Bot" else "User",
        "login": user.login.removesuffix("[bot]"),
        "databaseId": user.id,
    }


def _missing(message: str) -> GraphQLError:
    return _error_of("NOT_FOUND", message)


def _error_of(kind: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


def _error(error: GraphQLError) -> dict[str, Any]:
    """An error as GitHub writes it: the type stands outside of the extensions."""
    shown: dict[str, Any] = dict(error.formatted)
    extensions = dict(error.extensions or {})
    shown.pop("extensions", None)
    if "type" in extensions:
        shown["type"] = extensions.pop("type")
    if extensions:
        shown["extensions"] = extensions
    return shown
