"""The stand-in's pull requests: heads, files and conflicts come from git, refusals from GitHub."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from github import Auth, Github
from github.Repository import Repository

from controller.demo.standin import Standin, World
from tests.openapi.client import Answer, Client
from tests.openapi.judged import judged

pytestmark = pytest.mark.needs("git>=2.38")

NAME = "octo/app"
PULLS = "/repos/octo/app/pulls"
BRANCH = "agent/issue-1"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Standin]:
    with judged(tmp_path / "github") as standin:
        for login in ("octo", "toban", "reader"):
            standin.world.add_user(login)
        standin.world.add_repo(
            NAME, files={"a.txt": "1\n2\n3\n"}, collaborators={"toban": "write", "reader": "read"}
        )
        standin.world.create_issue(NAME, "An issue")
        standin.world.push_commit(NAME, BRANCH, {"新.txt": "あ\n", "a.txt": "1\n2\n"}, by="toban")
        yield standin


@pytest.fixture
def world(github: Standin) -> World:
    return github.world


@pytest.fixture
def ask(github: Standin) -> Client:
    return Client(github.url, "tok_toban")


def opened(ask: Client, **more: object) -> Answer:
    return ask("POST", PULLS, {"title": "t", "head": BRANCH, "base": "main", **more})


def repository(github: Standin, login: str = "toban") -> Repository:
    return Github(
        base_url=github.url,
        auth=Auth.Token(f"tok_{login}"),
        retry=None,
        lazy=True,
        seconds_between_requests=0,
        seconds_between_writes=0,
    ).get_repo(NAME)


class TestOpening:
    def test_it_says_what_git_says(self, world: World, ask: Client) -> None:
        made = opened(ask, body="本文", draft=True)
        assert made.status == 201
        pull = made.json
        assert pull["head"]["sha"] == world.head(NAME, BRANCH)
        assert pull["base"]["sha"] == world.head(NAME, "main")
        assert (pull["commits"], pull["changed_files"]) == (1, 2)
        assert (pull["additions"], pull["deletions"]) == (1, 1)
        assert (pull["draft"], pull["mergeable"], pull["body"]) == (True, None, "本文")
        assert pull["number"] == 2

    @pytest.mark.parametrize(
        ("sent", "error"),
        [
            pytest.param(
                {"head": "octo:absent"},
                {"resource": "PullRequest", "field": "head", "code": "invalid"},
                id="no such head",
            ),
            pytest.param(
                {"base": "absent"},
                {"resource": "PullRequest", "field": "base", "code": "invalid"},
                id="no such base",
            ),
            pytest.param(
                {"head": "same"},
                {
                    "resource": "PullRequest",
                    "code": "custom",
                    "message": "No commits between main and same",
                },
                id="no commits",
            ),
            pytest.param(
                {"head": f"octo:{BRANCH}"},
                {
                    "resource": "PullRequest",
                    "code": "custom",
                    "message": f"A pull request already exists for octo:{BRANCH}.",
                },
                id="exists",
            ),
        ],
    )
    def test_what_is_refused(
        self, world: World, ask: Client, sent: dict[str, str], error: dict[str, str]
    ) -> None:
        world.set_branch(NAME, "same", world.head(NAME, "main") or "", by="octo")
        opened(ask)
        answer = opened(ask, **sent)
        assert answer.status == 422
        assert answer.json["message"] == "Validation Failed"
        assert answer.json["errors"] == [error]
        assert [it.number for it in world.pulls(NAME)] == [2]

    def test_a_closed_one_does_not_stand_in_the_way(self, ask: Client) -> None:
        ask("PATCH", f"{PULLS}/{opened(ask).json['number']}", {"state": "closed"})
        assert opened(ask).json["number"] == 3

    def test_lists_by_head_state_and_base(self, ask: Client) -> None:
        opened(ask)
        assert [it["number"] for it in ask.get(PULLS, head=f"octo:{BRANCH}")] == [2]
        assert ask.get(PULLS, head="octo:main") == []
        assert ask.get(PULLS, head=f"other:{BRANCH}") == []
        assert [it["number"] for it in ask.get(PULLS, base="main", state="all")] == [2]
        assert ask.get(PULLS, state="closed") == []


class TestHead:
    def test_mergeable_is_unknown_once_after_each_move(self, world: World, ask: Client) -> None:
        opened(ask)

        def state() -> tuple[object, str]:
            pull = ask.get(f"{PULLS}/2")
            return pull["mergeable"], pull["mergeable_state"]

        assert [state(), state(), state()] == [(None, "unknown"), (True, "clean"), (True, "clean")]
        world.push_commit(NAME, "main", {"a.txt": "0\n1\n2\n3\n4\n"}, by="octo")
        assert [state(), state()] == [(None, "unknown"), (False, "dirty")]
        world.push_commit(NAME, BRANCH, {"a.txt": "1\n2\n3\n"}, by="toban")
        assert [state(), state()] == [(None, "unknown"), (True, "clean")]

    def test_commits_and_files_follow_the_branch(self, github: Standin, ask: Client) -> None:
        opened(ask)
        pull = repository(github).get_pull(2)
        first = pull.head.sha
        second = github.world.push_commit(NAME, BRANCH, {"b": "x\n", "新.txt": None}, by="toban")
        assert pull.update()
        assert pull.head.sha == second != first
        assert [it.sha for it in pull.get_commits()] == [first, second]
        files = {it.filename: (it.status, it.patch) for it in pull.get_files()}
        assert files == {
            "a.txt": ("modified", "@@ -1,3 +1,2 @@\n 1\n 2\n-3"),
            "b": ("added", "@@ -0,0 +1 @@\n+x"),
        }

    def test_a_branch_moved_on_disk_is_noticed(self, world: World, ask: Client) -> None:
        opened(ask)
        repo = world.repo(NAME)
        sha = world.push_commit(NAME, "other", {"z": "1"}, by="octo", base=BRANCH)
        (repo.path / "refs" / "heads" / BRANCH).write_text(f"{sha}\n")
        assert ask.get(f"{PULLS}/2")["head"]["sha"] == sha

    def test_a_closed_one_keeps_its_head(self, world: World, ask: Client) -> None:
        head = opened(ask).json["head"]["sha"]
        world.close(NAME, 2)
        world.push_commit(NAME, BRANCH, {"more": "1"}, by="toban")
        assert ask.get(f"{PULLS}/2")["head"]["sha"] == head
        assert ask.get("/repos/octo/app/git/matching-refs/pull/2")[0]["object"]["sha"] == head

    def test_deleting_the_branch_closes(self, world: World, ask: Client) -> None:
        opened(ask)
        assert ask("DELETE", f"/repos/octo/app/git/refs/heads/{BRANCH}").status == 204
        pull = ask.get(f"{PULLS}/2")
        assert (pull["state"], pull["merged"]) == ("closed", False)
        events = [it.event for it in world.issue(NAME, 2).events]
        assert events == ["closed", "head_ref_deleted"]

    def test_a_forced_move_is_an_event(self, world: World, ask: Client) -> None:
        opened(ask)
        world.push_commit(NAME, BRANCH, {"x": "1"}, by="octo", amend=True)
        assert [it.event for it in world.issue(NAME, 2).events] == ["head_ref_force_pushed"]
        assert [it.fast_forward for it in world.pushes(NAME)] == [True, True, False]

    def test_diff_media_type(self, ask: Client) -> None:
        opened(ask)
        answer = ask("GET", f"{PULLS}/2", headers={"Accept": "application/vnd.github.diff"})
        assert answer.headers["Content-Type"].startswith("application/vnd.github.diff")
        assert answer.raw.decode().startswith("diff --git a/a.txt b/a.txt\n")
        assert "+あ\n" in answer.raw.decode()

    def test_another_base(self, world: World, ask: Client) -> None:
        opened(ask)
        world.set_branch(NAME, "next", world.head(NAME, "main") or "", by="octo")
        assert ask("PATCH", f"{PULLS}/2", {"base": "next"}).json["base"]["ref"] == "next"
        assert ask("PATCH", f"{PULLS}/2", {"base": "absent"}).status == 422
        world.delete_branch(NAME, "next", by="octo")
        assert ask.get(f"{PULLS}/2")["state"] == "closed"


class TestMerging:
    def test_a_human_merges_and_keywords_close(self, world: World, ask: Client) -> None:
        opened(ask, body="This Fixes: #1 and resolves other/repo#1")
        commit = world.merge(NAME, 2, by="octo")
        pull = ask.get(f"{PULLS}/2")
        assert (pull["merged"], pull["merged_by"]["login"]) == (True, "octo")
        assert (pull["merge_commit_sha"], world.head(NAME, "main")) == (commit, commit)
        assert pull["commits"] == 1
        parents = ask.get(f"/repos/octo/app/commits/{commit}")["parents"]
        assert [it["sha"] for it in parents] == [pull["base"]["sha"], pull["head"]["sha"]]
        assert ask.get("/repos/octo/app/issues/1")["state"] == "closed"
        assert ask("GET", f"{PULLS}/2/merge").status == 204
        assert world.files(NAME, "main")["新.txt"] == "あ\n"

    def test_keywords_count_on_the_default_branch_only(self, world: World, ask: Client) -> None:
        world.set_branch(NAME, "next", world.head(NAME, "main") or "", by="octo")
        opened(ask, base="next", body="closes #1")
        world.merge(NAME, 2)
        assert world.issue(NAME, 1).state == "open"

    def test_keywords_in_commits_close_when_they_land(self, world: World) -> None:
        world.push_commit(NAME, "main", {"c": "1"}, by="octo", message="prefixes #1 suffix")
        assert world.issue(NAME, 1).state == "open"
        sha = world.push_commit(NAME, "main", {"c": "2"}, by="octo", message="Resolved #1")
        issue = world.issue(NAME, 1)
        assert (issue.state, issue.events[-1].commit_id) == ("closed", sha)

    def test_a_head_that_lands_by_push_is_merged(self, world: World, ask: Client) -> None:
        head = opened(ask).json["head"]["sha"]
        world.set_branch(NAME, "main", head, by="octo")
        pull = ask.get(f"{PULLS}/2")
        assert (pull["merged"], pull["merge_commit_sha"], pull["commits"]) == (True, head, 1)

    def test_over_the_api(self, world: World, ask: Client) -> None:
        opened(ask)
        assert ask("PUT", f"{PULLS}/2/merge", {"sha": "0" * 40}).status == 409
        assert ask("GET", f"{PULLS}/2/merge").status == 404
        done = ask("PUT", f"{PULLS}/2/merge", {"merge_method": "squash"})
        assert done.json["merged"] is True
        assert len(ask.get(f"/repos/octo/app/commits/{done.json['sha']}")["parents"]) == 1
        assert world.pushes(NAME)[-1].via == "api"
        assert ask("PUT", f"{PULLS}/2/merge", {}).status == 405

    def test_a_conflict_is_not_merged(self, world: World, ask: Client) -> None:
        opened(ask)
        world.push_commit(NAME, "main", {"a.txt": "9\n"}, by="octo")
        before = world.head(NAME, "main")
        assert ask("PUT", f"{PULLS}/2/merge", {}).status == 405
        assert world.head(NAME, "main") == before

    def test_readers_do_not_merge(self, github: Standin, ask: Client) -> None:
        opened(ask)
        assert Client(github.url, "tok_reader")("PUT", f"{PULLS}/2/merge", {}).status == 403


class TestReviews:
    def test_own_pull_requests_can_only_be_commented(self, github: Standin, ask: Client) -> None:
        opened(ask)
        answer = ask("POST", f"{PULLS}/2/reviews", {"event": "APPROVE"})
        assert (answer.status, answer.json["errors"]) == (
            422,
            ["Can not approve your own pull request"],
        )
        answer = ask("POST", f"{PULLS}/2/reviews", {"event": "REQUEST_CHANGES", "body": "x"})
        assert answer.status == 422
        made = repository(github).get_pull(2).create_review(body="見た", event="COMMENT")
        assert (made.state, made.body) == ("COMMENTED", "見た")
        other = Client(github.url, "tok_octo")
        approved = other("POST", f"{PULLS}/2/reviews", {"event": "APPROVE"})
        assert (approved.status, approved.json["state"]) == (200, "APPROVED")
        head = ask.get(f"{PULLS}/2")["head"]["sha"]
        assert [it["commit_id"] for it in ask.get(f"{PULLS}/2/reviews")] == [head, head]
        one = ask.get(f"{PULLS}/2/reviews/{approved.json['id']}")
        assert one == approved.json

    def test_timeline_of_a_pull_request(self, world: World, ask: Client) -> None:
        opened(ask)
        world.advance(5)
        world.review(NAME, 2, by="octo", body="good", event="APPROVE")
        world.advance(5)
        world.comment(NAME, 2, "thanks", by="toban")
        world.add_label(NAME, 2, "human:review", by="toban")
        world.advance(5)
        world.merge(NAME, 2, by="octo")
        timeline = ask.get("/repos/octo/app/issues/2/timeline")
        assert [it["event"] for it in timeline] == [
            "committed",
            "reviewed",
            "commented",
            "labeled",
            "merged",
            "closed",
        ]


class TestCommitsAndRefs:
    def test_compare(self, world: World, ask: Client) -> None:
        start = world.head(NAME, "main")
        world.push_commit(NAME, "main", {"m": "1"}, by="octo")
        found = ask.get(f"/repos/octo/app/compare/main...{BRANCH}")
        assert (found["status"], found["ahead_by"], found["behind_by"]) == ("diverged", 1, 1)
        assert found["merge_base_commit"]["sha"] == start
        assert sorted(it["filename"] for it in found["files"]) == ["a.txt", "新.txt"]
        assert ask.get(f"/repos/octo/app/compare/{BRANCH}...octo:{BRANCH}")["status"] == "identical"
        assert ask.get(f"/repos/octo/app/compare/main...{start}")["status"] == "behind"
        assert ask.get(f"/repos/octo/app/compare/{start}...main")["status"] == "ahead"
        assert ask("GET", "/repos/octo/app/compare/main...absent").status == 404

    def test_refs(self, world: World, ask: Client) -> None:
        sha = world.head(NAME, "main")
        refs = "/repos/octo/app/git/refs"
        made = ask("POST", refs, {"ref": "refs/heads/x/y", "sha": sha})
        assert (made.status, made.json["object"]["sha"]) == (201, sha)
        again = ask("POST", refs, {"ref": "refs/heads/x/y", "sha": sha})
        assert (again.status, again.json["message"]) == (422, "Reference already exists")
        assert ask.get("/repos/octo/app/git/ref/heads/x/y")["ref"] == "refs/heads/x/y"
        assert ask("GET", "/repos/octo/app/git/ref/heads/x").status == 404
        listed = ask.get("/repos/octo/app/git/matching-refs/heads/x")
        assert [it["ref"] for it in listed] == ["refs/heads/x/y"]
        moved = ask("PATCH", f"{refs}/heads/x/y", {"sha": world.head(NAME, BRANCH)})
        assert moved.status == 200
        back = ask("PATCH", f"{refs}/heads/x/y", {"sha": sha})
        assert (back.status, back.json["message"]) == (422, "Update is not a fast forward")
        assert ask("PATCH", f"{refs}/heads/x/y", {"sha": sha, "force": True}).status == 200
        assert ask("DELETE", f"{refs}/heads/x/y").status == 204
        assert ask("DELETE", f"{refs}/heads/x/y").status == 422
        assert ask("DELETE", f"{refs}/heads/main").status == 422

    def test_branches_and_commits(self, world: World, ask: Client) -> None:
        names = [it["name"] for it in ask.get("/repos/octo/app/branches")]
        assert names == [BRANCH, "main"]
        one = ask.get(f"/repos/octo/app/branches/{BRANCH}")
        assert one["commit"]["sha"] == world.head(NAME, BRANCH)
        missing = ask("GET", "/repos/octo/app/branches/absent")
        assert (missing.status, missing.json["message"]) == (404, "Branch not found")
        commit = ask.get(f"/repos/octo/app/commits/{BRANCH}")
        assert commit["author"]["login"] == "toban"
        assert {it["filename"] for it in commit["files"]} == {"新.txt", "a.txt"}
        assert ask("GET", "/repos/octo/app/commits/absent").status == 422
        history = ask.get("/repos/octo/app/commits", sha=BRANCH, path="新.txt")
        assert [it["sha"] for it in history] == [world.head(NAME, BRANCH)]

    def test_contents(self, github: Standin, ask: Client) -> None:
        repo = repository(github)
        found = repo.get_contents("新.txt", ref=BRANCH)
        assert not isinstance(found, list)
        assert found.decoded_content.decode() == "あ\n"
        top = repo.get_contents("", ref=BRANCH)
        assert isinstance(top, list)
        assert [it.name for it in top] == ["a.txt", "新.txt"]
        raw = ask(
            "GET",
            "/repos/octo/app/contents/a.txt",
            headers={"Accept": "application/vnd.github.raw"},
        )
        assert raw.raw == b"1\n2\n3\n"
        assert ask("GET", "/repos/octo/app/contents/absent").status == 404

    def test_statuses(self, world: World, ask: Client) -> None:
        sha = world.head(NAME, BRANCH)
        combined = f"/repos/octo/app/commits/{BRANCH}/status"
        assert ask.get(combined)["state"] == "pending"
        for state, context in (("success", "a"), ("failure", "b"), ("success", "b")):
            sent = {"state": state, "context": context, "description": "d"}
            assert ask("POST", f"/repos/octo/app/statuses/{sha}", sent).status == 201
        found = ask.get(combined)
        assert (found["state"], found["total_count"]) == ("success", 2)
        assert len(ask.get(f"/repos/octo/app/commits/{sha}/statuses")) == 3

    def test_an_empty_repository(self, world: World, ask: Client) -> None:
        world.add_repo("octo/empty", files={}, default_branch="幹", collaborators={"toban": "read"})
        assert ask.get("/repos/octo/empty")["default_branch"] == "幹"
        assert ask.get("/repos/octo/empty/branches") == []
        assert ask("GET", "/repos/octo/empty/commits").status == 409
        assert ask("GET", "/repos/octo/empty/contents/x").status == 404
