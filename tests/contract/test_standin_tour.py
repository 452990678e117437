"""One walk through every operation of the stand-in, judged by GitHub's description.

Fails when an operation was left out, when an answer is not as GitHub describes it, and when a
waiver explains nothing any more. Beside it: the judge itself notices what is wrong.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from controller.demo.standin import Standin
from controller.demo.standin.api import Api
from tests.openapi.checker import Checker, Problem, Waiver, verdict
from tests.openapi.client import Client
from tests.openapi.waivers import WAIVERS

pytestmark = pytest.mark.needs("git>=2.38")

REPO = "/repos/octo/app"
ISSUE = f"{REPO}/issues/1"
PULL = f"{REPO}/pulls/2"


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Checker, Standin]]:
    checker = Checker()
    with Standin(tmp_path_factory.mktemp("tour") / "github", checker=checker) as github:
        Tour(github).walk()
        yield checker, github


class Tour:
    """Calls everything once at least, as people and programs would."""

    def __init__(self, github: Standin) -> None:
        self.world = github.world
        self.url = github.url
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        for login in ("octo", "toban", "stranger"):
            self.world.add_user(login)
        self.world.add_repo(
            "octo/app",
            files={"README.md": "hi\n", "src/a.py": "a = 1\n", "bin": b"\0\1"},
            collaborators={"toban": "write"},
        )
        self.ask = Client(github.url, "tok_toban")

    def walk(self) -> None:
        self.people()
        self.issues()
        self.pulls()
        self.repository()
        self.apps()
        self.odd_answers()

    def people(self) -> None:
        for path in ("/user", "/users/octo", "/users/octo/repos", "/user/repos", "/rate_limit"):
            self.get(path)
        self.get(REPO)
        for path in ("collaborators", "assignees", "collaborators/toban/permission"):
            self.get(f"{REPO}/{path}")
        for path in ("collaborators/toban", "assignees/toban"):
            assert self.ask("GET", f"{REPO}/{path}").status == 204

    def issues(self) -> None:
        self.post(f"{REPO}/labels", name="agent:ready", color="0e8a16", description="d")
        self.get(f"{REPO}/labels")
        self.get(f"{REPO}/labels/agent:ready")
        self.send("PATCH", f"{REPO}/labels/agent:ready", {"color": "ffffff"})
        self.post(f"{REPO}/issues", title="t", body="b", labels=["agent:ready"])
        self.send("PATCH", ISSUE, {"title": "u", "body": "c"})
        self.post(f"{ISSUE}/assignees", assignees=["octo", "toban"])
        self.send("DELETE", f"{ISSUE}/assignees", {"assignees": ["octo"]})
        comment = self.post(f"{ISSUE}/comments", body="x")["id"]
        self.send("PATCH", f"{REPO}/issues/comments/{comment}", {"body": "y"})
        self.get(f"{REPO}/issues/comments/{comment}")
        self.send("POST", f"{ISSUE}/labels", ["a", "b"])
        self.send("PUT", f"{ISSUE}/labels", {"labels": ["agent:ready", "a"]})
        self.send("DELETE", f"{ISSUE}/labels/a")
        for path in ("", "/labels", "/comments", "/events", "/timeline"):
            self.get(ISSUE + path)
        self.send("PATCH", ISSUE, {"state": "closed", "state_reason": "not_planned"})
        self.get(ISSUE)
        self.send("PATCH", ISSUE, {"state": "open"})
        for path in ("/issues", "/user/issues"):
            self.get(path, filter="all", labels="agent:ready", per_page=1)
        for path in ("issues", "issues/comments", "issues/events"):
            self.get(f"{REPO}/{path}", per_page=100)

    def pulls(self) -> None:
        files: dict[str, str | bytes | None] = {"src/a.py": None, "src/b.py": "a = 1\n", "c": "c\n"}
        self.world.push_commit("octo/app", "agent/issue-1", files, by="toban")
        head = self.world.head("octo/app", "agent/issue-1")
        self.post(f"{REPO}/pulls", title="t", head="agent/issue-1", base="main", body="Fixes #1")
        self.send("PATCH", PULL, {"title": "v"})
        self.send("POST", f"{REPO}/issues/2/labels", {"labels": ["agent:ready"]})
        review = self.send("POST", f"{PULL}/reviews", {"body": "r", "event": "COMMENT"})["id"]
        self.get(f"{PULL}/reviews/{review}")
        for path in ("", "", "/files", "/commits", "/reviews", "/comments"):
            self.get(PULL + path)
        self.get(f"{REPO}/issues/2/timeline")
        self.get(f"{REPO}/pulls", head="octo:agent/issue-1", state="all", base="main")
        assert self.ask("GET", f"{PULL}/merge").status == 404
        self.post(f"{REPO}/statuses/{head}", state="success", context="gate")
        self.get(f"{REPO}/compare/main...agent/issue-1")
        self.send("PUT", f"{PULL}/merge", {"commit_title": "m"})
        assert self.ask("GET", f"{PULL}/merge").status == 204
        self.get(PULL)

    def repository(self) -> None:
        head = self.world.head("octo/app", "main")
        self.post(f"{REPO}/git/refs", ref="refs/heads/x", sha=head)
        self.send("PATCH", f"{REPO}/git/refs/heads/x", {"sha": head, "force": True})
        for path in ("branches", "branches/main", "git/ref/heads/main", "commits"):
            self.get(f"{REPO}/{path}")
        for path in ("commits/main", "commits/main/status", "commits/main/statuses"):
            self.get(f"{REPO}/{path}")
        for path in ("git/matching-refs/heads/", "contents/", "contents/src", "contents/bin"):
            self.get(f"{REPO}/{path}")
        assert self.ask("DELETE", f"{REPO}/git/refs/heads/x").status == 204
        assert self.ask("DELETE", f"{REPO}/git/refs/heads/x").status == 422

    def apps(self) -> None:
        public = self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.world.add_app(7, "helper", owner="octo", public_key=public.decode())
        number = self.world.install_app(7, "octo").id
        now = int(self.world.now().timestamp())
        claims = {"iss": "7", "iat": now, "exp": now + 300}
        app = Client(self.url, jwt.encode(claims, self.key, algorithm="RS256"))
        for path in ("/app", "/app/installations", f"/app/installations/{number}"):
            app.get(path)
        app.get(f"{REPO}/installation")
        made = app("POST", f"/app/installations/{number}/access_tokens", {})
        assert made.status == 201
        bot = Client(self.url, made.json["token"])
        bot.get("/installation/repositories")
        assert bot("GET", "/user").status == 403

    def odd_answers(self) -> None:
        tag = self.ask("GET", REPO).etag
        assert self.ask("GET", REPO, headers={"If-None-Match": tag}).status == 304
        assert self.ask("GET", f"{REPO}/collaborators/stranger").status == 404
        stranger = Client(self.url, "tok_stranger")
        assert stranger("POST", f"{ISSUE}/labels", {"labels": ["x"]}).status == 403
        comments = self.get(f"{ISSUE}/comments")
        path = f"{REPO}/issues/comments/{comments[0]['id']}"
        assert self.ask("DELETE", path).status == 204
        assert self.ask("DELETE", f"{ISSUE}/labels").status == 204
        assert self.ask("DELETE", f"{REPO}/labels/b").status == 204
        assert self.ask("POST", "/graphql", {"query": "{viewer{login}}"}).status == 200

    def get(self, path: str, **query: str | int) -> Any:
        return self.ask.get(path, **query)

    def post(self, path: str, **body: object) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status == 201, answer.raw
        return answer.json

    def send(self, method: str, path: str, body: object = None) -> Any:
        answer = self.ask(method, path, body)
        assert answer.status == 200, answer.raw
        return answer.json


def test_everything_is_as_github_describes_it(toured: tuple[Checker, Standin]) -> None:
    checker, _ = toured
    assert verdict(checker, WAIVERS, whole=True) == []


def test_nothing_is_left_out(toured: tuple[Checker, Standin]) -> None:
    checker, github = toured
    seen = {request.method + " " + request.path for request in github.world.requests()}
    left = []
    for route in Api(github.world.state).routes()[:-1]:
        for method in (route.methods or set()) - {"HEAD"}:
            ways = (way.partition(" ") for way in seen)
            if not any(m == method and route.path_regex.match(path) for m, _, path in ways):
                left.append(f"{method} {route.path}")
    assert left == []
    assert len(checker.seen) > 60


# The judge


@dataclass
class Made:
    """An exchange as a test wants it."""

    method: str = "GET"
    path: str = ISSUE
    query: str = ""
    request: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    response: bytes = b""


def judge(exchange: Made) -> list[str]:
    checker = Checker()
    checker.see(exchange)
    return verdict(checker, (), whole=False)


type Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda it: it, None, id="as it is"),
        pytest.param(lambda it: it.pop("user"), "'user' is a required property", id="missing"),
        pytest.param(lambda it: it.update(number="1"), "$.number '1' is not", id="type"),
        pytest.param(
            lambda it: it["labels"].append({"id": "x"}), "$.labels[]", id="an entry of a list"
        ),
        pytest.param(lambda it: it.update(state_reason="bored"), "$.state_reason", id="word"),
        pytest.param(lambda it: it.update(state_reason=None), None, id="null"),
    ],
)
def test_the_judge_sees_what_is_wrong(
    toured: tuple[Checker, Standin], change: Change, said: str | None
) -> None:
    issue = Client(toured[1].url, "tok_toban").get(ISSUE)
    change(issue)
    lines = judge(Made(response=json.dumps(issue).encode()))
    assert (lines == []) is (said is None)
    if said is not None:
        assert said in lines[0]


@pytest.mark.parametrize(
    ("exchange", "said"),
    [
        (Made(path=f"{REPO}/nothing"), "no such operation in the description"),
        (Made(query="bogus=1", status=304), "request: unknown query parameter bogus"),
        (Made(status=299), "response: status 299 is not described"),
        (
            Made(method="DELETE", path=f"{REPO}/labels/a/b", status=204, response=b"x"),
            "response 204: a body where none is described",
        ),
        (
            Made(
                method="POST", path=f"{ISSUE}/comments", request=b"{}", status=201, response=b"{}"
            ),
            "request: $ 'body' is a required property",
        ),
        (
            Made(method="DELETE", path=f"{REPO}/labels/x", request=b"{}", status=204),
            "request: a body where none is described",
        ),
    ],
)
def test_the_judge_sees_strange_requests_and_answers(exchange: Made, said: str) -> None:
    assert any(said in line for line in judge(exchange))


def test_a_waiver_covers_its_own_problem_and_must_be_used() -> None:
    checker = Checker()
    checker.see(Made(status=299))
    problem = Problem(
        "GET /repos/{owner}/{repo}/issues/{issue_number}", "response: status 299 is not described"
    )
    assert list(checker.problems) == [problem]
    used = Waiver(operation="GET .*", message=".* 299 .*", reason="r")
    unused = Waiver(operation="POST .*", message=".*", reason="r")
    assert verdict(checker, [used], whole=True) == []
    assert verdict(checker, [used, unused], whole=False) == []
    assert verdict(checker, [unused], whole=True) == [
        f"{problem} (1 times)",
        "waiver never used: POST .*: .*",
    ]


def test_the_subset_stands_as_it_was_built() -> None:
    notice = Path(__file__).parents[1] / "data" / "github-openapi.NOTICE"
    assert "MIT License" in notice.read_text()
    paths = Checker().description.spec["paths"]
    assert {"/issues", "/repos/{owner}/{repo}/pulls/{pull_number}"} <= set(paths)
