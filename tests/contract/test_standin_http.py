"""What all of the stand-in's operations share: credentials, limits, redirects, ETags, faults."""

import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from github import Auth, Github, GithubIntegration

from controller.demo.standin import Fault, Standin, World
from controller.demo.standin.faults import Kind
from tests.openapi.client import Client
from tests.openapi.judged import judged

pytestmark = pytest.mark.needs("git>=2.38")

APP = "/repos/octo/app"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Standin]:
    with judged(tmp_path / "github") as standin:
        standin.world.add_user("octo")
        standin.world.add_user("toban")
        standin.world.add_repo("octo/app", private=True, collaborators={"toban": "write"})
        standin.world.create_issue("octo/app", "Title")
        yield standin


@pytest.fixture
def world(github: Standin) -> World:
    return github.world


@pytest.fixture
def ask(github: Standin) -> Client:
    return Client(github.url, "tok_toban")


class TestCredentials:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "token"])
    def test_schemes(self, github: Standin, scheme: str) -> None:
        answer = Client(github.url)("GET", "/user", headers={"Authorization": f"{scheme} tok_octo"})
        assert answer.json["login"] == "octo"

    @pytest.mark.parametrize(
        "header", ["Bearer bad", "token", "Basic ====", "Digest x", "Bearer tok_octo tok_octo"]
    )
    def test_bad_credentials(self, github: Standin, header: str) -> None:
        answer = Client(github.url)("GET", APP, headers={"Authorization": header})
        assert (answer.status, answer.json["message"]) == (401, "Bad credentials")

    def test_a_bad_token_is_401_on_unknown_paths_too(self, github: Standin) -> None:
        assert Client(github.url, "bad")("GET", "/no/such/thing/here").status == 401

    def test_no_token(self, github: Standin) -> None:
        anybody = Client(github.url)
        assert anybody("GET", "/user").json["message"] == "Requires authentication"
        assert anybody("GET", APP).status == 404
        github.world.set_private("octo/app", private=False)
        assert anybody.get(APP)["full_name"] == "octo/app"

    def test_a_revoked_token(self, world: World, ask: Client) -> None:
        world.revoke_token("tok_toban")
        assert ask("GET", "/user").status == 401

    def test_scopes_show_for_classic_tokens_only(self, world: World, ask: Client) -> None:
        assert ask("GET", "/user").headers["X-OAuth-Scopes"] == "repo"
        world.add_token("toban", "github_pat_1", kind="fine-grained")
        fine = Client(world.state.base_url, "github_pat_1")
        assert fine("GET", "/user").headers["X-OAuth-Scopes"] is None

    def test_a_token_without_scope_sees_nothing_private(self, github: Standin) -> None:
        github.world.add_token("toban", "weak", scopes=())
        weak = Client(github.url, "weak")
        assert weak("GET", APP).status == 404
        github.world.set_private("octo/app", private=False)
        assert weak("GET", APP).status == 200
        assert weak("POST", f"{APP}/issues/1/comments", {"body": "x"}).status == 404

    def test_a_fine_grained_token_does_what_it_was_given(self, github: Standin) -> None:
        github.world.add_repo("octo/other", private=True, collaborators={"toban": "write"})
        github.world.add_token(
            "toban",
            "github_pat_2",
            kind="fine-grained",
            permissions={"issues": "read", "contents": "read"},
            repositories=["octo/app"],
        )
        fine = Client(github.url, "github_pat_2")
        assert fine("GET", f"{APP}/issues/1").status == 200
        refused = fine("POST", f"{APP}/issues/1/comments", {"body": "x"})
        assert refused.status == 403
        assert refused.json["message"] == "Resource not accessible by personal access token"
        assert fine("GET", f"{APP}/pulls").status == 403
        assert fine("GET", "/repos/octo/other").status == 404
        assert [it["full_name"] for it in fine.get("/user/repos")] == ["octo/app"]

    def test_user_and_repositories(self, github: Standin) -> None:
        github.world.add_user("helper[bot]", kind="Bot")
        anybody = Client(github.url, "tok_toban")
        assert anybody.get("/users/helper[bot]")["type"] == "Bot"
        assert anybody("GET", "/users/nobody").status == 404
        assert anybody.get("/users/octo/repos") == []
        assert [it["full_name"] for it in anybody.get("/user/repos", per_page=1)] == ["octo/app"]
        by_id = anybody.get(f"/repositories/{github.world.repo('octo/app').id}")
        assert by_id["permissions"] == {
            "admin": False,
            "maintain": False,
            "push": True,
            "triage": True,
            "pull": True,
        }


