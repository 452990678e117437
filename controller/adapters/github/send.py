"""One write: sent once, and looked up when its answer is lost.

Called by `writer` for each change. Knows pauses, refusals and redirects; knows nothing of labels or
pull requests. Loads PyGithub (through `client`) at the first write, never before.
"""

from __future__ import annotations  # PyGithub is loaded at the first write only

from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.adapters.github.answers import LostAnswerError, RedirectedError, RefusedError
from controller.adapters.github.http import Api
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.shape import ShapeError
from controller.domain.ids import Repository
from controller.domain.values import Seen, Unseen
from controller.errors import ForgeError, ForgeLimitedError, ForgeUnknownError

if TYPE_CHECKING:
    from github import Github

    from controller.adapters.github.client import Client


class Sender:
    """Sends writes with the token and the pause of `api`; looks up through `reader`."""

    def __init__(self, api: Api, reader: GitHubReader, *, seconds_between_writes: float) -> None:
        self._api = api
        self._reader = reader
        self._spacing = seconds_between_writes
        self._made: tuple[str, Client] | None = None

    def send[T](
        self,
        repository: Repository,
        what: str,
        act: Callable[[Github], T],
        *,
        found: Callable[[], T | None],
        refused: Callable[[RefusedError], T | None] = lambda _: None,
    ) -> T:
        """Do `act` once.

        `found` looks up what a lost answer did, `refused` says what a refusal amounts to; None is
        nothing. Raises ForgeError, ForgeUnknownError or ForgeLimitedError, whose texts begin with
        `what`.
        """
        client = self._client()
        try:
            return client.perform(act)
        except LostAnswerError as lost:
            try:
                there = found()
            except ForgeError as error:
                raise ForgeUnknownError(f"{what}: {lost}, and looking it up: {error}") from lost
            if there is None:
                raise ForgeUnknownError(f"{what}: {lost}, and it is not to be seen") from lost
            return there
        except RefusedError as error:
            there = refused(error)
            if there is None:
                raise ForgeError(f"{what}: {error}") from error
            return there
        except RedirectedError as error:
            seen = self._reader.repository(repository)
            why = seen.reason if isinstance(seen, Unseen) else str(error)
            raise ForgeError(f"{what}: nothing was written: {why}") from error

    def close(self) -> None:
        """Close the connections; the next write opens others."""
        if self._made is not None:
            self._made[1].close()
            self._made = None

    def _client(self) -> Client:
        until = self._api.pause.until()
        if until is not None:
            raise ForgeLimitedError("GitHub asked for a pause; nothing was sent", until=until)
        token = need(self._api.token("writing"))
        if self._made is None or self._made[0] != token:
            from controller.adapters.github.client import Client

            self.close()
            made = Client(self._api, token=token, seconds_between_writes=self._spacing)
            self._made = (token, made)
        return self._made[1]


def need[T](seen: Seen[T]) -> T:
    """What was seen. Raises ForgeError or ForgeLimitedError: no write without its look-up."""
    if not isinstance(seen, Unseen):
        return seen
    sentence = f"{seen.source}: {seen.reason}"
    if seen.until is not None:
        raise ForgeLimitedError(sentence, until=seen.until)
    raise ForgeError(sentence)


def read[T](decoded: Callable[[], T], source: str) -> T:
    """What `decoded` returns. Raises ForgeError for an answer of another shape."""
    try:
        return decoded()
    except ShapeError as error:
        raise ForgeError(f"{source}: {error}") from error
