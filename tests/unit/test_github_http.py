"""Reading through raw HTTP: what a broken, hostile or moved server may send."""

import json
import os
import ssl
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controller import __version__
from controller.adapters.github.cache import KEEP_SECONDS, Entry, EtagCache
from controller.adapters.github.http import Api
from controller.adapters.github.pause import Pause
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.wire import Wire, WireError
from controller.domain.ids import IssueId, Repository
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import ConfigError
from tests.fakes.raw_server import CLOSED, Asked, RawServer, Script, Sent, answer

TOKEN = "ghp_canaryCANARYcanary0123456789abcdef"
APP = Repository(owner="octo", name="app")
ITEM = IssueId(repository=APP, number=1)

type Reading = Callable[[Script], tuple[RawServer, Api]]


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    """A server with a script, and an `Api` that reads from it."""
    opened: list[tuple[RawServer, Api]] = []

    def start(script: Script) -> tuple[RawServer, Api]:
        server = RawServer(script).__enter__()
        api = Api(
            api_url=server.url,
            credential=lambda: TOKEN,
            pause=Pause(),
            cache=EtagCache(tmp_path / "etags"),
            timeout=5,
            sleep=lambda _seconds: None,
        )
        opened.append((server, api))
        return server, api

    yield start
    for server, api in opened:
        api.close()
        server.__exit__(None, None, None)


def unseen(value: Seen[object]) -> Unseen:
    assert isinstance(value, Unseen), value
    return value


