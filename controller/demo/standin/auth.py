"""Who is calling: from the Authorization header to a token.

Called by the API, by GraphQL, by smart HTTP and for the request log. ``Bearer`` and ``token`` carry
the token itself, ``Basic`` carries it as the password, as git sends it.
"""

import base64
import binascii
from collections.abc import Mapping

from controller.demo.standin.accounts import Token
from controller.demo.standin.state import Refusal, State


def credential(headers: Mapping[str, str]) -> str | None:
    """The credential of a request, None without one, empty for one that can't be read."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    match kind.lower():
        case "":
            return None
        case "bearer" | "token":
            return value.strip()
        case "basic":
            return _password(value)
        case _:
            return ""


def _password(value: str) -> str:
    try:
        plain = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    user, _, password = plain.partition(":")
    return password or user


def identify(state: State, headers: Mapping[str, str]) -> Token | None:
    """The caller's token, None for a caller without any; Refusal 401 for a wrong one."""
    value = credential(headers)
    if value is None:
        return None
    token = state.token(value)
    if token is None:
        raise Refusal(401, "Bad credentials")
    return token


def known(state: State, headers: Mapping[str, str]) -> str | None:
    """The caller's login for the log, None without a valid token."""
    token = state.token(credential(headers) or "")
    return None if token is None else token.login