class TestApps:
    def test_pygithub_gets_and_uses_an_installation_token(self, github: Standin) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        github.world.add_app(7, "helper", owner="octo", public_key=public.decode())
        installed = github.world.install_app(7, "octo")
        app = GithubIntegration(
            auth=Auth.AppAuth(7, private),
            base_url=github.url,
            seconds_between_requests=0,
            seconds_between_writes=0,
        )
        assert app.get_app().slug == "helper"
        assert [it.id for it in app.get_installations()] == [installed.id]
        token = app.get_access_token(installed.id).token
        bot = Client(github.url, token)
        assert bot.get("/installation/repositories")["total_count"] == 1
        made = bot("POST", f"{APP}/issues/1/comments", {"body": "x"}).json
        assert (made["user"]["login"], made["user"]["type"]) == ("helper[bot]", "Bot")
        for path in ("/user", "/issues", "/user/repos"):
            assert bot("GET", path).json["message"] == "Resource not accessible by integration"
        github.world.advance(3601)
        assert bot("GET", APP).status == 401

    def test_signatures_of_others_are_refused(self, github: Standin) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        github.world.add_app(7, "helper", owner="octo", public_key=public.decode())
        now = int(github.world.now().timestamp())
        other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        for signed, claims, said in (
            (other, {"iss": "7", "iat": now, "exp": now + 60}, "could not be decoded"),
            (key, {"iss": "7", "iat": now, "exp": now + 6000}, "too far in the future"),
            (key, {"iss": "7", "iat": now - 90, "exp": now - 60}, "in the future"),
            (key, {"iss": "8", "iat": now, "exp": now + 60}, "Integration not found"),
        ):
            token = jwt.encode(claims, signed, algorithm="RS256")
            answer = Client(github.url, token)("GET", "/app")
            assert answer.status in {401, 404}
            assert said in answer.json["message"]


class TestHeaders:
    def test_a_program_must_have_a_name(self, ask: Client) -> None:
        assert ask("GET", "/user", headers={"User-Agent": ""}).status == 403

    def test_an_unknown_version(self, ask: Client) -> None:
        assert ask("GET", "/user", headers={"X-GitHub-Api-Version": "1999-01-01"}).status == 400
        assert ask("GET", "/user", headers={"X-GitHub-Api-Version": "2022-11-28"}).status == 200

    def test_broken_json(self, ask: Client) -> None:
        path = f"{APP}/issues/1/comments"
        assert ask("POST", path, b"{").json["message"] == "Problems parsing JSON"
        assert ask("POST", path, b'"x"').status == 400
        assert ask("POST", path, b"{}").json["errors"][0]["code"] == "missing_field"
        assert ask("POST", path, {"body": 1}).status == 422

    def test_unknown_paths_methods_and_slashes(self, ask: Client) -> None:
        for method, path in (
            ("GET", "/nothing/here/at/all"),
            ("PUT", f"{APP}/issues/1"),
            ("GET", f"{APP}/issues/"),
            ("GET", f"{APP}/issues/x"),
            ("GET", f"{APP}/issues/99"),
            ("GET", "/repositories/99"),
        ):
            answer = ask(method, path)
            assert (answer.status, answer.json["message"]) == (404, "Not Found"), path

    def test_the_date_is_the_standins(self, world: World, ask: Client) -> None:
        world.set_clock(datetime(2031, 2, 3, tzinfo=UTC))
        date = parsedate_to_datetime(ask("GET", "/user").headers["Date"])
        assert date.date() == datetime(2031, 2, 3, tzinfo=UTC).date()
        assert world.create_issue("octo/app", "t").created_at == int(date.timestamp())


