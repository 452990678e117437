"""Git over HTTP on the same origin: ``git http-backend`` on the bare repositories.

Called by `front` for clone, fetch and push. Decides who may, streams what git says, and after a
push lets pull requests and issues follow the references that moved. Never judges a push itself:
forced ones go through, and are recorded.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator
from functools import cache
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from controller.demo.standin import pulls
from controller.demo.standin.accounts import Role, Token
from controller.demo.standin.auth import identify
from controller.demo.standin.gitcall import environment, git
from controller.demo.standin.state import Refusal, State
from controller.demo.standin.values import Repo

_PATH = re.compile(
    r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)(?:\.git)?/(?P<rest>info/refs|git-(?:upload|receive)-pack)"
)
_ZERO = "0" * 40
_CHUNK = 65_536
_COMMAND = 3


def is_git(path: str) -> bool:
    """Whether a path is one of git's."""
    return _PATH.fullmatch(path) is not None


@cache
def _backend() -> str:
    return git("--exec-path")[1].decode().strip() + "/git-http-backend"


class SmartHttp:
    """The git side of the stand-in, as an ASGI application."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of git."""
        request = Request(scope, receive)
        # The body must be read to its end before an answer streams: while it does, Starlette
        # watches for a disconnect and would swallow the rest of the body.
        with tempfile.TemporaryFile() as body:
            async for chunk in request.stream():
                body.write(chunk)
            response = await self._answer(request, body)
            await response(scope, receive, send)

    async def _answer(self, request: Request, body: BinaryIO) -> Response:
        found = _PATH.fullmatch(request.url.path)
        if found is None:
            return Response("Not Found", 404)
        rest = found["rest"]
        writes = "git-receive-pack" in {rest, request.query_params.get("service")}
        try:
            with self._state.lock:
                token = identify(self._state, request.headers)
                repo = self._state.repo(f"{found['owner']}/{found['name']}")
                self._admit(repo, token, writes=writes)
                if found["name"].lower() != repo.name.lower():
                    return self._moved(repo, rest, request)
        except Refusal as refusal:
            return _refused(refusal, anonymous="authorization" not in request.headers)
        env = self._environment(repo, rest, request, token, body)
        if rest == "git-receive-pack":
            return await self._push(repo, env, body, token)
        return await _streamed(env, body)

    def _admit(self, repo: Repo, token: Token | None, *, writes: bool) -> None:
        """Refuse whoever may not read, or not write."""
        if not self._state.visible(repo, token):
            raise Refusal(404, "Repository not found.")
        if token is not None and not token.allows("contents", write=writes):
            raise Refusal(403, f"Write access to {repo.full_name} not granted.")
        if not writes:
            return
        if token is None:
            raise Refusal(401, "Authentication required")
        scoped = token.kind != "classic" or {"repo", "public_repo"} & set(token.scopes)
        if (
            self._state.role(repo, token) < Role.WRITE
            or not token.covers(repo.full_name)
            or not scoped
        ):
            raise Refusal(403, f"Permission to {repo.full_name}.git denied to {token.login}.")

    def _moved(self, repo: Repo, rest: str, request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        url = f"{self._state.base_url}/{repo.full_name}.git/{rest}{query}"
        return Response(
            status_code=301 if request.method == "GET" else 307, headers={"Location": url}
        )

    def _environment(
        self, repo: Repo, rest: str, request: Request, token: Token | None, body: BinaryIO
    ) -> dict[str, str]:
        size = body.tell()
        body.flush()
        headers: Headers = request.headers
        cgi = {
            "GIT_PROJECT_ROOT": str(self._state.root / "repos"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{repo.path.relative_to(self._state.root / 'repos')}/{rest}",
            "REQUEST_METHOD": request.method,
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(size),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        if token is not None:
            cgi["REMOTE_USER"] = token.login
        return environment(cgi)

    async def _push(
        self, repo: Repo, env: dict[str, str], body: BinaryIO, token: Token | None
    ) -> Response:
        """Receive a push; its consequences stand before the client has its answer."""
        body.seek(0)
        wanted = commands(body)
        response = await _streamed(env, body)
        said = b"".join(
            [chunk async for chunk in response.body_iterator if isinstance(chunk, bytes)]
        )
        login = repo.owner if token is None else token.login
        await run_in_threadpool(self._settle, repo, login, wanted)
        headers = {key: value for key, value in response.headers.items() if key != "content-length"}
        return Response(said, response.status_code, headers)

    def _settle(self, repo: Repo, login: str, wanted: list[pulls.Move]) -> None:
        with self._state.lock:
            heads = self._state.git(repo).refs("refs/")
            done = [move for move in wanted if heads.get(move[0]) == move[2]]
            pulls.pushed(self._state, repo, login, done, "git")


def _refused(refusal: Refusal, *, anonymous: bool) -> Response:
    if refusal.status == 401 or (anonymous and refusal.status == 404):  # noqa: PLR2004 - HTTP
        headers = {"WWW-Authenticate": 'Basic realm="GitHub"'}
        return Response(f"{refusal.message}\n", 401, headers)
    return Response(f"{refusal.message}\n", refusal.status)


def commands(body: BinaryIO) -> list[pulls.Move]:
    """The reference updates that a receive-pack request asks for (pkt-lines up to the flush)."""
    found: list[pulls.Move] = []
    while True:
        size = body.read(4)
        if len(size) < 4 or size == b"0000":  # noqa: PLR2004 - a length has four digits
            return found
        line = body.read(int(size, 16) - 4).split(b"\0", 1)[0].decode(errors="replace")
        words = line.strip().split(" ", 2)
        if len(words) == _COMMAND:
            old, new, ref = words
            found.append((ref, None if old == _ZERO else old, None if new == _ZERO else new))


async def _streamed(env: dict[str, str], body: BinaryIO) -> StreamingResponse:
    """Run the backend on `body`; its headers are read, its output is still to come."""
    # The child reads from the descriptor, whose position Python's buffer may hide.
    os.lseek(body.fileno(), 0, os.SEEK_SET)
    process = await asyncio.create_subprocess_exec(
        _backend(), stdin=body, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, env=env,
    )  # fmt: skip
    if process.stdout is None:
        raise AssertionError
    output = process.stdout
    head = await output.readuntil(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    status = int(fields.pop("Status", "200")[:3])

    async def chunks() -> AsyncIterator[bytes]:
        try:
            while chunk := await output.read(_CHUNK):
                yield chunk
        finally:
            if process.returncode is None and not output.at_eof():
                process.kill()
            await process.wait()

    return StreamingResponse(chunks(), status, fields)
