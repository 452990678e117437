"""GET with ETags, paging, pauses and refusals: what every read of the forge goes through.

Called by finder, reader and writer (for its look-ups); stands on `wire`. Answers with values: what
could not be read is `Unseen` with a reason code, never an exception and never an empty list. Sends
GET, and POST for GraphQL queries only, so that a dry run that holds this cannot write.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode, urljoin, urlsplit

from controller import __version__
from controller.adapters.github import decode
from controller.adapters.github.answers import (
    TOKEN,
    Reply,
    absent,
    limited,
    one_line,
    pause_asked,
    refusal,
)
from controller.adapters.github.cache import Entry, EtagCache
from controller.adapters.github.pause import Pause
from controller.adapters.github.shape import Json, Node, ShapeError, parse
from controller.adapters.github.wire import Raw, Wire, WireError, origin_of
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import TobanError

API_VERSION = "2022-11-28"
"""GitHub's dated API whose shapes `decode` expects."""
USER_AGENT = f"toban/{__version__}"
MAX_PAGES = 200
"""Pages of 100 in one list: 20,000 entries. More is not read by halves but said."""

_BACKOFF = (0.2, 1.0)
"""Seconds before the second and the third try of a GET."""
_NEXT = re.compile(r'<([^<>]*)>\s*;[^,<]*\brel\s*=\s*"?next"?')
_REDIRECTS = (301, 302, 303, 307, 308)
_ANSWERS = (200, 404, 409, 410)


class _Ask(NamedTuple):
    method: str
    target: str
    source: str
    token: str