class TestConditional:
    def test_nothing_new_is_304_and_free(self, world: World, ask: Client) -> None:
        first = ask("GET", f"{APP}/issues")
        left = first.headers["X-RateLimit-Remaining"]
        again = ask("GET", f"{APP}/issues", headers={"If-None-Match": first.etag})
        assert (again.status, again.raw, again.etag) == (304, b"", first.etag)
        strong = ask(
            "GET", f"{APP}/issues", headers={"If-None-Match": first.etag.removeprefix("W/")}
        )
        assert (strong.status, strong.headers["X-RateLimit-Remaining"]) == (304, left)
        world.create_issue("octo/app", "more")
        changed = ask("GET", f"{APP}/issues", headers={"If-None-Match": first.etag})
        assert changed.status == 200
        assert int(changed.headers["X-RateLimit-Remaining"]) == int(left) - 1

    def test_tags_are_one_tokens_own(self, github: Standin, ask: Client) -> None:
        tag = ask("GET", f"{APP}/issues/1").etag
        other = Client(github.url, "tok_octo")
        assert other("GET", f"{APP}/issues/1", headers={"If-None-Match": tag}).status == 200

    @pytest.mark.parametrize(
        "path",
        [
            "/user",
            "/issues",
            "/user/repos",
            "/rate_limit",
            APP,
            f"{APP}/issues/1",
            f"{APP}/issues/1/timeline",
            f"{APP}/issues/1/comments",
            f"{APP}/pulls",
            f"{APP}/branches",
            f"{APP}/commits/main",
            f"{APP}/contents/README.md",
        ],
    )
    def test_every_get_has_one(self, ask: Client, path: str) -> None:
        tag = ask("GET", path).etag
        assert ask("GET", path, headers={"If-None-Match": f'"x", {tag}'}).status == 304

    def test_the_log_tells(self, world: World, ask: Client) -> None:
        tag = ask("GET", "/issues", state="all").etag
        world.clear_requests()
        ask("GET", "/issues", headers={"If-None-Match": tag}, state="all")
        seen = world.requests()[0]
        assert (seen.method, seen.path, seen.query) == ("GET", "/issues", "state=all")
        assert seen.status == 304
        assert (seen.user, seen.conditional, seen.fault) == ("toban", True, False)


class TestRenamed:
    def test_the_old_name_leads_to_the_id(self, github: Standin, ask: Client) -> None:
        github.world.rename_repo("octo/app", "neu")
        number = github.world.repo("octo/neu").id
        answer = ask("GET", f"{APP}/issues", per_page=5)
        location = answer.headers["Location"]
        assert (answer.status, answer.json["message"]) == (301, "Moved Permanently")
        assert location == f"{github.url}/repositories/{number}/issues?per_page=5"
        assert ask("POST", f"{APP}/issues", {"title": "t"}).status == 307
        assert ask("GET", location.removeprefix(github.url).partition("?")[0]).status == 200

    def test_pygithub_follows(self, github: Standin) -> None:
        github.world.rename_repo("octo/app", "neu")
        client = Github(base_url=github.url, auth=Auth.Token("tok_toban"), retry=None)
        assert client.get_repo("octo/app").full_name == "octo/neu"

    def test_a_stranger_learns_nothing(self, github: Standin) -> None:
        github.world.add_user("stranger")
        github.world.rename_repo("octo/app", "neu")
        assert Client(github.url, "tok_stranger")("GET", APP).status == 404


