"""The token of a GitHub App's installation: made, kept, renewed, never shown."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from controller.adapters.github.app import AppCredential
from controller.domain.values import Unseen
from controller.errors import ForgeError
from tests.fakes.raw_server import Asked, RawServer, Sent, answer

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.TraditionalOpenSSL,
    serialization.NoEncryption(),
).decode()
NOW = datetime.now(UTC).replace(microsecond=0)
CANARY = "ghs_canaryCANARYcanary"


def github(asked: Asked) -> Sent:
    """An App with two installations."""
    if asked.target == "/app":
        return answer({"slug": "host", "id": 1})
    if asked.target.startswith("/app/installations?") or asked.target == "/app/installations":
        return answer(
            [
                {"id": 10, "account": {"login": "somebody"}},
                {"id": 11, "account": {"login": "Octo"}},
            ]
        )
    if asked.target == "/app/installations/11/access_tokens":
        ends = NOW + timedelta(hours=1)
        return answer({"token": CANARY, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}, 201)
    return answer({"message": "Not Found"}, 404)


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer(github) as made:
        yield made


type Make = Callable[..., AppCredential]


@pytest.fixture
def make(server: RawServer, tmp_path: Path) -> Make:
    def made(
        *,
        after: timedelta = timedelta(),
        owner: str = "octo",
        key: str = PEM,
        writable: bool = True,
    ) -> AppCredential:
        return AppCredential(
            api_url=server.url,
            app_id=1,
            private_key=lambda: key,
            owner=owner,
            store=tmp_path / "app" / "token.json",
            writable=writable,
            now=lambda: NOW + after,
        )

    return made


def test_a_token_of_the_owners_installation(make: Make, server: RawServer) -> None:
    credential = make()
    assert credential() == CANARY
    assert credential.login() == "host[bot]"
    assert len(server.asked) == 3
    bearer = server.asked[0].headers["authorization"].removeprefix("Bearer ")
    assert jwt.decode(bearer, KEY.public_key(), algorithms=["RS256"])["iss"] == "1"


def test_the_next_process_uses_it_and_a_late_one_makes_another(
    make: Make, server: RawServer, tmp_path: Path
) -> None:
    make()()
    file = tmp_path / "app" / "token.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert PEM not in file.read_text("utf-8")
    server.asked.clear()
    assert make(after=timedelta(minutes=54))() == CANARY
    assert make().login() == "host[bot]"
    assert server.asked == []
    make(after=timedelta(minutes=56))()
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"token": 1}', b'{"token": "x", "for": "another"}', b"\xff"]
)
def test_a_damaged_or_foreign_store_is_made_anew(
    make: Make, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "app" / "token.json"
    file.parent.mkdir()
    file.write_bytes(content)
    assert make()() == CANARY
    assert json.loads(file.read_text("utf-8"))["token"] == CANARY


def test_plan_keeps_it_in_memory(make: Make, server: RawServer, tmp_path: Path) -> None:
    credential = make(writable=False)
    assert (credential(), credential()) == (CANARY, CANARY)
    assert len(server.asked) == 3
    assert list(tmp_path.iterdir()) == []


def test_an_owner_without_the_app(make: Make) -> None:
    with pytest.raises(ForgeError, match="GitHub App 1 is not installed on stranger"):
        make(owner="stranger")()


def test_a_key_that_is_none(make: Make, server: RawServer) -> None:
    with pytest.raises(ForgeError, match="expected an RSA key in PEM form") as told:
        make(key="canary-of-a-key")()
    assert "canary" not in str(told.value)
    assert server.asked == []


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (answer({"message": "Bad credentials"}, 401), r"refused \(401\): Bad credentials"),
        (answer({"message": "x"}, 500), "no readable answer"),
        (answer(b"{"), "no readable answer"),
        (answer({}, 307, {"Location": "/x"}), "answered 307"),
        (Sent(hang_up=True), "no readable answer"),
    ],
)
def test_a_refusal_becomes_one_sentence(
    make: Make, server: RawServer, sent: Sent, said: str
) -> None:
    server.script = lambda asked: answer({"slug": "host"}) if asked.target == "/app" else sent
    with pytest.raises(ForgeError, match=said):
        make()()
    gone = make().login()
    assert isinstance(gone, Unseen)
    assert gone.code == "TokenRefused"