def test_what_is_sent(reading: Reading) -> None:
    server, api = reading(lambda _: answer({"id": 1}))
    api.get("/user", {"q": "agent:ready 日"})
    asked = server.asked[0]
    assert asked.target == "/user?q=agent%3Aready%20%E6%97%A5"
    assert asked.headers["authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["user-agent"] == f"toban/{__version__}"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"


def test_the_connection_is_kept(reading: Reading) -> None:
    server, api = reading(lambda _: answer({}))
    for _ in range(3):
        api.get("/user")
    assert (len(server.asked), server.connections) == (3, 1)


def test_a_kept_connection_that_the_server_closed_is_opened_again(reading: Reading) -> None:
    server, api = reading(lambda _: answer({})._replace(hang_up=True))
    for _ in range(3):
        assert not isinstance(api.get("/user"), Unseen)
    assert server.connections == 3


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (answer(b'{"a": '), "no JSON"),
        (answer(b""), "no JSON"),
        (answer(b"<html>"), "no JSON"),
        (answer(b'{"a": NaN}'), "NaN"),
        (answer(b'{"a": ' + b"1" * 5000 + b"}"), "no JSON"),
        (answer(b"[" * 200_000), "nested too deeply"),
        (answer(b'{"a": "\xff"}'), "not UTF-8 (byte 7)"),
        (answer([]), "expected an object"),
        (answer("text"), "expected an object"),
        (answer({"id": 1}), "$.full_name is missing"),
        (answer({"full_name": 7}), "$.full_name is 7, expected a repository"),
        (answer({"full_name": "../etc"}), "full name owner/repo"),
        (answer({"full_name": "a/b\nc"}), "full name owner/repo"),
        (Sent(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", hang_up=True), "broke the"),
        (Sent(b"SSH-2.0-OpenSSH_9.2\r\n", hang_up=True), "does not speak HTTP"),
        (Sent(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", hang_up=True), "HTTP"),
        (CLOSED, "broke the connection off"),
        (answer(status=304), "304 although"),
        (answer({"message": "boom"}, status=500), "answered 500: boom"),
        (answer({"message": "odd"}, status=418), "answered 418: odd"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_an_answer_that_is_none_is_unseen_with_its_reason(
    reading: Reading, sent: Sent, reason: str
) -> None:
    _, api = reading(lambda _: sent)
    gone = unseen(GitHubReader(api).repository(APP))
    assert reason in gone.reason
    assert (gone.source, gone.code) == ("GET /repos/octo/app", "ForgeUnseen")


def test_nobody_there_names_host_and_port() -> None:
    with RawServer(lambda _: CLOSED) as server:
        port = server.port
    api = Api(
        api_url=f"http://127.0.0.1:{port}",
        credential=lambda: TOKEN,
        pause=Pause(),
        cache=EtagCache(),
        sleep=lambda _seconds: None,
    )
    gone = unseen(api.get("/user"))
    assert f"could not connect to 127.0.0.1:{port}" in gone.reason


def test_a_server_that_never_answers() -> None:
    waits: list[RawServer] = []

    def never(_: Asked) -> Sent:
        waits[0].release.wait()
        return CLOSED

    with RawServer(never) as server:
        waits.append(server)
        wire = Wire(server.url, timeout=0.05)
        with pytest.raises(WireError, match=rf"no answer from 127.0.0.1:{server.port} within"):
            wire.exchange("GET", "/", {})
        wire.close()


def test_a_body_without_end_is_cut_off() -> None:
    with RawServer(lambda _: answer(b"x" * 100_001)) as server:
        wire = Wire(server.url, timeout=5, limit=100_000)
        with pytest.raises(WireError, match="more than 100000 bytes") as told:
            wire.exchange("GET", "/", {})
        assert not told.value.again
        wire.close()


def test_an_answer_that_trickles_is_cut_off() -> None:
    times = iter(range(0, 1000, 10))
    with RawServer(lambda _: answer(b"x" * 1_000_000)) as server:
        wire = Wire(server.url, timeout=5, monotonic=lambda: float(next(times)))
        with pytest.raises(WireError, match="too slowly"):
            wire.exchange("GET", "/", {})
        wire.close()


@pytest.mark.parametrize("url", ["ftp://x", "github.com", "https://", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected https"):
        Wire(url, timeout=1)


class TestTls:
    @pytest.fixture
    def certificate(self, tmp_path: Path) -> Path:
        """A certificate for 127.0.0.1 that nobody trusts by itself, with its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]),
                critical=False,
            )
            .sign(key, hashes.SHA256())
        )
        file = tmp_path / "tls.pem"
        file.write_bytes(
            made.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return file

    @staticmethod
    def ask(certificate: Path) -> tuple[RawServer, Seen[object]]:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        with RawServer(lambda _: answer({"id": 1}), tls=tls) as server:
            api = Api(
                api_url=server.url,
                credential=lambda: TOKEN,
                pause=Pause(),
                cache=EtagCache(),
                sleep=lambda _seconds: None,
            )
            said = api.get("/user")
            api.close()
            return server, said

    def test_an_untrusted_certificate_gets_no_token(self, certificate: Path) -> None:
        server, said = self.ask(certificate)
        gone = unseen(said)
        assert f"no trusted TLS connection to 127.0.0.1:{server.port}" in gone.reason
        assert server.asked == []

    def test_a_trusted_one_is_spoken_to(
        self, certificate: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        server, said = self.ask(certificate)
        assert not isinstance(said, Unseen), said
        assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


class TestPaging:
    def test_every_page(self, reading: Reading) -> None:
        def script(asked: Asked) -> Sent:
            page = int(asked.target.rpartition("page=")[2]) if "&page=" in asked.target else 1
            link = f'<{server.url}/repositories/7/labels?per_page=100&page={page + 1}>; rel="next"'
            last = f'<{server.url}/x>; rel="last"'
            more = {"Link": f"{last}, {link}"} if page < 3 else {}
            return answer([{"page": page}], headers=more)

        server, api = reading(script)
        nodes = api.pages("/repos/octo/app/labels", {}, missing=Reason.FORGE_UNSEEN)
        assert not isinstance(nodes, Unseen)
        assert [node["page"].number() for node in nodes] == [1, 2, 3]
        assert server.lines[0] == "GET /repos/octo/app/labels?per_page=100"

    @pytest.mark.parametrize(
        "elsewhere",
        [
            "https://127.0.0.1:{port}/next",
            "http://127.0.0.1:1/next",
            "http://localhost:{port}/next",
            "http://127.0.0.1:{port}@evil.example/next",
            "//evil.example/next",
            "http://[::1/next",
            "http://127.0.0.1:99999/next",
        ],
    )
    def test_the_token_goes_nowhere_else(self, reading: Reading, elsewhere: str) -> None:
        def script(_: Asked) -> Sent:
            return answer(
                [], headers={"Link": f'<{elsewhere.format(port=server.port)}>; rel="next"'}
            )

        server, api = reading(script)
        gone = unseen(api.pages("/x", {}, missing=Reason.FORGE_UNSEEN))
        assert "next page" in gone.reason
        assert len(server.asked) == 1

    def test_a_list_without_end(self, reading: Reading) -> None:
        server, api = reading(
            lambda asked: answer([], headers={"Link": f"<{asked.target}>; rel=next"})
        )
        gone = unseen(api.pages("/x", {}, missing=Reason.FORGE_UNSEEN))
        assert "does not end" in gone.reason
        assert len(server.asked) == 1


class TestRedirects:
    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_a_renamed_repository_is_named_and_not_followed(
        self, reading: Reading, status: int
    ) -> None:
        def script(asked: Asked) -> Sent:
            if asked.target == "/repositories/42":
                return answer({"full_name": "octo/new"})
            return answer(status=status, headers={"Location": "/repositories/42/issues?x=1"})

        server, api = reading(script)
        gone = unseen(api.get("/repos/octo/app/issues"))
        assert gone.code == "RepositoryMoved"
        assert "octo/new" in gone.reason
        assert server.lines == ["GET /repos/octo/app/issues", "GET /repositories/42"]

    @pytest.mark.parametrize(
        "location",
        ["http://127.0.0.1:1/repositories/4", "/elsewhere", "", "/repositories/9", "http://[x/"],
    )
    def test_a_redirect_that_leads_nowhere(self, reading: Reading, location: str) -> None:
        server, api = reading(lambda _: answer(status=301, headers={"Location": location}))
        gone = unseen(api.get("/repos/octo/app"))
        assert gone.code == "RepositoryMoved"
        assert "did not tell" in gone.reason
        assert len(server.asked) <= 2

    def test_no_name_is_asked_for_at_another_host(self, reading: Reading) -> None:
        where = {"Location": "https://127.0.0.1:1/repositories/4"}
        server, api = reading(lambda _: answer(status=301, headers=where))
        assert "did not tell" in unseen(api.get("/repos/octo/app")).reason
        assert server.lines == ["GET /repos/octo/app"]

    def test_a_redirect_of_something_else(self, reading: Reading) -> None:
        _, api = reading(lambda _: answer(status=302, headers={"Location": "/login"}))
        gone = unseen(api.get("/user"))
        assert (gone.code, "redirected" in gone.reason) == ("ForgeUnseen", True)

    def test_an_issue_that_was_transferred(self, reading: Reading) -> None:
        def script(asked: Asked) -> Sent:
            if asked.target.startswith("/repos/octo/app/issues/1"):
                return answer(status=301, headers={"Location": "/repositories/9/issues/3"})
            return answer(
                {
                    "full_name": "octo/app" if "octo" in asked.target else "octo/other",
                    "default_branch": "main",
                }
            )

        _, api = reading(script)
        gone = unseen(GitHubReader(api).issue(ITEM))
        assert (gone.code, "moved to another" in gone.reason) == ("IssueNotFound", True)


class TestAbsence:
    def test_a_branch_that_is_only_a_prefix_is_none(self, reading: Reading) -> None:
        def script(asked: Asked) -> Sent:
            if "/git/ref/" in asked.target:
                return answer([{"ref": "refs/heads/agent/issue-10"}])
            return answer({"full_name": "octo/app", "default_branch": "main"})

        server, api = reading(script)
        assert GitHubReader(api).branch_tip(APP, "agent/issue-1") is None
        assert server.lines[0] == "GET /repos/octo/app/git/ref/heads/agent/issue-1"

    def test_another_reference_is_no_answer(self, reading: Reading) -> None:
        def script(asked: Asked) -> Sent:
            if "/git/ref/" in asked.target:
                tip = {"ref": "refs/heads/Agent/Issue-1", "object": {"sha": "0" * 40}}
                return answer(tip)
            return answer({"full_name": "octo/app", "default_branch": "main"})

        _, api = reading(script)
        assert GitHubReader(api).branch_tip(APP, "agent/issue-1") is None

    def test_pull_requests_from_elsewhere_are_none_of_ours(self, reading: Reading) -> None:
        def pull(number: int, home: object, branch: str) -> dict[str, object]:
            return {
                "number": number,
                "state": "closed",
                "user": None,
                "head": {"sha": "0" * 40, "ref": branch, "repo": home},
                "base": {"sha": "1" * 40, "ref": "main"},
                "created_at": "2026-10-13T10:00:00Z",
                "updated_at": "2026-10-13T10:00:00Z",
                "closed_at": "2026-10-13T10:00:00Z",
                "merged_at": None,
                "html_url": "http://forge/1",
            }

        listed = [
            pull(5, {"full_name": "OCTO/App"}, "agent/issue-1"),
            pull(4, {"full_name": "fork/app"}, "agent/issue-1"),
            pull(3, None, "agent/issue-1"),
            pull(2, {"full_name": "octo/app"}, "agent/issue-10"),
            pull(1, {"full_name": "octo/app"}, "agent/issue-1"),
        ]
        server, api = reading(lambda _: answer(listed))
        pulls = GitHubReader(api).pulls(ITEM)
        assert not isinstance(pulls, Unseen)
        assert [made.number for made in pulls] == [1, 5]
        assert "head=octo%3Aagent%2Fissue-1&state=all" in server.lines[0]

    def test_an_empty_repository_has_no_branch(self, reading: Reading) -> None:
        def script(asked: Asked) -> Sent:
            if "/git/ref/" in asked.target:
                return answer({"message": "Git Repository is empty."}, status=409)
            return answer({"full_name": "octo/app", "default_branch": "main"})

        _, api = reading(script)
        assert GitHubReader(api).branch_tip(APP, "main") is None

    @pytest.mark.parametrize("login", ["", ".", "..", "a/b", "a b", "ａ", "a\n", "x" * 300])
    def test_an_odd_login_is_never_sent(self, reading: Reading, login: str) -> None:
        server, api = reading(lambda _: answer({"permission": "admin"}))
        assert "no GitHub login" in unseen(GitHubReader(api).permission(APP, login)).reason
        assert server.asked == []

    @pytest.mark.parametrize(
        ("login", "path"), [("dependabot[bot]", "dependabot%5Bbot%5D"), ("me_corp", "me_corp")]
    )
    def test_bots_and_managed_users_have_a_permission(
        self, reading: Reading, login: str, path: str
    ) -> None:
        server, api = reading(lambda _: answer({"permission": "write", "role_name": "write"}))
        assert GitHubReader(api).permission(APP, login) == "write"
        assert server.lines == [f"GET /repos/octo/app/collaborators/{path}/permission"]


class TestCache:
    @staticmethod
    def tagged(asked: Asked) -> Sent:
        if asked.headers.get("if-none-match") == '"one"':
            return answer(status=304, headers={"ETag": '"one"'})
        return answer([{"a": 1}], headers={"ETag": '"one"'})

    @pytest.mark.parametrize(
        "damage",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"etag": 1, "body": "[]", "next": null}',
            b'{"etag": "\\"one\\"", "body": "[", "next": null}',
        ],
    )
    def test_a_damaged_file_is_asked_for_again(
        self, reading: Reading, tmp_path: Path, damage: bytes
    ) -> None:
        server, api = reading(self.tagged)
        api.pages("/x", {}, missing=Reason.FORGE_UNSEEN)
        (file,) = (tmp_path / "etags").iterdir()
        file.write_bytes(damage)
        _, fresh = reading(server.script)
        again = Api(
            api_url=server.url,
            credential=lambda: TOKEN,
            pause=Pause(),
            cache=EtagCache(tmp_path / "etags"),
        )
        fresh.close()
        first = again.pages("/x", {}, missing=Reason.FORGE_UNSEEN)
        assert not isinstance(first, Unseen), first
        assert [node["a"].number() for node in first] == [1]
        again.close()

    def test_another_token_has_its_own_entries(self, tmp_path: Path) -> None:
        cache = EtagCache(tmp_path)
        cache.put("u", "one", Entry("e", "b", None))
        assert EtagCache(tmp_path).get("u", "one") == Entry("e", "b", None)
        assert EtagCache(tmp_path).get("u", "two") is None

    def test_old_files_are_swept_and_confirmed_ones_stay(self, tmp_path: Path) -> None:
        old = EtagCache(tmp_path)
        for url in ("over", "alive"):
            old.put(url, "t", Entry("e", "b", None))
        for file in tmp_path.iterdir():
            past = time.time() - KEEP_SECONDS - 60
            os.utime(file, (past, past))
        cache = EtagCache(tmp_path)
        cache.confirm("alive", "t")
        cache.put("new", "t", Entry("e", "b", None))
        left = EtagCache(tmp_path)
        assert [u for u in ("over", "alive", "new") if left.get(u, "t")] == ["alive", "new"]

    def test_a_folder_that_cannot_be_written_only_costs_a_longer_answer(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("in the way", "utf-8")
        cache = EtagCache(tmp_path / "file" / "below")
        cache.put("u", "t", Entry("e", "b", None))
        assert cache.get("u", "t") == Entry("e", "b", None)


class TestToken:
    @pytest.mark.parametrize("token", ["", "a b", "a\nb", "トークン", "a\x00"])
    def test_what_is_no_token_is_never_sent_nor_shown(self, token: str) -> None:
        with RawServer(lambda _: answer({})) as server:
            api = Api(
                api_url=server.url,
                credential=lambda: token,
                pause=Pause(),
                cache=EtagCache(),
            )
            gone = unseen(api.get("/user"))
            assert server.asked == []
        assert gone.code == "TokenRefused"
        assert not token or token not in gone.reason

    def test_a_token_that_cannot_be_had(self) -> None:
        def missing() -> str:
            raise ConfigError("/etc/toban/token: not there")

        api = Api(
            api_url="http://127.0.0.1:1", credential=missing, pause=Pause(), cache=EtagCache()
        )
        gone = unseen(api.get("/user"))
        assert (gone.code, gone.reason) == ("TokenRefused", "/etc/toban/token: not there")

    @pytest.mark.parametrize("status", [200, 401, 403, 404, 409, 422, 429, 500])
    def test_a_server_that_echoes_it_gets_it_into_no_message(
        self, reading: Reading, status: int
    ) -> None:
        def echo(asked: Asked) -> Sent:
            said = asked.headers["authorization"]
            body = {"message": said, "id": said, "full_name": said, "errors": [{"message": said}]}
            return answer(body, status=status)

        _, api = reading(echo)
        reader = GitHubReader(api)
        told = [
            unseen(reader.repository(APP)),
            unseen(reader.issue(ITEM)),
            unseen(reader.comments(APP, 1)),
            unseen(reader.compare(APP, "main", "x")),
            unseen(api.query("query { viewer { login } }", {}))
            if status not in (200, 404)
            else None,
        ]
        assert TOKEN not in repr(told)

    def test_it_stands_in_no_file(self, reading: Reading, tmp_path: Path) -> None:
        _, api = reading(lambda _: answer({"a": 1}, headers={"ETag": '"e"'}))
        api.get("/user")
        (file,) = (tmp_path / "etags").iterdir()
        assert TOKEN not in file.name + file.read_text("utf-8")
        assert set(json.loads(file.read_text("utf-8"))) == {"etag", "body", "next"}
