"""A loopback server that sends whatever bytes a test wants, for what no honest server would do."""

import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self


class Asked(NamedTuple):
    """A request as it came; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Sent(NamedTuple):
    """What is sent back. `hang_up` closes the connection after it."""

    data: bytes = b""
    hang_up: bool = False


type Script = Callable[[Asked], Sent]

CLOSED = Sent(hang_up=True)
"""No answer at all."""


def answer(body: object = b"", status: int = 200, headers: Mapping[str, str] | None = None) -> Sent:
    """A well-formed answer; anything but bytes becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return Sent("\r\n".join((*lines, "", "")).encode() + content)


class RawServer:
    """Answers by `script`; keeps every request and counts connections. `tls` makes it HTTPS."""

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.connections = 0
        self.release = threading.Event()
        """Set at the end; a script may wait for it to never answer."""
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                outer.connections += 1
                try:
                    while (asked := _read(self.rfile.readline, self.rfile.read)) is not None:
                        outer.asked.append(asked)
                        sent = outer.script(asked)
                        self.wfile.write(sent.data)
                        self.wfile.flush()
                        if sent.hang_up:
                            return
                except OSError:
                    return

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

            def get_request(self) -> tuple[socket.socket, Any]:
                plain, address = super().get_request()
                if tls is None:
                    return plain, address
                # The handshake belongs to the connection's own thread.
                return (
                    tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False),
                    address,
                )

            def handle_error(self, request: object, client_address: object) -> None:
                """A client that breaks off is what these tests are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[str]:
        """Method and target of each request."""
        return [f"{asked.method} {asked.target}" for asked in self.asked]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


def _read(line: Callable[[], bytes], read: Callable[[int], bytes]) -> Asked | None:
    first = line().decode().split()
    if not first:
        return None
    headers: dict[str, str] = {}
    while text := line().decode().rstrip("\r\n"):
        name, _, value = text.partition(":")
        headers[name.lower()] = value.strip()
    body = read(int(headers.get("content-length", "0")))
    return Asked(first[0], first[1], headers, body)
