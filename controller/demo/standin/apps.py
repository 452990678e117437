"""GitHub Apps: who signed a JSON web token, and the tokens of an installation.

Called by `routes_apps` and `places`. An App acts as the bot user ``SLUG[bot]``; an installation
gives it write access to the repositories of one account.
"""

from dataclasses import dataclass
from secrets import token_hex

import jwt

from controller.demo.standin.accounts import App, Installation, Token
from controller.demo.standin.state import HOUR, Refusal, State, not_found

_LONGEST = 600
_SKEW = 60


@dataclass(frozen=True)
class Grant:
    """A fresh installation token with what was asked for."""

    token: Token
    permissions: dict[str, str]


def signer(state: State, credential: str | None) -> App:
    """The App whose private key signed the credential; Refusal 401 otherwise."""
    if not credential:
        raise Refusal(401, "A JSON web token could not be decoded")
    try:
        claims = jwt.decode(credential, options={"verify_signature": False})
        app = state.apps.get(int(claims["iss"]))
    except (jwt.PyJWTError, KeyError, ValueError):
        raise Refusal(401, "A JSON web token could not be decoded") from None
    if app is None:
        raise Refusal(404, "Integration not found")
    try:
        jwt.decode(
            credential,
            app.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_iss": False},
        )
    except jwt.PyJWTError:
        raise Refusal(401, "A JSON web token could not be decoded") from None
    _check_times(state, claims)
    return app


def _check_times(state: State, claims: dict[str, object]) -> None:
    issued, ends, now = claims.get("iat"), claims.get("exp"), state.now()
    if not isinstance(issued, int | float) or issued > now + _SKEW:
        raise Refusal(401, "'Issued at' claim ('iat') must be an Integer in the past")
    if not isinstance(ends, int | float) or ends <= now:
        message = "'Expiration time' claim ('exp') must be a numeric value in the future"
        raise Refusal(401, message)
    if ends > now + _LONGEST + _SKEW:
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")


def installation(state: State, app: App, number: int) -> Installation:
    """An installation of this App; Refusal 404 otherwise."""
    found = state.installations.get(number)
    if found is None or found.app_id != app.id:
        raise not_found()
    return found


def mint(
    state: State, app: App, installed: Installation, names: list[str], wanted: dict[str, str]
) -> Grant:
    """A token of the installation for an hour, narrowed to repositories and permissions."""
    repos = installed.repositories
    if names:
        chosen = frozenset(f"{installed.account}/{name}" for name in names)
        if repos is not None and not chosen <= repos:
            raise Refusal(422, "There is at least one repository that does not exist or is not "
                               "accessible to the parent installation.")  # fmt: skip
        repos = chosen
    if any(app.permissions.get(area) not in {level, "write"} for area, level in wanted.items()):
        message = "The permissions requested are not granted to this installation."
        raise Refusal(422, message)
    permissions = wanted or dict(app.permissions)
    token = Token(
        value=f"ghs_{token_hex(18)}",
        login=f"{app.slug}[bot]",
        kind="installation",
        permissions=permissions,
        repositories=repos,
        expires_at=state.now() + HOUR,
        account=installed.account,
    )
    state.tokens[token.value] = token
    return Grant(token, permissions)
