"""One kept-alive HTTP connection to the forge, on the standard library alone.

Below `http`, which decides what to send and what an answer means. Never follows a redirect, never
sends anything twice, never reads more than it was told to. Not for two threads at once.
"""

import http.client
import ssl
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

MAX_BODY = 64 * 1024 * 1024
"""Bytes of one answer. A page of 100 issues with the longest bodies, escaped, stays below."""
_CHUNK = 65_536


class WireError(Exception):
    """No answer, or none that could be read; the sentence names host and port."""

    def __init__(self, sentence: str, *, again: bool) -> None:
        super().__init__(sentence)
        self.again = again
        """Whether sending the same GET again could help."""


class Raw(NamedTuple):
    """An answer as it came; header names in lower case, repeated ones joined."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """The connection to the host of `url`; opened when first used, and again after a failure.

    `timeout` is in seconds: for connecting, for each wait, and three times that for an answer as a
    whole. `limit` is the longest body in bytes. Raises ValueError for an address that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        limit: int = MAX_BODY,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address: expected https://host[:port][/path]")
        self.origin = origin_of(parts)
        self.prefix = parts.path.rstrip("/")
        self._scheme, self._host, self._port = self.origin
        self._timeout = timeout
        self._limit = limit
        self._monotonic = monotonic
        self._connection: http.client.HTTPConnection | None = None

    @property
    def address(self) -> str:
        """Host and port, for people."""
        return f"{self._host}:{self._port}"

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Raw:
        """Send one request and read its answer. Raises WireError."""
        connection = self._connection or self._open()
        self._connection = connection
        connected = connection.sock is not None
        try:
            if not connected:
                connection.connect()
                connected = True
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            return Raw(response.status, _headers(response), self._read(response))
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise WireError(self._sentence(error, connected=connected), again=True) from error
        except WireError:
            self.close()
            raise

    def close(self) -> None:
        """Drop the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> http.client.HTTPConnection:
        if self._scheme == "http":
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout, context=ssl.create_default_context()
        )

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        deadline = self._monotonic() + 3 * self._timeout
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if size > self._limit:
                raise WireError(
                    f"{self.address} sent more than {self._limit} bytes in one answer", again=False
                )
            if self._monotonic() > deadline:
                raise WireError(f"{self.address} sends its answer too slowly", again=True)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        # Only a closed answer frees the kept-alive connection for the next request.
        response.close()
        return b"".join(chunks)

    def _sentence(self, error: OSError | http.client.HTTPException, *, connected: bool) -> str:
        match error:
            case ssl.SSLError():
                return f"no trusted TLS connection to {self.address}: {error.reason}"
            case TimeoutError():
                what = "no answer from" if connected else "no connection to"
                return f"{what} {self.address} within {self._timeout:g} s"
            case OSError() if not connected:
                return f"could not connect to {self.address}: {error.strerror or error}"
            case http.client.IncompleteRead() | OSError() | http.client.RemoteDisconnected():
                return f"{self.address} broke the connection off before its answer was complete"
            case _:
                return f"{self.address} does not speak HTTP ({type(error).__name__})"


def origin_of(parts: SplitResult) -> tuple[str, str, int]:
    """Scheme, host and port, with the port that the scheme implies. Raises ValueError."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, (parts.hostname or "").lower(), port


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.getheaders():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers
