"""The token of a GitHub App's installation, kept until shortly before it ends.

Gives `http.Api` and the writer their `credential`, and the finder its `app_login`. A token lives
for an hour and ETags are good for one token only, so it is kept between ticks; PyGithub is loaded
only to make a new one. Never keeps or shows the private key.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from controller.adapters.github.answers import RefusedError, one_line
from controller.adapters.github.pause import utc_now, write_private
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import ForgeError, TobanError

_MARGIN = timedelta(minutes=5)
"""A token is replaced so long before its end, so that no run of requests outlives it."""


class AppCredential:
    """Token and login of the App's installation on `owner`.

    `private_key` returns the key in PEM form and may raise TobanError. `store` (mode 0600) keeps
    the token for the next process; None, or `writable` false (plan), keeps it in memory only.
    """

    def __init__(
        self,
        *,
        api_url: str,
        app_id: int,
        private_key: Callable[[], str],
        owner: str,
        store: Path | None = None,
        writable: bool = True,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._api_url = api_url.rstrip("/")
        self._app_id = app_id
        self._private_key = private_key
        self._owner = owner
        self._store = store
        self._writable = writable
        self._now = now
        self._known: dict[str, str] = {}

    def __call__(self) -> str:
        """A token that is good for five minutes at least. Raises ForgeError."""
        return self._grant()["token"]

    def login(self) -> Seen[str]:
        """The App's login, `slug[bot]`."""
        try:
            return self._grant()["login"]
        except TobanError as error:
            return Unseen(source="GET /app", reason=str(error), code=Reason.TOKEN_REFUSED)

    def _grant(self) -> dict[str, str]:
        for known in (self._known, self._stored()):
            if self._usable(known):
                self._known = known
                return known
        self._known = self._fresh()
        if self._store is not None and self._writable:
            try:
                write_private(self._store, json.dumps(self._known))
            except OSError as error:
                raise ForgeError(f"{self._store}: cannot be written: {error.strerror}") from error
        return self._known

    def _usable(self, known: dict[str, str]) -> bool:
        try:
            ends = datetime.fromisoformat(known["expires_at"])
            mine = known["for"] == self._for and bool(known["token"]) and bool(known["login"])
            return mine and ends > self._now() + _MARGIN
        except (KeyError, ValueError, TypeError):
            return False

    @property
    def _for(self) -> str:
        return f"{self._api_url} {self._app_id} {self._owner.lower()}"

    def _stored(self) -> dict[str, str]:
        if self._store is None:
            return {}
        try:
            stored = json.loads(self._store.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(stored, dict) or not all(isinstance(v, str) for v in stored.values()):
            return {}
        return stored

    def _fresh(self) -> dict[str, str]:
        from controller.adapters.github.client import grant

        try:
            made = grant(
                api_url=self._api_url,
                app_id=self._app_id,
                private_key=self._private_key(),
                owner=self._owner,
            )
        except RefusedError as error:
            raise ForgeError(f"GitHub App {self._app_id}: {one_line(str(error))}") from error
        if made is None:
            raise ForgeError(f"GitHub App {self._app_id} is not installed on {self._owner}")
        return {**made._asdict(), "for": self._for}
