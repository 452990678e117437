"""The stand-in's other doors: control plane, command line, GraphQL and pages."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from github import Auth, Github

from controller.demo.standin import Fault, Standin
from controller.demo.standin.control import methods
from tests.openapi.client import Client

pytestmark = pytest.mark.needs("git>=2.38")

QUERY = """
query($owner: String!, $name: String!, $number: Int!) {
  viewer { login databaseId }
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      lastEditedAt createdAt title body includesCreatedEdit
      userContentEdits(first: 100) {
        totalCount
        nodes { createdAt editedAt editor { login } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""
WHERE = {"owner": "octo", "name": "app", "number": 1}


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "github") as standin:
        standin.world.add_user("octo")
        standin.world.add_user("helper[bot]", kind="Bot")
        standin.world.add_repo("octo/app", private=True, collaborators={"helper[bot]": "write"})
        standin.world.create_issue("octo/app", "題 <b>", "<script>alert(1)</script>")
        yield standin


class TestControl:
    def test_every_method_of_the_world_is_there(self, github: Standin) -> None:
        listed = Client(github.url).get("/_control")["methods"]
        assert listed == methods()
        assert {"add_user", "add_fault", "advance", "merge", "pushes", "wait_request"} <= set(
            listed
        )

    def test_the_same_as_in_python(self, github: Standin) -> None:
        control = Client(github.url)

        def do(method: str, **arguments: object) -> Any:
            answer = control("POST", f"/_control/{method}", arguments)
            assert answer.status == 200, answer.raw
            return answer.json["result"]

        do("add_user", login="bob", token="t")
        do("set_role", repo="octo/app", login="bob", role="triage")
        sha = do("push_commit", repo="octo/app", branch="b", files={"あ": "い"}, by="octo")
        assert do("files", repo="octo/app", ref=sha)["あ"] == "い"
        issue = do("open_pull", repo="octo/app", head="b")
        assert (issue["number"], issue["pull"]["head_sha"]) == (2, sha)
        do("set_clock", when="2031-01-01T00:00:00Z")
        assert do("now").startswith("2031-01-01T00:00:0")
        do("add_fault", fault={"path": "/user", "kind": "secondary", "retry_after": 3})
        assert Client(github.url, "t")("GET", "/user").headers["Retry-After"] == "3"
        assert Client(github.url, "t").get("/user")["login"] == "bob"
        assert [it["status"] for it in do("requests")] == [403, 200]
        do("merge", repo="octo/app", number=2)
        assert do("pushes", repo="octo/app")[-1]["fast_forward"] is True
        assert do("repo", repo="octo/app")["collaborators"]["bob"] == "triage"

    @pytest.mark.parametrize(
        ("path", "body", "status", "said"),
        [
            ("/_control/nothing", b"{}", 404, "no method nothing"),
            ("/_control/__init__", b"{}", 404, "no method __init__"),
            ("/_control/add_user", b"{}", 400, "login"),
            ("/_control/add_user", b'{"login": "x", "kind": "Alien"}', 400, "kind"),
            ("/_control/add_user", b"[]", 400, "must be a JSON object"),
            ("/_control/add_user", b"{", 400, "Expecting"),
            ("/_control/issue", b'{"repo": "octo/app", "number": 9}', 404, "no number 9"),
            ("/_control/add_user", b'{"login": "octo"}', 400, "user octo exists"),
        ],
    )
    def test_refusals(
        self, github: Standin, path: str, body: bytes, status: int, said: str
    ) -> None:
        answer = Client(github.url)("POST", path, body)
        assert answer.status == status
        assert said in answer.json["error"]

    def test_a_fault_of_the_standin_itself_is_not_silent(self, tmp_path: Path) -> None:
        standin = Standin(tmp_path / "other").start()
        standin.world.add_user("octo")
        standin.world.add_repo("octo/app", files={})
        shutil.rmtree(standin.world.repo("octo/app").path)
        assert Client(standin.url)("GET", "/repos/octo/app/branches").status == 500
        with pytest.raises(RuntimeError, match="the stand-in failed"):
            standin.stop()


class TestProcess:
    def test_seed_port_file_and_end(self, tmp_path: Path) -> None:
        seed = tmp_path / "seed.json"
        steps = [
            {"call": "add_user", "login": "octo", "token": "t"},
            {"call": "add_repo", "repo": "octo/app", "files": {"README.md": "こんにちは\n"}},
            {"call": "create_issue", "repo": "octo/app", "title": "t", "labels": ["agent:ready"]},
        ]
        seed.write_text(json.dumps(steps), encoding="utf-8")
        port = tmp_path / "port"
        with self.started("--root", tmp_path / "r", "--seed", seed, "--port-file", port) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url == f"http://127.0.0.1:{port.read_text().strip()}"
            found = Client(url, "t").get("/issues", filter="all", labels="agent:ready")
            assert [it["number"] for it in found] == [1]
            listed = subprocess.run(
                ["git", "ls-remote", f"{url}/octo/app.git", "main"],
                check=True,
                capture_output=True,
                text=True,
            )
            assert listed.stdout.endswith("refs/heads/main\n")
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("{}", "expected a list of steps"),
            ('[{"login": "x"}]', 'step 1: expected {"call": METHOD, ...}'),
            ('[{"call": "add_repo", "repo": "octo/app"}]', "step 1: Not Found"),
            ("[", "Expecting value"),
        ],
    )
    def test_a_bad_seed_is_refused(self, tmp_path: Path, content: str, said: str) -> None:
        seed = tmp_path / "seed.json"
        seed.write_text(content)
        with self.started("--root", tmp_path / "r", "--seed", seed) as process:
            out, err = process.communicate(timeout=60)
            assert (process.returncode, out) == (1, "")
            assert said in err

    @staticmethod
    def started(*arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "controller.demo.standin", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class TestGraphql:
    def query(self, github: Standin, query: str = QUERY, **variables: object) -> Any:
        sent = {"query": query, "variables": variables or WHERE}
        return Client(github.url, "tok_octo")("POST", "/graphql", sent).json

    def test_who_edited_the_text(self, github: Standin) -> None:
        issue = self.query(github)["data"]["repository"]["issue"]
        assert (issue["lastEditedAt"], issue["includesCreatedEdit"]) == (None, False)
        assert issue["userContentEdits"]["nodes"] == []
        github.world.advance(60)
        github.world.edit_issue("octo/app", 1, body="other", by="helper[bot]")
        github.world.edit_issue("octo/app", 1, title="Other")
        answer = self.query(github)["data"]
        assert answer["viewer"]["login"] == "octo"
        issue = answer["repository"]["issue"]
        assert issue["title"] == "Other"
        edits = issue["userContentEdits"]
        assert [it["editor"]["login"] for it in edits["nodes"]] == ["helper", "octo"]
        assert edits["nodes"][0]["editedAt"] == issue["lastEditedAt"] > issue["createdAt"]
        assert edits["nodes"][1]["editedAt"] == issue["createdAt"]
        assert (edits["totalCount"], edits["pageInfo"]["hasNextPage"]) == (2, False)

    def test_pages_of_edits(self, github: Standin) -> None:
        for number in range(4):
            github.world.edit_issue("octo/app", 1, body=f"version {number}")
        query = """query($after: String) { repository(owner: "octo", name: "app") {
          issue(number: 1) { userContentEdits(first: 2, after: $after) {
            nodes { diff } pageInfo { hasNextPage endCursor } } } } }"""
        found: list[str] = []
        after = None
        while True:
            answer = self.query(github, query, after=after)
            page = answer["data"]["repository"]["issue"]["userContentEdits"]
            found += [it["diff"] for it in page["nodes"]]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                break
        assert found[:4] == [f"version {number}" for number in (3, 2, 1, 0)]
        assert len(found) == 5

    def test_pygithub_asks(self, github: Standin) -> None:
        client = Github(base_url=github.url, auth=Auth.Token("tok_octo"), retry=None)
        _, answer = client.requester.graphql_query(QUERY, WHERE)
        assert answer["data"]["repository"]["issue"]["body"].startswith("<script>")

    @pytest.mark.parametrize(
        ("query", "kind", "said"),
        [
            ("{ viewer { logn } }", None, "Cannot query field 'logn' on type 'User'"),
            ("{ viewer", None, "Syntax Error"),
            ('{ repository(owner: "octo") { databaseId } }', None, "is required"),
            (
                '{ repository(owner: "octo", name: "no") { databaseId } }',
                "NOT_FOUND",
                "Could not resolve to a Repository with the name 'octo/no'.",
            ),
            (
                '{ repository(owner: "octo", name: "app") { issue(number: 9) { title } } }',
                "NOT_FOUND",
                "Could not resolve to an Issue with the number of 9.",
            ),
            (
                """{ repository(owner: "octo", name: "app") {
                  issue(number: 1) { userContentEdits { totalCount } } } }""",
                "MISSING_PAGINATION_BOUNDARIES",
                "`first` or `last`",
            ),
        ],
    )
    def test_errors(self, github: Standin, query: str, kind: str | None, said: str) -> None:
        error = self.query(github, query)["errors"][0]
        assert error.get("type") == kind
        assert said in error["message"]

    def test_switched_off_and_without_credentials(self, github: Standin) -> None:
        ask = Client(github.url, "tok_octo")
        assert Client(github.url)("POST", "/graphql", {"query": QUERY}).status == 401
        assert Client(github.url, "bad")("POST", "/graphql", {"query": QUERY}).status == 401
        assert ask("POST", "/graphql", {}).status == 400
        github.world.set_graphql(on=False)
        assert ask("POST", "/graphql", {"query": QUERY}).status == 404

    def test_a_stranger_sees_nothing_private(self, github: Standin) -> None:
        github.world.add_user("stranger")
        sent = {"query": QUERY, "variables": WHERE}
        answer = Client(github.url, "tok_stranger")("POST", "/graphql", sent).json
        assert answer["errors"][0]["type"] == "NOT_FOUND"
        assert answer["data"] is None or answer["data"]["repository"] is None


class TestPages:
    def test_text_from_outside_is_only_text(self, github: Standin) -> None:
        github.world.comment("octo/app", 1, "<img src=x onerror=alert(1)>")
        github.world.add_label("octo/app", 1, "<i>")
        answer = Client(github.url)("GET", "/octo/app/issues/1")
        page = answer.raw.decode()
        assert "題 &lt;b&gt;" in page
        assert "&lt;script&gt;alert(1)" in page
        assert "&lt;img src=x" in page
        for tag in ("<script", "<img", "<i>", "<b>"):
            assert tag not in page
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'"

    def test_a_pull_request_with_its_diff(self, github: Standin) -> None:
        github.world.push_commit("octo/app", "b", {"新": "1\n"}, by="octo", message="a\n\nlong")
        number = github.world.open_pull("octo/app", head="b").number
        github.world.review("octo/app", number, by="helper[bot]", body="fine")
        page = Client(github.url)("GET", f"/octo/app/pull/{number}").raw.decode()
        assert "新 +1 -0" in page
        assert "fine" in page
        diff = Client(github.url)("GET", f"/octo/app/pull/{number}.diff").raw.decode()
        assert "+1\n" in diff
        front = Client(github.url)("GET", "/octo/app").raw.decode()
        assert f"#{number}" in front
        assert f"git clone {github.url}/octo/app.git" in front

    def test_links_of_the_api_lead_to_pages(self, github: Standin) -> None:
        issue = Client(github.url, "tok_octo").get("/repos/octo/app/issues/1")
        link = issue["html_url"].removeprefix(github.url)
        assert Client(github.url)("GET", link).status == 200
        assert Client(github.url)("GET", "/octo/app/issues/99").status == 404
        assert Client(github.url)("GET", "/octo/none").status == 404


def test_two_standins_do_not_share(tmp_path: Path, github: Standin) -> None:
    with Standin(tmp_path / "second") as second:
        second.world.add_user("octo")
        second.world.add_fault(Fault(path=".*"))
        assert second.url != github.url
        assert Client(github.url, "tok_octo").get("/user/repos")[0]["full_name"] == "octo/app"
    assert second.world.requests() == []