class Api:
    """The reading half of the forge.

    `credential` returns the token and may raise TobanError. `timeout` is in seconds. Not for two
    threads at once: GitHub wants serial requests.
    """

    def __init__(
        self,
        *,
        api_url: str,
        credential: Callable[[], str],
        pause: Pause,
        cache: EtagCache,
        timeout: float = 20.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self._credential = credential
        self.pause = pause
        self._cache = cache
        self._sleep = sleep
        self._secret = ""
        self._wire = Wire(api_url, timeout=timeout)
        self.address = self._wire.address

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._wire.close()

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Seen[Reply]:
        """One answer. `path` begins with `/` and is quoted already."""
        return self._get(self._target(path, query), f"GET {path}")

    def pages(
        self, path: str, query: Mapping[str, str], *, missing: Reason, under: str | None = None
    ) -> Seen[tuple[Node, ...]]:
        """All entries of a list, every page; `under` names the key that holds the list.

        A list that cannot be read to its end is Unseen as a whole. `missing` is the reason code
        when the forge says that there is no such list.
        """
        source = f"GET {path}"
        target: str | None = self._target(path, {**query, "per_page": "100"})
        entries: list[Node] = []
        read: set[str] = set()
        while target is not None:
            if target in read or len(read) == MAX_PAGES:
                return Unseen(source=source, reason=f"the list does not end ({len(read)} pages)")
            read.add(target)
            reply = self._get(target, source)
            if isinstance(reply, Unseen):
                return reply
            if not reply.found:
                return absent(source, reply, missing)
            try:
                node = Node(reply.json)
                entries.extend((node if under is None else node[under]).entries())
            except ShapeError as error:
                return Unseen(source=source, reason=str(error))
            target = reply.next
        return tuple(entries)

    def query(self, document: str, variables: Mapping[str, Json]) -> Seen[Reply]:
        """Answer of a GraphQL query; status 404 where the forge serves none."""
        source = "POST /graphql"
        token = self.token(source)
        if isinstance(token, Unseen):
            return token
        prefix = self._wire.prefix.removesuffix("/v3")
        ask = _Ask("POST", f"{prefix}/graphql", source, token)
        body = json.dumps({"query": document, "variables": dict(variables)}).encode()
        raw = self._send(ask, {"Content-Type": "application/json"}, body)
        if isinstance(raw, Unseen):
            return raw
        if raw.status in (404, 405, 501):
            return Reply(404, None)
        if raw.status != 200:  # noqa: PLR2004 - HTTP
            return self._refused(raw, source)
        try:
            return Reply(200, parse(raw.body))
        except ShapeError as error:
            return Unseen(source=source, reason=str(error))

    def token(self, source: str) -> Seen[str]:
        """The credential, fit for a header; from now on `clean` blots it out."""
        try:
            token = self._credential()
        except TobanError as error:
            return Unseen(source=source, reason=one_line(str(error)), code=Reason.TOKEN_REFUSED)
        if not TOKEN.fullmatch(token):
            reason = "the token is empty or holds characters that no token has"
            return Unseen(source=source, reason=reason, code=Reason.TOKEN_REFUSED)
        self._secret = token
        return token

    def clean(self, text: str) -> str:
        """Foreign text as one safe line, without the token should it stand there."""
        return one_line(text, hide=self._secret)

    def message_of(self, body: bytes) -> str:
        """GitHub's sentence in the body of a refusal, empty when there is none."""
        try:
            message = Node(parse(body)).maybe("message")
            return "" if message is None else self.clean(message.text())
        except ShapeError:
            return ""

    def _target(self, path: str, query: Mapping[str, str] | None) -> str:
        question = f"?{urlencode(query, quote_via=quote)}" if query else ""
        return f"{self._wire.prefix}{path}{question}"

    def _get(self, target: str, source: str, *, follow: bool = True) -> Seen[Reply]:
        token = self.token(source)
        if isinstance(token, Unseen):
            return token
        url = f"{self.api_url} {target}"
        entry = self._cache.get(url, token)
        condition = {} if entry is None else {"If-None-Match": entry.etag}
        raw = self._send(_Ask("GET", target, source, token), condition)
        if isinstance(raw, Unseen):
            return raw
        if raw.status == 304:  # noqa: PLR2004 - HTTP
            return self._unchanged(url, token, entry, source) or self._get(target, source)
        if raw.status == 200:  # noqa: PLR2004 - HTTP
            try:
                return self._fresh(url, token, raw, target)
            except ShapeError as error:
                return Unseen(source=source, reason=str(error))
        if raw.status in _ANSWERS:
            return Reply(raw.status, {"message": self.message_of(raw.body)})
        if raw.status in _REDIRECTS and follow:
            return self._moved(raw, target, source)
        return self._refused(raw, source)

    def _unchanged(
        self, url: str, token: str, entry: Entry | None, source: str
    ) -> Seen[Reply] | None:
        """The remembered answer; None when it is damaged and must be asked for in full."""
        if entry is None:
            return Unseen(source=source, reason="answered 304 although nothing was known before")
        try:
            reply = Reply(200, parse(entry.body), entry.next)
        except ShapeError:
            self._cache.forget(url, token)
            return None
        self._cache.confirm(url, token)
        return reply

    def _fresh(self, url: str, token: str, raw: Raw, target: str) -> Reply:
        value = parse(raw.body)
        following = self._next(raw.headers.get("link", ""), target)
        etag = raw.headers.get("etag", "")
        if etag:
            self._cache.put(url, token, Entry(etag, raw.body.decode(), following))
        return Reply(200, value, following)

    def _next(self, link: str, target: str) -> str | None:
        """Target of the next page; the token goes to no other host, port or scheme."""
        found = _NEXT.search(link)
        if found is None:
            return None
        try:
            parts = urlsplit(urljoin(self._absolute(target), str(found[1])))
            same = origin_of(parts) == self._wire.origin
        except ValueError as error:
            raise ShapeError("the link to the next page is no address") from error
        if not same:
            raise ShapeError("the link to the next page leads to another host")
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _absolute(self, target: str) -> str:
        scheme, host, port = self._wire.origin
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{target}"

    def _send(self, ask: _Ask, headers: Mapping[str, str], body: bytes | None = None) -> Seen[Raw]:
        """Send until there is an answer; what GitHub could not serve is tried twice more."""
        full = {
            "User-Agent": USER_AGENT,
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": API_VERSION,
            "Authorization": f"Bearer {ask.token}",
            **headers,
        }
        reason = ""
        for pause in (*_BACKOFF, None):
            until = self.pause.until()
            if until is not None:
                return limited(ask.source, "GitHub asked for a pause; nothing was sent", until)
            try:
                raw = self._wire.exchange(ask.method, ask.target, full, body)
            except WireError as error:
                reason = self.clean(str(error))
                if not error.again:
                    break
            else:
                if raw.status < 500 or raw.status == 501:  # noqa: PLR2004 - HTTP
                    return self._heed(raw, ask.source)
                reason = refusal(raw.status, self.message_of(raw.body))[1]
            if pause is not None:
                self._sleep(pause)
        return Unseen(source=ask.source, reason=reason)

    def _heed(self, raw: Raw, source: str) -> Seen[Raw]:
        message = self.message_of(raw.body) if raw.status in (403, 429) else ""
        until = pause_asked(raw.status, raw.headers, message, self.pause.now())
        if until is None:
            return raw
        end = self.pause.ask(until)
        return limited(source, f"GitHub asked for a pause ({raw.status})", end)

    def _refused(self, raw: Raw, source: str) -> Unseen:
        code, reason = refusal(raw.status, self.message_of(raw.body))
        return Unseen(source=source, reason=reason, code=code)

    def _moved(self, raw: Raw, target: str, source: str) -> Unseen:
        """A redirect is not followed; for a repository its new name is asked for, once."""
        if not target.removeprefix(self._wire.prefix).startswith("/repos/"):
            return Unseen(source=source, reason=f"redirected ({raw.status}); not followed")
        name = self._new_name(raw.headers.get("location", ""), target)
        where = f"is {name} now" if name else "has another name now, which GitHub did not tell"
        return Unseen(
            source=source,
            reason=f"the repository {where}; redirects are not followed",
            code=Reason.REPOSITORY_MOVED,
        )

    def _new_name(self, location: str, target: str) -> str | None:
        try:
            parts = urlsplit(urljoin(self._absolute(target), location))
            same = origin_of(parts) == self._wire.origin
        except ValueError:
            return None
        path = parts.path.removeprefix(self._wire.prefix)
        home = re.match(r"/repositories/[0-9]+|/repos/[^/]+/[^/]+", path)
        if not same or home is None:
            return None
        reply = self._get(self._target(home[0], None), f"GET {home[0]}", follow=False)
        if isinstance(reply, Unseen) or not reply.found:
            return None
        try:
            return str(decode.full_name(Node(reply.json)["full_name"]))
        except ShapeError:
            return None
