"""From GitHub's JSON to facts, and from its refusals to pauses."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controller.adapters.github import decode
from controller.adapters.github.answers import MAX_PAUSE, pause_asked
from controller.adapters.github.cache import EtagCache
from controller.adapters.github.edits import last_edit, unexplained_update
from controller.adapters.github.finder import GitHubFinder, fold
from controller.adapters.github.http import Api
from controller.adapters.github.pause import Pause
from controller.adapters.github.shape import Json, Node, ShapeError
from controller.domain.forge import Comment, Event, Issue
from controller.domain.ids import IssueId, Repository
from controller.domain.values import Unseen
from tests.fakes.raw_server import RawServer, answer

APP = Repository(owner="octo", name="app")
NOW = datetime(2026, 10, 13, 12, tzinfo=UTC)
WHO: dict[str, Json] = {"id": 5, "login": "octo", "type": "User"}


def issue_json(**changes: Json) -> dict[str, Json]:
    return {
        "number": 7,
        "title": "題",
        "body": "b",
        "labels": [{"name": "agent:ready"}],
        "state": "open",
        "user": WHO,
        "created_at": "2026-10-13T10:00:00Z",
        "updated_at": "2026-10-13T11:00:00Z",
        "repository_url": "http://forge/repos/octo/app",
        **changes,
    }


def issue(**changes: Json) -> Issue:
    return decode.issue(Node(issue_json(**changes)), APP)


class TestIssue:
    def test_hostile_values_are_kept(self) -> None:
        raw = "\x1b[2J\u202e\x00x"
        found = issue(title=raw, labels=[{"name": raw}, "plain", {"name": None}], body=raw)
        assert (found.title, found.body, found.labels) == (raw, raw, (raw, "plain"))

    def test_what_no_encoding_can_store_is_replaced(self) -> None:
        assert issue(body="a\ud800b 🐙").body == "a\ufffdb 🐙"

    def test_a_deleted_author_and_no_body(self) -> None:
        found = issue(user=None, body=None)
        assert (found.author, found.body) == (None, "")

    @pytest.mark.parametrize(
        ("changes", "place"),
        [
            ({"number": 0}, r"\$\.number is 0"),
            ({"number": True}, r"\$\.number is true, expected an integer"),
            ({"number": "7"}, r"\$\.number is a string of 1 char"),
            ({"number": 2**70}, r"\$\.number is a huge number"),
            ({"title": None}, r"\$\.title is null, expected a string"),
            ({"state": "ajar"}, r"\$\.state is a string of 4 characters, expected open or closed"),
            ({"user": []}, r"\$\.user is a list, expected an object"),
            ({"user": {"login": "x"}}, r"\$\.user\.id is missing"),
            ({"labels": {}}, r"\$\.labels is an object, expected a list"),
            ({"labels": [{"name": 3}]}, r"\$\.labels\[0\]\.name is 3"),
            ({"created_at": "yesterday"}, r"\$\.created_at .* expected a time"),
            ({"created_at": "2026-10-13T10:00:00"}, r"\$\.created_at .* with its offset"),
        ],
    )
    def test_a_wrong_shape_names_its_place(self, changes: dict[str, Json], place: str) -> None:
        with pytest.raises(ShapeError, match=place):
            issue(**changes)

    def test_a_missing_key_is_named(self) -> None:
        whole = issue_json()
        del whole["labels"]
        with pytest.raises(ShapeError, match=r"\$\.labels is missing"):
            decode.issue(Node(whole), APP)


class TestEvent:
    def test_a_label_event_is_strict(self) -> None:
        raw: dict[str, Json] = {
            "event": "labeled",
            "id": 1,
            "actor": None,
            "created_at": "2026-10-13T10:00:00Z",
            "label": {"name": "agent:ready"},
        }
        found = decode.event(Node(raw))
        assert found is not None
        assert (found.label, found.actor) == ("agent:ready", None)
        for key in ("id", "created_at", "label"):
            with pytest.raises(ShapeError, match=key):
                decode.event(Node({k: v for k, v in raw.items() if k != key}))

    @pytest.mark.parametrize(
        "raw",
        [
            {"event": "committed", "sha": "0" * 40},
            {"event": "cross-referenced", "created_at": "2026-10-13T10:00:00Z", "source": {}},
            {"event": "of the future", "id": 3},
        ],
        ids=lambda raw: raw["event"],
    )
    def test_entries_without_an_id_or_a_time_are_passed_over(self, raw: dict[str, Json]) -> None:
        assert decode.event(Node(raw)) is None

    def test_a_review_has_other_keys(self) -> None:
        raw: Json = {
            "event": "reviewed",
            "id": 3,
            "user": WHO,
            "submitted_at": "2026-10-13T10:00:00Z",
        }
        found = decode.event(Node(raw))
        assert found is not None
        assert found.actor is not None
        assert (found.kind, found.actor.login) == ("reviewed", "octo")


class TestPermission:
    @pytest.mark.parametrize(
        ("permission", "role", "found"),
        [
            ("admin", "admin", "admin"),
            ("write", "maintain", "maintain"),
            ("write", "write", "write"),
            ("read", "triage", "triage"),
            ("none", "none", "none"),
            ("write", "a-role-of-the-company", "write"),
            ("write", None, "write"),
            ("write", "ＡＤＭＩＮ", "write"),
            ("read", "admin", "read"),
            ("admin", "read", "read"),
            ("none", "maintain", "none"),
            ("maintain", "maintain", "maintain"),
        ],
    )
    def test_both_fields_together(self, permission: str, role: str | None, found: str) -> None:
        assert decode.permission(Node({"permission": permission, "role_name": role})) == found

    def test_an_unknown_word_is_no_permission(self) -> None:
        with pytest.raises(ShapeError, match=r"\$\.permission .* expected admin"):
            decode.permission(Node({"permission": "owner"}))


def test_a_pull_request_of_a_deleted_fork_has_no_home() -> None:
    raw: Json = {"head": {"ref": "agent/issue-1", "sha": "0" * 40, "repo": None}}
    assert decode.head_of_pull(Node(raw)) == ("", "agent/issue-1")


@pytest.mark.parametrize("sha", ["", "0" * 39, "0" * 41, "G" * 40, "0" * 40 + "\n", "A" * 40])
def test_a_sha_is_forty_digits(sha: str) -> None:
    with pytest.raises(ShapeError, match="40 hexadecimal digits"):
        Node(sha).sha()


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("Agent:READY", True),
        ("agent：ready", False),
        ("agent:ｒeady", False),
        ("agent:ready ", False),
        ("agent:rea\u0064\u0323y", False),
        ("\u212aagent:ready", False),
    ],
)
def test_labels_fold_ascii_letters_only(name: str, same: bool) -> None:  # noqa: FBT001 - a table
    assert (fold(name) == "agent:ready") is same
    assert fold("\u212a") == "\u212a"


class TestPauseAsked:
    @pytest.mark.parametrize(
        ("status", "headers", "message", "seconds"),
        [
            (403, {"retry-after": "30"}, "", 30),
            (429, {"retry-after": "0"}, "", 1),
            (429, {"retry-after": "Tue, 13 Oct 2026 12:02:00 GMT"}, "", 120),
            (429, {"retry-after": "soon"}, "", 60),
            (429, {}, "", 60),
            (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1791893400"}, "", 601),
            (403, {"x-ratelimit-remaining": "0"}, "", 60),
            (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "x"}, "", 60),
            (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, "", 1),
            (403, {}, "You have exceeded a secondary rate limit. Please wait a few minutes.", 60),
            (403, {}, "API rate limit exceeded for user ID 1.", 60),
            (403, {}, "blocked ... Please retry your request again later.", 60),
            (403, {"retry-after": "9" * 11}, "", MAX_PAUSE.total_seconds()),
            (403, {"retry-after": "9" * 5000}, "rate", None),
            (403, {"x-ratelimit-remaining": "17"}, "Resource not accessible", None),
            (403, {}, "", None),
            (404, {"retry-after": "30"}, "secondary rate limit", None),
            (503, {"retry-after": "30"}, "", None),
        ],
    )
    def test_table(
        self, status: int, headers: dict[str, str], message: str, seconds: float | None
    ) -> None:
        until = pause_asked(status, headers, message, NOW)
        assert until == (None if seconds is None else NOW + timedelta(seconds=seconds))

    def test_the_reset_is_a_time_of_the_forge_not_of_a_wrong_clock(self) -> None:
        headers = {
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset": "1791893400",
            "date": "Tue, 13 Oct 2026 12:00:00 GMT",
        }
        for wrong in (timedelta(days=400), -timedelta(days=400)):
            assert pause_asked(403, headers, "", NOW + wrong) == NOW + wrong + timedelta(
                seconds=601
            )


class TestPause:
    def test_the_next_process_keeps_it(self, tmp_path: Path) -> None:
        file = tmp_path / "below" / "pause.json"
        Pause(file=file, now=lambda: NOW).ask(NOW + timedelta(minutes=5))
        later = Pause(file=file, now=lambda: NOW + timedelta(minutes=4))
        assert later.until() == NOW + timedelta(minutes=5)
        over = Pause(file=file, now=lambda: NOW + timedelta(minutes=5))
        assert over.until() is None

    def test_it_only_grows(self) -> None:
        pause = Pause(now=lambda: NOW)
        assert pause.ask(NOW + timedelta(minutes=5)) == NOW + timedelta(minutes=5)
        assert pause.ask(NOW + timedelta(minutes=1)) == NOW + timedelta(minutes=5)
        assert pause.ask(NOW + timedelta(days=999)) == NOW + MAX_PAUSE

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b'{"until": 5}',
            b'{"until": "2026-10-13T12:01:00"}',
            b'{"until": "2099-01-01T00:00:00+00:00"}',
            b"\xff",
            b"[" * 100_000,
        ],
    )
    def test_a_damaged_file_or_one_of_a_jumped_clock_is_no_pause(
        self, tmp_path: Path, content: bytes
    ) -> None:
        file = tmp_path / "pause.json"
        file.write_bytes(content)
        assert Pause(file=file, now=lambda: NOW).until() is None

    def test_plan_reads_and_never_writes(self, tmp_path: Path) -> None:
        file = tmp_path / "pause.json"
        plan = Pause(file=file, writable=False, now=lambda: NOW)
        plan.ask(NOW + timedelta(minutes=5))
        assert plan.until() is not None
        assert not file.exists()
        Pause(file=file, now=lambda: NOW).ask(NOW + timedelta(minutes=9))
        assert plan.until() == NOW + timedelta(minutes=9)


def comment(minute: int, edited: int | None = None) -> Comment:
    at = NOW.replace(hour=10, minute=minute)
    changed = at if edited is None else at.replace(minute=edited)
    return Comment(id=minute, author=None, body="", created_at=at, updated_at=changed)


def event(minute: int) -> Event:
    return Event(id=minute, kind="labeled", actor=None, at=NOW.replace(hour=10, minute=minute))


class TestEdits:
    @pytest.mark.parametrize(
        ("updated", "events", "comments", "edited"),
        [
            ("10:00", (), (), False),
            ("10:05", (event(5),), (), False),
            ("10:05", (), (comment(5),), False),
            ("10:09", (event(1),), (comment(5, 9),), False),
            ("10:09", (event(8),), (comment(5, 7),), True),
            ("10:01", (), (), True),
        ],
    )
    def test_an_update_that_nothing_explains(
        self,
        updated: str,
        events: tuple[Event, ...],
        comments: tuple[Comment, ...],
        edited: bool,  # noqa: FBT001 - a table
    ) -> None:
        found = issue(updated_at=f"2026-10-13T{updated}:00Z")
        last = unexplained_update(found, events, comments)
        assert last == (found.updated_at if edited else None)

    @staticmethod
    def ask(body: Json, status: int = 200) -> object:
        with RawServer(lambda _: answer(body, status=status)) as server:
            api = Api(
                api_url=server.url + "/api/v3",
                credential=lambda: "t",
                pause=Pause(now=lambda: NOW),
                cache=EtagCache(),
                sleep=lambda _seconds: None,
            )
            last = last_edit(api, issue(updated_at="2026-10-13T10:30:00Z"), (), ())
            api.close()
            assert {asked.target for asked in server.asked} == {"/api/graphql"}
            return last

    @staticmethod
    def edits(last: Json, *others: Json) -> Json:
        nodes: list[Json] = [{"editedAt": other} for other in others]
        found: Json = {
            "lastEditedAt": last,
            "oldest": {"nodes": nodes[:1]},
            "newest": {"nodes": nodes[-1:]},
        }
        return {"data": {"repository": {"issue": found}}}

    def test_the_latest_of_all_counts_and_the_first_version_does_not(self) -> None:
        created = "2026-10-13T10:00:00Z"
        assert self.ask(self.edits(None)) is None
        assert self.ask(self.edits(None, created)) is None
        eleven, twelve = "2026-10-13T11:00:00Z", "2026-10-13T12:00:00Z"
        assert self.ask(self.edits(eleven, created, twelve)) == NOW
        assert self.ask(self.edits(eleven, twelve, created)) == NOW
        assert self.ask(self.edits(twelve)) == NOW

    @pytest.mark.parametrize(
        "errors",
        [
            [{"message": "Field 'userContentEdits' doesn't exist on type 'Issue'"}],
            [{"message": "Cannot query field 'lastEditedAt' on type 'Issue'."}],
        ],
    )
    def test_a_server_that_has_no_such_field_falls_back_to_times(self, errors: Json) -> None:
        assert self.ask({"errors": errors}) == NOW.replace(hour=10, minute=30)

    @pytest.mark.parametrize("status", [404, 405, 501])
    def test_a_server_without_graphql_falls_back_to_times(self, status: int) -> None:
        assert self.ask({}, status) == NOW.replace(hour=10, minute=30)

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"errors": [{"message": "Something went wrong"}]}, 200, "ForgeUnseen"),
            ({"errors": [{"type": "NOT_FOUND", "message": "no"}]}, 200, "IssueNotFound"),
            ({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, 200, "AccessDenied"),
            ({"errors": [{"type": "RATE_LIMITED", "message": "no"}]}, 200, "RateLimited"),
            (
                {"errors": [{"message": "API rate limit exceeded for user ID 1"}]},
                200,
                "RateLimited",
            ),
            ({"errors": []}, 200, "ForgeUnseen"),
            ({"errors": "x"}, 200, "ForgeUnseen"),
            ({"data": {"repository": None}}, 200, "ForgeUnseen"),
            ({}, 200, "ForgeUnseen"),
            ({"message": "Bad credentials"}, 401, "TokenRefused"),
            ({}, 500, "ForgeUnseen"),
            ({}, 302, "ForgeUnseen"),
        ],
    )
    def test_an_error_is_never_never(self, body: Json, status: int, code: str) -> None:
        gone = self.ask(body, status)
        assert isinstance(gone, Unseen)
        assert gone.code == code
        assert (gone.until is not None) == (code == "RateLimited")


class TestFinder:
    def test_one_odd_entry_hides_no_other(self) -> None:
        where: dict[str, Json] = {"repository": {"full_name": "octo/app"}}
        entries: list[Json] = [
            issue_json(**where),
            issue_json(number=8, repository={"full_name": "octo/../x"}),
            issue_json(number=9, created_at=None, **where),
            issue_json(number=10, pull_request={}, **where),
            issue_json(number=11, repository={"full_name": "Octo2/app"}),
            issue_json(number=12, labels=["AGENT:READY"]),
            issue_json(number=13, state="closed", **where),
            issue_json(number=7, updated_at="2026-10-13T11:30:00Z", title="newer", **where),
        ]
        with RawServer(lambda _: answer(entries)) as server:
            api = Api(api_url=server.url, credential=lambda: "t", pause=Pause(), cache=EtagCache())
            found = GitHubFinder(api, owner="OCTO").find(("agent:ready",))
            api.close()
        assert [(it.item.number, it.title) for it in found.issues] == [(7, "newer"), (12, "題")]
        assert [gone.reason.split(" ")[0] for gone in found.unseen] == [
            "$[1].repository.full_name",
            "$[2].created_at",
        ]
        query = "filter=all&state=open&labels=agent%3Aready&sort=created&direction=asc"
        assert server.lines == [f"GET /issues?{query}&per_page=100"]

    def test_a_bot_is_asked_by_its_quoted_login(self) -> None:
        with RawServer(lambda _: answer({"id": 1, "login": "h[bot]", "type": "Bot"})) as server:
            api = Api(api_url=server.url, credential=lambda: "t", pause=Pause(), cache=EtagCache())
            me = GitHubFinder(api, app_login=lambda: "h[bot]").identity()
            api.close()
        assert not isinstance(me, Unseen)
        assert me.is_bot
        assert server.lines == ["GET /users/h%5Bbot%5D"]


def test_item_ids_are_of_the_repository() -> None:
    assert issue().item == IssueId(repository=APP, number=7)
