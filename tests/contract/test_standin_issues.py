"""The stand-in's issues behave as GitHub's: labels, lists, history, comments, assignees."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from github import Auth, Github, GithubException
from github.Repository import Repository

from controller.demo.standin import Standin, World
from controller.demo.standin.places import RoleWord
from controller.demo.standin.state import Refusal
from tests.openapi.client import Client
from tests.openapi.judged import judged

pytestmark = pytest.mark.needs("git>=2.38")

APP = "/repos/octo/app"
ONE = f"{APP}/issues/1"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Standin]:
    with judged(tmp_path / "github") as standin:
        for login in ("octo", "writer", "triager", "reader", "stranger"):
            standin.world.add_user(login)
        standin.world.add_repo(
            "octo/app",
            collaborators={"writer": "write", "triager": "triage", "reader": "read"},
        )
        standin.world.create_issue("octo/app", "Title", "Text")
        yield standin


@pytest.fixture
def world(github: Standin) -> World:
    return github.world


def client(github: Standin, login: str | None = "octo") -> Client:
    return Client(github.url, None if login is None else f"tok_{login}")


def pygithub(github: Standin, login: str = "octo", *, per_page: int = 30) -> Repository:
    return Github(
        base_url=github.url,
        auth=Auth.Token(f"tok_{login}"),
        retry=None,
        lazy=True,
        per_page=per_page,
        seconds_between_requests=0,
        seconds_between_writes=0,
    ).get_repo("octo/app")


class TestLabels:
    def test_a_name_is_one_label_in_every_case(self, github: Standin) -> None:
        repo = pygithub(github)
        repo.create_label("agent:ready", "0e8a16", "d")
        issue = repo.get_issue(1)
        issue.add_to_labels("AGENT:ready")
        assert [label.name for label in issue.get_labels()] == ["agent:ready"]
        assert [it.number for it in repo.get_issues(labels=["Agent:READY"])] == [1]
        assert client(github).get(f"{APP}/labels/AGENT:READY")["name"] == "agent:ready"
        issue.remove_from_labels("Agent:Ready")
        assert list(issue.get_labels()) == []

    def test_a_taken_name_is_refused_in_every_case(self, github: Standin) -> None:
        repo = pygithub(github)
        repo.create_label("agent:ready", "0e8a16")
        with pytest.raises(GithubException) as caught:
            repo.create_label("Agent:Ready", "ffffff")
        assert caught.value.status == 422
        assert caught.value.data["message"] == "Validation Failed"
        assert caught.value.data["errors"] == [
            {"resource": "Label", "field": "name", "code": "already_exists"}
        ]

    def test_unknown_names_are_created_and_put_replaces(self, github: Standin) -> None:
        issue = pygithub(github).get_issue(1)
        issue.add_to_labels("新しい", "b")
        issue.set_labels("c", "新しい")
        assert sorted(label.name for label in issue.get_labels()) == ["c", "新しい"]
        assert github.world.labels("octo/app", 1) == ["c", "新しい"]

    def test_a_label_that_is_not_on_is_404_with_its_own_words(self, github: Standin) -> None:
        answer = client(github)("DELETE", f"{ONE}/labels/absent")
        assert (answer.status, answer.json["message"]) == (404, "Label does not exist")

    def test_names_with_slashes_can_be_taken_off(self, github: Standin) -> None:
        github.world.add_label("octo/app", 1, "a/b")
        assert client(github)("DELETE", f"{ONE}/labels/a/b").json == []

    @pytest.mark.parametrize("login", ["reader", "stranger"])
    def test_labelling_needs_triage(self, github: Standin, login: str) -> None:
        answer = client(github, login)("POST", f"{ONE}/labels", {"labels": ["x"]})
        assert answer.status == 403
        assert github.world.labels("octo/app", 1) == []

    def test_readers_labels_and_assignees_at_creation_are_dropped(self, github: Standin) -> None:
        sent = {"title": "t", "labels": ["x"], "assignees": ["octo"]}
        made = client(github, "reader")("POST", f"{APP}/issues", sent)
        assert made.status == 201
        assert (made.json["labels"], made.json["assignees"]) == ([], [])


class TestLists:
    def test_labels_must_all_be_on(self, world: World, github: Standin) -> None:
        world.create_issue("octo/app", "two", labels=["a", "b"])
        world.create_issue("octo/app", "one", labels=["a"])
        found = client(github).get(f"{APP}/issues", labels="b,A")
        assert [it["number"] for it in found] == [2]

    def test_pull_requests_are_issues(self, world: World, github: Standin) -> None:
        world.push_commit("octo/app", "b", {"x": "1"}, by="octo")
        number = world.open_pull("octo/app", head="b").number
        assert number == 2
        found = client(github).get(f"{APP}/issues", direction="asc")
        assert [(it["number"], "pull_request" in it) for it in found] == [(1, False), (2, True)]

    def test_everywhere_is_where_the_caller_has_a_role(self, world: World, github: Standin) -> None:
        world.add_repo("octo/secret", private=True, collaborators={"writer": "write"})
        world.add_repo("stranger/public")
        world.create_issue("octo/secret", "s", labels=["agent:ready"])
        world.create_issue("stranger/public", "p", labels=["agent:ready"])
        found = client(github, "writer").get("/issues", filter="all", labels="agent:ready")
        assert [it["repository"]["full_name"] for it in found] == ["octo/secret"]
        assert client(github, "stranger").get("/issues", filter="all")[0]["title"] == "p"

    def test_state_sort_and_since(self, world: World, github: Standin) -> None:
        world.advance(10)
        world.create_issue("octo/app", "later")
        world.advance(10)
        moment = world.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        world.close("octo/app", 1)
        ask = client(github).get
        assert [it["number"] for it in ask(f"{APP}/issues")] == [2]
        assert [it["number"] for it in ask(f"{APP}/issues", state="closed")] == [1]
        assert [it["number"] for it in ask(f"{APP}/issues", state="all")] == [2, 1]
        newest = ask(f"{APP}/issues", state="all", sort="updated", since=moment)
        assert [it["number"] for it in newest] == [1]

    def test_pages_are_linked_by_repository_id(self, world: World, github: Standin) -> None:
        for number in range(4):
            world.create_issue("octo/app", f"more {number}")
        ask = client(github)
        first = ask("GET", f"{APP}/issues", per_page=2)
        by_id = f"{github.url}/repositories/{world.repo('octo/app').id}/issues"
        assert first.headers["Link"] == (
            f'<{by_id}?per_page=2&page=2>; rel="next", <{by_id}?per_page=2&page=3>; rel="last"'
        )
        last = ask("GET", by_id.removeprefix(github.url), per_page=2, page=3)
        assert [it["number"] for it in last.json] == [1]
        assert [part.split("; ")[1] for part in last.headers["Link"].split(", ")] == [
            'rel="prev"',
            'rel="first"',
        ]
        assert ask("GET", f"{APP}/issues").headers["Link"] is None

    def test_pygithub_walks_the_pages(self, world: World, github: Standin) -> None:
        for number in range(4):
            world.create_issue("octo/app", f"more {number}")
        found = pygithub(github, per_page=2).get_issues(state="all")
        assert [it.number for it in found] == [5, 4, 3, 2, 1]
        assert found.totalCount == 5


class TestHistory:
    def test_events_and_timeline_tell_who_did_what_when(
        self, world: World, github: Standin
    ) -> None:
        world.add_label("octo/app", 1, "a", by="triager")
        world.advance(5)
        world.comment("octo/app", 1, "hello", by="reader")
        world.edit_issue("octo/app", 1, by="octo", title="新しい題")
        world.remove_label("octo/app", 1, "A", by="octo")
        world.close("octo/app", 1, by="octo", reason="not_planned")
        world.reopen("octo/app", 1, by="octo")
        ask = client(github).get
        events = ask(f"{ONE}/events")
        assert [(it["event"], it["actor"]["login"]) for it in events] == [
            ("labeled", "triager"),
            ("renamed", "octo"),
            ("unlabeled", "octo"),
            ("closed", "octo"),
            ("reopened", "octo"),
        ]
        assert events[1]["rename"] == {"from": "Title", "to": "新しい題"}
        ids = [it["id"] for it in events]
        assert ids == sorted(set(ids))
        timeline = ask(f"{ONE}/timeline")
        assert [it["event"] for it in timeline] == [
            "labeled",
            "commented",
            "renamed",
            "unlabeled",
            "closed",
            "reopened",
        ]
        assert timeline[0] == events[0]
        comment = ask(f"{ONE}/comments")[0]
        assert timeline[1] == {**comment, "event": "commented", "actor": comment["user"]}

    def test_labels_at_creation_are_events_too(self, world: World, github: Standin) -> None:
        number = world.create_issue("octo/app", "t", labels=["x"], by="triager").number
        events = client(github).get(f"{APP}/issues/{number}/events")
        assert [(it["event"], it["label"]["name"]) for it in events] == [("labeled", "x")]

    def test_nothing_happens_when_nothing_changes(self, world: World, github: Standin) -> None:
        world.add_label("octo/app", 1, "x")
        world.edit_issue("octo/app", 1, title="Title", body="Text")
        client(github)("PATCH", ONE, {"state": "open", "labels": ["X"]})
        assert [it.event for it in world.issue("octo/app", 1).events] == ["labeled"]

    def test_only_the_body_counts_as_an_edit(self, world: World) -> None:
        world.advance(60)
        world.edit_issue("octo/app", 1, title="Other")
        assert world.issue("octo/app", 1).last_edited_at is None
        world.edit_issue("octo/app", 1, by="writer", body="Other")
        issue = world.issue("octo/app", 1)
        assert issue.last_edited_at == issue.updated_at
        assert [edit.editor for edit in issue.edits] == ["octo", "writer"]

    def test_reasons_of_closing(self, github: Standin) -> None:
        ask = client(github)
        assert ask("PATCH", ONE, {"state": "closed"}).json["state_reason"] == "completed"
        assert ask("PATCH", ONE, {"state": "open"}).json["state_reason"] == "reopened"
        closed = ask("PATCH", ONE, {"state": "closed", "state_reason": "not_planned"}).json
        assert (closed["state_reason"], closed["closed_by"]["login"]) == ("not_planned", "octo")


class TestComments:
    def test_anybody_who_reads_may_comment(self, github: Standin) -> None:
        made = client(github, "stranger")("POST", f"{ONE}/comments", {"body": "こんにちは"})
        assert made.status == 201
        assert (made.json["author_association"], made.json["user"]["login"]) == ("NONE", "stranger")

    def test_edited_at_shows(self, world: World, github: Standin) -> None:
        comment = pygithub(github).get_issue(1).create_comment("one")
        world.advance(3)
        comment.edit("two")
        assert (comment.body, comment.updated_at > comment.created_at) == ("two", True)
        comment.delete()
        assert world.comments("octo/app", 1) == []

    def test_others_comments_need_push(self, world: World, github: Standin) -> None:
        path = f"{APP}/issues/comments/{world.comment('octo/app', 1, 'x', by='octo').id}"
        assert client(github, "triager")("PATCH", path, {"body": "y"}).status == 403
        assert client(github, "writer")("PATCH", path, {"body": "y"}).json["body"] == "y"

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            pytest.param(
                "x" * 65_537,
                {
                    "resource": "IssueComment",
                    "code": "unprocessable",
                    "field": "data",
                    "message": "Body is too long (maximum is 65536 characters)",
                },
                id="long",
            ),
            pytest.param(
                " \n",
                {
                    "resource": "IssueComment",
                    "code": "custom",
                    "message": "Body cannot be blank",
                },
                id="blank",
            ),
        ],
    )
    def test_bodies_that_are_refused(
        self, github: Standin, body: str, error: dict[str, str]
    ) -> None:
        answer = client(github)("POST", f"{ONE}/comments", {"body": body})
        assert (answer.status, answer.json["errors"]) == (422, [error])
        assert github.world.comments("octo/app", 1) == []

    def test_the_longest_body_is_taken(self, github: Standin) -> None:
        assert client(github)("POST", f"{ONE}/comments", {"body": "あ" * 65_536}).status == 201


class TestAssignees:
    def test_who_cannot_be_assigned_is_dropped_in_silence(self, github: Standin) -> None:
        sent = {"assignees": ["writer", "stranger", "nobody-at-all"]}
        answer = client(github)("POST", f"{ONE}/assignees", sent)
        assert answer.status == 201
        assert [it["login"] for it in answer.json["assignees"]] == ["writer"]

    def test_a_caller_without_push_changes_nothing(self, github: Standin) -> None:
        answer = client(github, "triager")("POST", f"{ONE}/assignees", {"assignees": ["octo"]})
        assert (answer.status, answer.json["assignees"]) == (201, [])

    def test_who_commented_can_be_assigned(self, world: World, github: Standin) -> None:
        world.comment("octo/app", 1, "me", by="stranger")
        answer = client(github)("POST", f"{ONE}/assignees", {"assignees": ["stranger"]})
        assert [it["login"] for it in answer.json["assignees"]] == ["stranger"]
        assert [it.event for it in world.issue("octo/app", 1).events] == ["assigned"]

    def test_patch_with_somebody_else_is_refused(self, github: Standin) -> None:
        answer = client(github)("PATCH", ONE, {"assignees": ["stranger"]})
        assert answer.status == 422
        assert answer.json["errors"] == [
            {"value": "stranger", "resource": "Issue", "field": "assignees", "code": "invalid"}
        ]

    def test_the_list_of_the_assignable(self, github: Standin) -> None:
        ask = client(github)
        assert ask("GET", f"{APP}/assignees/writer").status == 204
        assert ask("GET", f"{APP}/assignees/stranger").status == 404


class TestPermissions:
    @pytest.mark.parametrize(
        ("role", "permission"),
        [
            ("read", "read"),
            ("triage", "read"),
            ("write", "write"),
            ("maintain", "write"),
            ("admin", "admin"),
        ],
    )
    def test_role_and_legacy_permission(
        self, github: Standin, role: RoleWord, permission: str
    ) -> None:
        github.world.set_role("octo/app", "stranger", role)
        found = client(github).get(f"{APP}/collaborators/stranger/permission")
        assert (found["permission"], found["role_name"]) == (permission, role)

    def test_a_stranger_reads_a_public_repository_and_not_a_private_one(
        self, github: Standin
    ) -> None:
        path = f"{APP}/collaborators/stranger/permission"
        assert client(github).get(path)["permission"] == "read"
        github.world.set_private("octo/app", private=True)
        assert client(github).get(path)["permission"] == "none"
        assert client(github, "stranger")("GET", APP).status == 404
        assert client(github, None)("GET", APP).status == 404

    def test_an_unknown_user_is_404(self, github: Standin) -> None:
        assert client(github)("GET", f"{APP}/collaborators/nobody/permission").status == 404


def test_the_world_refuses_what_is_not_there(world: World) -> None:
    with pytest.raises(Refusal, match="no number 99"):
        world.issue("octo/app", 99)
    with pytest.raises(Refusal, match="Not Found"):
        world.repo("octo/other")
    with pytest.raises(Refusal, match="does not exist"):
        world.remove_label("octo/app", 1, "absent")