class TestLimits:
    def test_the_primary_limit_is_a_users(self, world: World, ask: Client) -> None:
        world.add_token("toban", "second")
        world.set_rate_limit(2)
        second = Client(world.state.base_url, "second")
        assert (ask("GET", "/user").status, second("GET", "/user").status) == (200, 200)
        over = ask("GET", "/user")
        assert over.status == 403
        assert over.json["message"].startswith("API rate limit exceeded for user ID")
        assert over.headers["X-RateLimit-Remaining"] == "0"
        assert ask.get("/rate_limit")["resources"]["core"]["remaining"] == 0
        world.advance(3600)
        assert ask("GET", "/user").status == 200


class TestFaults:
    @pytest.mark.parametrize(
        ("kind", "status", "retry_after", "message"),
        [
            ("secondary", 403, None, "secondary rate limit"),
            ("secondary", 429, 7, "secondary rate limit"),
            ("creation", 403, 7, "temporarily blocked from content creation"),
            ("primary", 403, None, "API rate limit exceeded"),
            ("status", 500, None, "Server Error"),
        ],
    )
    def test_answers(  # noqa: PLR0917 - a table's columns
        self,
        world: World,
        ask: Client,
        kind: Kind,
        status: int,
        retry_after: int | None,
        message: str,
    ) -> None:
        world.add_fault(
            Fault(method="GET", path="/user", kind=kind, status=status, retry_after=retry_after)
        )
        answer = ask("GET", "/user")
        assert answer.status == status
        assert message in answer.json["message"]
        wanted = None if retry_after is None else str(retry_after)
        assert answer.headers["Retry-After"] == wanted
        assert (answer.headers["X-RateLimit-Remaining"] == "0") is (kind == "primary")
        assert ask("GET", "/user").status == 200

    def test_times_skip_and_match(self, world: World, ask: Client) -> None:
        world.add_fault(Fault(path=r".*/comments", method="POST", times=2, skip=1))
        path = f"{APP}/issues/1/comments"
        statuses = [ask("POST", path, {"body": "x"}).status for _ in range(4)]
        assert statuses == [201, 502, 502, 201]
        assert ask("GET", path).status == 200
        assert len(world.comments("octo/app", 1)) == 2
        assert world.faults_left() == 0

    def test_lost_after_the_effect(self, world: World, ask: Client) -> None:
        world.add_fault(Fault(path=r".*/comments", after_effect=True))
        assert ask("POST", f"{APP}/issues/1/comments", {"body": "x"}).status == 502
        assert [it.body for it in world.comments("octo/app", 1)] == ["x"]

    @pytest.mark.parametrize("after_effect", [False, True])
    def test_a_dropped_connection(self, world: World, ask: Client, *, after_effect: bool) -> None:
        world.add_fault(Fault(path=r".*/comments", kind="drop", after_effect=after_effect))
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            ask("POST", f"{APP}/issues/1/comments", {"body": "x"})
        assert len(world.comments("octo/app", 1)) == int(after_effect)
        assert [it.status for it in world.requests()] == [None]

    def test_a_hanging_request(self, world: World, ask: Client) -> None:
        world.add_fault(Fault(path=r".*/comments", kind="hang", after_effect=True))
        with ThreadPoolExecutor() as threads:
            answer = threads.submit(ask, "POST", f"{APP}/issues/1/comments", {"body": "x"})
            seen = world.wait_request("POST", r".*/comments")
            assert (seen.fault, len(world.comments("octo/app", 1))) == (True, 1)
            assert not answer.done()
            world.clear_faults()
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                answer.result(timeout=60)

    def test_a_lagging_list(self, world: World, ask: Client) -> None:
        path = f"{APP}/issues"
        before = ask("GET", path, labels="x")
        world.add_label("octo/app", 1, "x")
        world.add_fault(Fault(path=path, kind="stale", times=2))
        assert ask("GET", path, labels="x").json == []
        unchanged = ask("GET", path, headers={"If-None-Match": before.etag}, labels="x")
        assert unchanged.status == 304
        assert [it["number"] for it in ask.get(path, labels="x")] == [1]

    def test_nobody_comes(self, world: World) -> None:
        with pytest.raises(TimeoutError, match="no request GET /never"):
            world.wait_request("GET", "/never", timeout=0)
