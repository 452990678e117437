"""PyGithub, tamed: the only module that imports it, loaded at the first write.

Called by `send` and, for a GitHub App, by `app`. Sends each write once, follows no redirect, waits
for no rate limit, and translates every error of PyGithub, requests and urllib3 at this border.
"""

from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

import requests
from github import Auth, Github, GithubException, GithubIntegration
from github.GithubRetry import GithubRetry
from jwt import PyJWTError
from urllib3 import HTTPResponse, Retry
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

from controller.adapters.github.answers import (
    LostAnswerError,
    RedirectedError,
    RefusedError,
    pause_asked,
    refusal,
)
from controller.adapters.github.http import API_VERSION, USER_AGENT, Api
from controller.adapters.github.shape import Json, Node, ShapeError
from controller.domain.reasons import Reason
from controller.errors import ForgeLimitedError

_TIMEOUT = 20
_BROKEN = (requests.RequestException, AssertionError, ValueError, TypeError, KeyError, RuntimeError)
"""What PyGithub lets through when no answer, or no answer that it understands, came back."""


class _Once(GithubRetry):
    """Retries for reads alone. PyGithub would repeat a POST, and follow a 301 with it."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:  # noqa: FBT001, FBT002 - urllib3's signature
        """Whether `increment` is asked what to do with this answer."""
        return _is_redirect(status_code) or super().is_retry(method, status_code, has_retry_after)

    def increment(  # type: ignore[override] # as GithubRetry narrows it itself
        self,
        method: str | None = None,
        url: str | None = None,
        response: HTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Retry:
        """The next try; RedirectedError for a redirect, before anybody can follow it."""
        if response is not None and _is_redirect(response.status):
            response.close()
            raise RedirectedError(f"answered {response.status}")
        return super().increment(method, url, response, error, _pool, _stacktrace)


def _is_redirect(status: int) -> bool:
    return 300 <= status < 400  # noqa: PLR2004 - HTTP


def _once() -> _Once:
    return _Once(
        total=3,
        connect=1,
        backoff_factor=0.1,
        allowed_methods=frozenset({"GET", "HEAD"}),
        secondary_rate_wait=1,
        max_rate_limit_wait=0.5,
    )


class Client:
    """Writes with one token; its pause and its words are those of `api`."""

    def __init__(self, api: Api, *, token: str, seconds_between_writes: float) -> None:
        self._api = api
        self._github = Github(
            base_url=api.api_url,
            auth=Auth.Token(token),
            timeout=_TIMEOUT,
            user_agent=USER_AGENT,
            per_page=100,
            retry=_once(),
            seconds_between_requests=0,
            seconds_between_writes=seconds_between_writes,
            lazy=True,
            api_version=API_VERSION,
        )

    def close(self) -> None:
        """Close the connections."""
        self._github.close()

    def perform[T](self, write: Callable[[Github], T]) -> T:
        """Do one write and read its answer.

        Raises LostAnswerError, RefusedError, RedirectedError or ForgeLimitedError.
        """
        try:
            return write(self._github)
        except GithubException as error:
            raise self._translated(error) from error
        except _BROKEN as error:
            if _never_sent(error):
                sentence = f"could not connect to {self._api.address}"
                raise RefusedError(sentence, status=0, code=Reason.FORGE_UNSEEN) from error
            raise LostAnswerError(f"no readable answer ({type(error).__name__})") from error

    def _translated(self, error: GithubException) -> Exception:
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        said = self._api.clean(sentence_of(error.data))
        until = pause_asked(error.status, headers, said, self._api.pause.now())
        if until is not None:
            end = self._api.pause.ask(until)
            return ForgeLimitedError(f"GitHub asked for a pause ({error.status})", until=end)
        if error.status >= 500:  # noqa: PLR2004 - HTTP
            return LostAnswerError(f"answered {error.status}")
        code, sentence = refusal(error.status, said)
        return RefusedError(sentence, status=error.status, code=code)


def sentence_of(data: Json) -> str:
    """GitHub's message with the details of a failed validation."""
    try:
        node = Node(data)
        message = node.maybe("message")
        errors = node.maybe("errors")
        details = [_detail(e) for e in errors.entries()] if errors is not None else []
        return "; ".join(filter(None, ["" if message is None else message.text(), *details]))
    except ShapeError:
        return ""


def _detail(entry: Node) -> str:
    if isinstance(entry.value, str):
        return entry.value
    message = entry.maybe("message")
    if message is not None:
        return message.text()
    keys = (entry.maybe(key) for key in ("resource", "field", "code"))
    return " ".join(key.text() for key in keys if key is not None)


def _never_sent(error: Exception) -> bool:
    """Whether the connection was refused before a byte of the request could leave."""
    cause = error.args[0] if error.args else None
    reason = cause.reason if isinstance(cause, MaxRetryError) else None
    return isinstance(error, requests.ConnectionError) and isinstance(
        reason, NewConnectionError | ConnectTimeoutError
    )


class Grant(NamedTuple):
    """An installation's token, when it ends (ISO 8601), and the login it acts under."""

    token: str
    expires_at: str
    login: str


def grant(*, api_url: str, app_id: int, private_key: str, owner: str) -> Grant | None:
    """A fresh token of the App's installation on `owner`, None when there is no such installation.

    Raises RefusedError.
    """
    try:
        with GithubIntegration(
            auth=Auth.AppAuth(app_id, private_key),
            base_url=api_url,
            timeout=_TIMEOUT,
            user_agent=USER_AGENT,
            per_page=100,
            retry=_once(),
            seconds_between_requests=0,
            seconds_between_writes=0,
            api_version=API_VERSION,
        ) as integration:
            return _granted(integration, owner)
    except GithubException as error:
        code, sentence = refusal(error.status, sentence_of(error.data))
        raise RefusedError(sentence, status=error.status, code=code) from error
    except RedirectedError as error:
        raise RefusedError(str(error), status=0, code=Reason.FORGE_UNSEEN) from error
    except PyJWTError as error:
        sentence = "the private key cannot sign: expected an RSA key in PEM form"
        raise RefusedError(sentence, status=0, code=Reason.TOKEN_REFUSED) from error
    except _BROKEN as error:
        sentence = f"no readable answer from {api_url} ({type(error).__name__})"
        raise RefusedError(sentence, status=0, code=Reason.FORGE_UNSEEN) from error


def _granted(integration: GithubIntegration, owner: str) -> Grant | None:
    login = f"{integration.get_app().slug}[bot]"
    for installation in integration.get_installations():
        account = Node(installation.raw_data)["account"]["login"].text()
        if account.lower() == owner.lower():
            made = integration.get_access_token(installation.id)
            return Grant(made.token, made.expires_at.isoformat(), login)
    return None
