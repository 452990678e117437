"""A plain HTTP client for tests of the stand-in, on the standard library alone.

Sends what it is told and gives back what came; follows and retries nothing.
"""

import http.client
import json
from dataclasses import dataclass
from http.client import HTTPMessage
from typing import Any
from urllib.parse import quote, urlencode


@dataclass(frozen=True)
class Answer:
    """Status, headers and raw body of an answer."""

    status: int
    headers: HTTPMessage
    raw: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)

    @property
    def etag(self) -> str:
        """The entity tag, which must be there."""
        return str(self.headers["ETag"])


class Client:
    """Requests with one token; None sends no Authorization."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._port = int(url.rpartition(":")[2])
        self._token = token

    def __call__(
        self,
        method: str,
        path: str,
        body: object = None,
        /,
        *,
        headers: dict[str, str] | None = None,
        **query: str | int,
    ) -> Answer:
        """One request on a connection of its own; `body` goes out as JSON unless it is bytes."""
        sent = {"User-Agent": "tests", "Accept": "application/vnd.github+json"}
        if self._token is not None:
            sent["Authorization"] = f"Bearer {self._token}"
        sent |= headers or {}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        target = quote(path) + (f"?{urlencode(query)}" if query else "")
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for key, value in sent.items():
                if value:
                    connection.putheader(key, value)
            if content is not None:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str, /, **query: str | int) -> Any:
        """The JSON of a GET that must succeed."""
        answer = self("GET", path, headers=None, **query)
        assert answer.status == 200, answer.raw
        return answer.json
