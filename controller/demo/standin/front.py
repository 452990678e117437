"""The outermost layer: every request passes here, is spoilt if a fault says so, and is logged.

Sorts git, API, pages and control apart, resolves ``/repositories/ID`` and shows finished exchanges
to a witness (the OpenAPI checker of the tests). A request is in the log before its answer is sent.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.demo.standin.api import DOCS, known_tags
from controller.demo.standin.auth import known
from controller.demo.standin.faults import Fault
from controller.demo.standin.smart_http import is_git
from controller.demo.standin.state import State
from controller.demo.standin.values import Seen

_BY_ID = re.compile(r"/repositories/(\d+)(/.*)?")
_POLL = 0.05
_REMEMBERED = 256
_MESSAGES = {
    "secondary": "You have exceeded a secondary rate limit. Please wait a few minutes before "
    "you try again.",
    "creation": "You have exceeded a secondary rate limit and have been temporarily blocked from "
    "content creation. Please retry your request again later.",
    "primary": "API rate limit exceeded for user ID 1.",
    "status": "Server Error",
}


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A finished request with its true answer, for a witness. Bodies are raw bytes."""

    method: str
    path: str
    query: str
    request: bytes
    status: int
    headers: Mapping[str, str]
    response: bytes


class Witness(Protocol):
    """Somebody who looks at every exchange of the REST API."""

    def see(self, exchange: Exchange) -> None:
        """Called for each exchange, faults excepted, before the answer is sent."""


type Dropper = Callable[[Scope], None]


@dataclass
class _Answer:
    """A response that is held back until it was looked at."""

    start: Message = field(default_factory=dict)
    body: bytes = b""

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")

    async def give(self, send: Send) -> None:
        await send(self.start)
        await send({"type": "http.response.body", "body": self.body})


class Front:
    """The ASGI application that the server runs."""

    def __init__(
        self,
        state: State,
        *,
        api: ASGIApp,
        git: ASGIApp,
        control: ASGIApp,
        drop: Dropper,
        witness: Witness | None = None,
    ) -> None:
        self._state = state
        self._api = api
        self._git = git
        self._control = control
        self._drop = drop
        self._witness = witness
        self._last: dict[tuple[str | None, str, str], _Answer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"].split("/")[1] == "_control":
            await self._control(scope, receive, send)
            return
        fault = self._state.faults.take(scope["method"], scope["path"])
        if fault is not None and fault.kind == "stale":
            await self._stale(scope, receive, send)
        elif fault is not None:
            await self._spoil(fault, scope, receive, send)
        elif is_git(scope["path"]):
            await self._git(scope, receive, self._logged(scope, send))
        else:
            await self._exchange(scope, receive, send)

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An API call or a page: answered as a whole, shown to the witness, logged, sent."""
        request = await _drained(receive)
        answer = _Answer()
        inner = {**scope, "path": self._canonical(scope["path"])}
        await self._api(inner, _replayed(request), answer.take)
        headers = Headers(raw=answer.start["headers"])
        if self._witness is not None and "json" in headers.get("content-type", "json"):
            self._witness.see(
                Exchange(
                    method=scope["method"],
                    path=inner["path"],
                    query=scope["query_string"].decode(),
                    request=request,
                    status=answer.start["status"],
                    headers=headers,
                    response=answer.body,
                )
            )
        self._remember(scope, answer)
        self._log(scope, answer.start["status"], fault=False)
        await answer.give(send)

    def _remember(self, scope: Scope, answer: _Answer) -> None:
        """Keep the latest full answers to GET, for lagging replicas."""
        if scope["method"] == "GET" and answer.start["status"] == 200:  # noqa: PLR2004 - OK
            key = self._question(scope)
            self._last.pop(key, None)
            self._last[key] = answer
            if len(self._last) > _REMEMBERED:
                del self._last[next(iter(self._last))]

    def _question(self, scope: Scope) -> tuple[str | None, str, str]:
        who = Headers(scope=scope).get("authorization")
        return who, scope["path"], scope["query_string"].decode()

    def _canonical(self, path: str) -> str:
        """A path by repository id as a path by name."""
        found = _BY_ID.fullmatch(path)
        if found is None:
            return path
        with self._state.lock:
            repo = self._state.repos.get(int(found[1]))
            return path if repo is None else f"/repos/{repo.full_name}{found[2] or ''}"

    def _logged(self, scope: Scope, send: Send) -> Send:
        async def logged(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._log(scope, message["status"], fault=False)
            await send(message)

        return logged

    def _log(self, scope: Scope, status: int | None, *, fault: bool) -> None:
        headers = Headers(scope=scope)
        self._state.log(
            Seen(
                method=scope["method"],
                path=scope["path"],
                query=scope["query_string"].decode(),
                status=status,
                user=known(self._state, headers),
                conditional="if-none-match" in headers,
                fault=fault,
            )
        )

    # Faults

    async def _spoil(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        """Do the work where the fault says so, then lose or falsify the answer."""
        if fault.after_effect:
            inner = {**scope, "path": self._canonical(scope["path"])}
            if is_git(scope["path"]):
                await self._git(inner, receive, _Answer().take)
            else:
                await self._api(inner, _replayed(await _drained(receive)), _Answer().take)
        else:
            await _drained(receive)
        silent = fault.kind in {"drop", "hang"}
        self._log(scope, None if silent else _status(fault), fault=True)
        if fault.kind == "hang":
            await self._hang(receive)
        if silent:
            self._drop(scope)
        else:
            await self._answer(fault).give(send)

    async def _stale(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The answer of the last time; the truth where there was none."""
        old = self._last.get(self._question(scope))
        if old is None or scope["method"] != "GET":
            await self._exchange(scope, receive, send)
            return
        tag = Headers(raw=old.start["headers"]).get("etag", "")
        if tag.removeprefix("W/").strip('"') in known_tags(Headers(scope=scope)):
            kept = [it for it in old.start["headers"] if not it[0].startswith(b"content-")]
            old = _Answer(start={**old.start, "status": 304, "headers": kept})
        self._log(scope, old.start["status"], fault=True)
        await old.give(send)

    async def _hang(self, receive: Receive) -> None:
        """Wait until the client goes away or all faults are cleared."""
        cleared = self._state.faults.cleared
        gone = asyncio.ensure_future(receive())
        while not gone.done() and self._state.faults.cleared == cleared:
            await asyncio.wait({gone}, timeout=_POLL)
        gone.cancel()

    def _answer(self, fault: Fault) -> _Answer:
        message = fault.message or _MESSAGES.get(fault.kind, "Server Error")
        headers = {"Content-Type": "application/json; charset=utf-8"}
        if fault.kind == "primary":
            reset = self._state.now() + (fault.retry_after or 3500)
            headers |= {"X-RateLimit-Limit": "5000", "X-RateLimit-Used": "5000"}
            headers |= {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
        elif fault.retry_after is not None:
            headers["Retry-After"] = str(fault.retry_after)
        status = _status(fault)
        body = {"message": message, "documentation_url": DOCS, "status": str(status)}
        content = json.dumps(body).encode()
        headers["Content-Length"] = str(len(content))
        raw = [(key.lower().encode(), value.encode()) for key, value in headers.items()]
        start = {"type": "http.response.start", "status": status, "headers": raw}
        return _Answer(start=start, body=content)


def _status(fault: Fault) -> int:
    limited = fault.kind in {"secondary", "creation", "primary"}
    return 403 if limited and fault.status not in {403, 429} else fault.status


async def _drained(receive: Receive) -> bytes:
    """The whole body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
    return body


def _replayed(body: bytes) -> Receive:
    """A `receive` that gives a body already read, once."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive
