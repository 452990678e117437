"""The REST API: from an HTTP request to a `Call`, and from a `Reply` to an HTTP response.

Called by `front`. Here is what all operations have in common: credentials, API version, limits,
redirects of renamed repositories, error bodies and conditional requests. One call at a time: the
state's lock is held from the first look to the finished answer.
"""

import hashlib
import json
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from email.utils import formatdate
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from controller.demo.standin import (
    apps,
    routes_apps,
    routes_content,
    routes_git,
    routes_issues,
    routes_people,
    routes_pulls,
    routes_talk,
)
from controller.demo.standin.accounts import App, Token
from controller.demo.standin.auth import credential, identify
from controller.demo.standin.call import Call, Endpoint, Reply, flat
from controller.demo.standin.state import Refusal, State, not_found
from controller.demo.standin.values import Json, Repo

VERSION = "2022-11-28"
DOCS = "https://docs.github.com/rest"
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_MEDIA = {
    "diff": "application/vnd.github.diff; charset=utf-8",
    "patch": "application/vnd.github.patch; charset=utf-8",
    "sha": "application/vnd.github.sha; charset=utf-8",
    "raw": "application/vnd.github.raw",
}
_JSON = "application/json; charset=utf-8"


type Adapter = Callable[[Request], Awaitable[Response]]
"""What Starlette calls for a route."""


class Api:
    """All operations on one state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._endpoints = flat(
            (
                routes_people.routes,
                routes_apps.routes,
                routes_issues.routes,
                routes_talk.routes,
                routes_pulls.routes,
                routes_git.routes,
                routes_content.routes,
            )
        )

    def routes(self, others: Iterable[Route] = ()) -> list[Route]:
        """Starlette routes, then `others`, then one that answers 404 to everything else."""
        listed = [Route(it.path, self._adapter(it), methods=[it.method]) for it in self._endpoints]
        return [*listed, *others, Route("/{path:path}", self._adapter(None), methods=_METHODS)]

    def _adapter(self, endpoint: Endpoint | None) -> Adapter:
        async def adapter(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(self.answer, endpoint, request, body)

        return adapter

    def answer(self, endpoint: Endpoint | None, request: Request, body: bytes) -> Response:
        """The response to one request; an error of our own is kept in ``state.crashes``."""
        with self._state.lock:
            token: Token | None = None
            try:
                app: App | None = None
                if endpoint is not None and endpoint.by_app:
                    app = apps.signer(self._state, credential(request.headers))
                else:
                    token = identify(self._state, request.headers)
                reply = self._reply(endpoint, request, body, token, app)
            except Refusal as refusal:
                reply = refused(refusal)
            except Exception:  # noqa: BLE001 - told by Standin.stop
                self._state.crashes.append(traceback.format_exc())
                reply = Reply(status=500, body={"message": "Server Error"})
            return self._response(request, reply, token)

    def _reply(
        self,
        endpoint: Endpoint | None,
        request: Request,
        body: bytes,
        token: Token | None,
        app: App | None,
    ) -> Reply:
        check_headers(request.headers)
        path = request.scope["path"]
        if path != "/rate_limit" and "if-none-match" not in request.headers:
            self._state.spend(None if token is None else token.login)
        if endpoint is None:
            raise not_found()
        if endpoint.users_only and token is not None and token.kind == "installation":
            Call.forbid(token)
        call = Call(
            state=self._state,
            token=token,
            method=request.method,
            path=path,
            params=request.path_params,
            query=dict(parse_qsl(request.scope["query_string"].decode(), keep_blank_values=True)),
            accept=request.headers.get("accept", ""),
            body=parsed(body),
            found=self._repo(request.path_params, token, app),
            signer=app,
        )
        if call.found is not None and not same_name(call.found, request.path_params):
            return self._moved(call)
        return endpoint.handler(call)

    def _repo(self, params: Mapping[str, str], token: Token | None, app: App | None) -> Repo | None:
        if "repo" not in params:
            return None
        repo = self._state.repo(f"{params['owner']}/{params['repo']}")
        if app is None and not self._state.visible(repo, token):
            raise not_found()
        return repo

    def _moved(self, call: Call) -> Reply:
        rest = "/".join(call.path.split("/")[4:])
        url = f"{self._state.base_url}/repositories/{call.repo.id}{'/' + rest if rest else ''}"
        if call.query:
            url += "?" + "&".join(f"{key}={value}" for key, value in call.query.items())
        return Reply(
            status=301 if call.method == "GET" else 307,
            body={"message": "Moved Permanently", "url": url, "documentation_url": DOCS},
            headers={"Location": url},
        )

    def _response(self, request: Request, reply: Reply, token: Token | None) -> Response:
        content, media = encoded(reply)
        headers = {**reply.headers, **self._headers(token)}
        if request.method in {"GET", "HEAD"} and reply.status == 200:  # noqa: PLR2004 - OK
            who = "" if token is None else token.value
            digest = hashlib.sha256(who.encode() + b"\0" + content).hexdigest()
            headers["ETag"] = f'W/"{digest}"' if reply.media is None else f'"{digest}"'
            headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
            if digest in known_tags(request.headers):
                return Response(status_code=304, headers=headers)
            if "if-none-match" in request.headers and request.scope["path"] != "/rate_limit":
                self._state.spend(None if token is None else token.login)
                headers |= self._headers(token)
        if media is not None:
            headers["Content-Type"] = media
        return Response(content, reply.status, headers)

    def _headers(self, token: Token | None) -> dict[str, str]:
        limit, used, reset = self._state.allowance(None if token is None else token.login)
        headers = {
            "Date": formatdate(self._state.now(), usegmt=True),
            "X-GitHub-Api-Version-Selected": VERSION,
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(max(limit - used, 0)),
            "X-RateLimit-Used": str(used),
            "X-RateLimit-Reset": str(reset),
            "X-RateLimit-Resource": "core",
            "Vary": "Accept, Authorization",
        }
        if token is not None and token.kind == "classic":
            headers["X-OAuth-Scopes"] = ", ".join(token.scopes)
            headers["X-Accepted-OAuth-Scopes"] = ""
        return headers


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse a caller that names no program, or a version of the API that there isn't."""
    if not headers.get("user-agent"):
        raise Refusal(
            403,
            "Request forbidden by administrative rules. Please make sure your request has a "
            "User-Agent header.",
        )
    version = headers.get("x-github-api-version", VERSION)
    if version != VERSION:
        raise Refusal(400, f'"{version}" is not a supported version; supported: {VERSION}.')


def parsed(body: bytes) -> Json | list[object]:
    """The JSON of a request; no body is an empty object."""
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    if not isinstance(value, dict | list):
        raise Refusal(400, "Body should be a JSON object")
    return value


def same_name(repo: Repo, params: Mapping[str, str]) -> bool:
    """Whether the path names the repository as it is called now."""
    return f"{params['owner']}/{params['repo']}".lower() == repo.full_name.lower()


def refused(refusal: Refusal) -> Reply:
    """An error as the API writes it."""
    body: Json = {"message": refusal.message}
    if refusal.errors is not None:
        body["errors"] = refusal.errors
    body |= {"documentation_url": DOCS, "status": str(refusal.status)}
    return Reply(status=refusal.status, body=body, headers=refusal.headers)


def encoded(reply: Reply) -> tuple[bytes, str | None]:
    """The body as bytes and its media type."""
    if reply.media is not None:
        raw = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
        return raw, _MEDIA[reply.media]
    if reply.body is None:
        return b"", None
    return json.dumps(reply.body, ensure_ascii=False).encode(errors="replace"), _JSON


def known_tags(headers: Mapping[str, str]) -> set[str]:
    """The entity tags that the caller has, weak and strong alike."""
    listed = headers.get("if-none-match", "").split(",")
    return {tag.strip().removeprefix("W/").strip('"') for tag in listed}
