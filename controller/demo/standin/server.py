"""Running the stand-in: a uvicorn server on loopback in a thread of its own.

Used by tests, the demo and the command line. Everything is in memory but the bare repositories
below the given root.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.types import Scope

from controller.demo.standin import control
from controller.demo.standin.api import Api
from controller.demo.standin.front import Front, Witness
from controller.demo.standin.graph import Graph
from controller.demo.standin.pages import Pages
from controller.demo.standin.smart_http import SmartHttp
from controller.demo.standin.world import World

HOST = "127.0.0.1"
_START_TIMEOUT = 30


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def main_loop(self) -> None:
        """Serve until `end`; instead of a look every tenth of a second."""
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._ready()
        await self._ended.wait()

    def end(self) -> None:
        """Stop serving; from any thread."""
        self.should_exit = True
        self._loop.call_soon_threadsafe(self._ended.set)

    def drop(self, scope: Scope) -> None:
        """Close the connection of a request without an answer."""
        for connection in list(self.server_state.connections):
            if getattr(connection, "client", None) == scope["client"]:
                connection.transport.abort()


class Standin:
    """A GitHub on loopback; see the package's docstring.

    `root` is made when missing and should be empty. `port` 0 picks a free one. `checker` sees every
    REST exchange. As a context manager it is started and stopped.
    """

    def __init__(self, root: Path, *, port: int = 0, checker: Witness | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.world = World(root.resolve())
        self._port = port
        self._checker = checker
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address, ``http://127.0.0.1:PORT``, of API, git and pages alike."""
        return self.world.state.base_url

    def start(self) -> Self:
        """Listen; requests are answered from here on."""
        listener = socket.create_server((HOST, self._port))
        # Accepted connections inherit this; without it head and body of an answer lie 40 ms apart.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.world.state.base_url = f"http://{HOST}:{listener.getsockname()[1]}"
        ready = threading.Event()
        config = uvicorn.Config(
            self._application(),
            lifespan="off",
            ws="none",
            http="h11",
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, ready.set)
        self._thread = threading.Thread(
            target=self._serve, args=(self._server, listener), name="standin", daemon=True
        )
        self._thread.start()
        if not ready.wait(_START_TIMEOUT):
            raise RuntimeError("the stand-in did not start")
        return self

    @staticmethod
    def _serve(server: _Server, listener: socket.socket) -> None:
        with listener:
            server.run(sockets=[listener])

    def _application(self) -> Front:
        state = self.world.state
        routes = [*Graph(state).routes(), *Api(state).routes(Pages(state).routes())]
        rest = Starlette(routes=routes)
        rest.router.redirect_slashes = False
        return Front(
            state,
            api=rest,
            git=SmartHttp(state),
            control=control.application(self.world),
            drop=self._drop,
            witness=self._checker,
        )

    def _drop(self, scope: Scope) -> None:
        if self._server is not None:
            self._server.drop(scope)

    def stop(self) -> None:
        """Stop answering. RuntimeError if the stand-in itself failed at a request."""
        if self._server is not None and self._thread is not None:
            self.world.clear_faults()
            self._server.end()
            self._thread.join()
        self._server = self._thread = None
        crashes = self.world.state.crashes
        if crashes:
            raise RuntimeError("the stand-in failed:\n" + "\n".join(crashes))

    def wait(self) -> None:
        """Block until the server ends."""
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
