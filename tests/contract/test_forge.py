"""What every forge promises, told on the one in memory and on the adapter at the stand-in."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from controller.demo.standin import Standin
from controller.domain.forge import PullRequest
from controller.domain.ids import Repository
from controller.domain.values import Seen, Unseen
from controller.errors import ForgeError
from controller.ports.forge import LabelText, PullText
from tests.contract.forge_bench import APP, ME, OURS, Bench, FakeBench, GitHubBench, issue_id
from tests.openapi.checker import Checker

TEXT = PullText(title="Say hello", body="A change.\n\nCloses #1")


@pytest.fixture(params=["fake", pytest.param("github", marks=pytest.mark.needs("git>=2.38"))])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    if request.param == "fake":
        yield FakeBench()
        return
    checker = Checker()
    with Standin(tmp_path / "github", checker=checker) as github:
        made = GitHubBench(github, tmp_path / "state")
        yield made
        made.close()
    asked_wrongly = [p for p in checker.problems if p.message.startswith("request")]
    assert asked_wrongly == []


def seen[T](value: Seen[T]) -> T:
    assert not isinstance(value, Unseen), value
    return value


def branch_with_change(bench: Bench, number: int = 1) -> str:
    sha: str = bench.world.push_commit(
        "octo/app", f"agent/issue-{number}", {"src/b.txt": "2\n"}, by=ME
    )
    return sha


class TestFinding:
    def test_identity(self, bench: Bench) -> None:
        me = seen(bench.finder().identity())
        assert (me.login, me.is_bot) == (ME, False)

    def test_issues_with_a_label_of_ours_each_once_oldest_first(self, bench: Bench) -> None:
        world = bench.world
        world.add_repo("octo/second", collaborators={ME: "read"})
        world.add_repo("octo/public", files={"a": "1"})
        world.create_issue("octo/public", "no member there", labels=["agent:ready"])
        second = world.create_issue("octo/second", "oldest", labels=["agent:ready"]).number
        world.advance(5)
        both = world.create_issue("octo/app", "b", labels=["agent:ready", "agent:working"]).number
        world.create_issue("octo/app", "none of ours", labels=["bug"])
        world.advance(5)
        last = world.create_issue("octo/app", "c", labels=["human:review", "bug"]).number
        found = bench.finder().find(OURS)
        assert found.unseen == ()
        assert [str(issue.item) for issue in found.issues] == [
            f"octo/second#{second}",
            f"octo/app#{both}",
            f"octo/app#{last}",
        ]
        assert set(found.issues[2].labels) == {"bug", "human:review"}

    def test_labels_are_compared_without_case_and_nothing_else(self, bench: Bench) -> None:
        world = bench.world
        upper = world.create_issue("octo/app", "upper", labels=["Agent:Ready"]).number
        world.create_issue("octo/app", "full width", labels=["agent：ready"])
        found = bench.finder().find(OURS)
        assert [issue.item.number for issue in found.issues] == [upper]
        assert found.issues[0].labels == ("Agent:Ready",)

    def test_closed_issues_pull_requests_and_other_owners_are_no_work(self, bench: Bench) -> None:
        world = bench.world
        closed = world.create_issue("octo/app", "closed", labels=["agent:ready"]).number
        world.close("octo/app", closed)
        branch_with_change(bench, 9)
        pull = world.open_pull("octo/app", head="agent/issue-9").number
        world.add_label("octo/app", pull, "agent:ready")
        world.add_user("Octopus")
        world.add_repo("Octopus/app", collaborators={ME: "write"})
        world.create_issue("Octopus/app", "not ours", labels=["agent:ready"])
        assert bench.finder(owner="OCTO").find(OURS).issues == ()

    def test_named_repositories_beside_the_owner(self, bench: Bench) -> None:
        world = bench.world
        world.add_user("other")
        world.add_repo("other/lib", private=True, collaborators={ME: "write"})
        world.create_issue("other/lib", "there", labels=["AGENT:ready"])
        world.create_issue("octo/app", "here", labels=["agent:ready"])
        finder = bench.finder(repositories=("other/lib", "octo/app"))
        assert {str(issue.item) for issue in finder.find(OURS).issues} == {
            "other/lib#1",
            "octo/app#1",
        }
        alone = bench.finder(owner=None, repositories=("other/lib",))
        assert [str(issue.item) for issue in alone.find(OURS).issues] == ["other/lib#1"]

    def test_a_repository_that_cannot_be_seen_hides_no_other(self, bench: Bench) -> None:
        world = bench.world
        world.create_issue("octo/app", "here", labels=["agent:ready"])
        world.add_repo("octo/secret", private=True)
        world.add_repo("octo/old")
        world.rename_repo("octo/old", "new")
        finder = bench.finder(owner=None, repositories=("octo/secret", "octo/old", "octo/app"))
        found = finder.find(OURS)
        assert [str(issue.item) for issue in found.issues] == ["octo/app#1"]
        assert [gone.code for gone in found.unseen] == ["RepositoryNotFound", "RepositoryMoved"]

    def test_more_than_one_page(self, bench: Bench) -> None:
        for number in range(1, 251):
            bench.world.create_issue("octo/app", f"件名 {number}", labels=["agent:ready"])
        found = bench.finder().find(OURS)
        assert found.unseen == ()
        assert [issue.item.number for issue in found.issues] == list(range(1, 251))

    def test_open_pulls_are_those_of_our_branches(self, bench: Bench) -> None:
        world = bench.world
        branch_with_change(bench, 7)
        world.push_commit("octo/app", "feature", {"c": "3"}, by="octo")
        ours = world.open_pull("octo/app", head="agent/issue-7", by=ME).number
        world.open_pull("octo/app", head="feature")
        branch_with_change(bench, 8)
        world.close("octo/app", world.open_pull("octo/app", head="agent/issue-8").number)
        pulls = seen(bench.finder().open_pulls(APP))
        assert [(pull.number, pull.head_branch) for pull in pulls] == [(ours, "agent/issue-7")]


class TestReading:
    def test_an_issue(self, bench: Bench) -> None:
        body = "本文\r\nが\t\x1b[31m e\u0301 🐙"
        number = bench.world.create_issue("octo/app", "題 <b>", body, by="stranger").number
        bench.world.add_label("octo/app", number, "agent:ready", by="triager")
        issue = seen(bench.reader().issue(issue_id(number)))
        assert (issue.title, issue.body, issue.labels) == ("題 <b>", body, ("agent:ready",))
        assert issue.author is not None
        assert issue.author.login == "stranger"
        assert issue.is_open
        assert issue.updated_at >= issue.created_at

    def test_an_issue_without_text_has_an_empty_body(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        assert seen(bench.reader().issue(issue_id(number))).body == ""

    @pytest.mark.parametrize("what", ["missing", "pull request"])
    def test_what_is_no_issue_is_unseen(self, bench: Bench, what: str) -> None:
        number = 99
        if what == "pull request":
            branch_with_change(bench)
            number = bench.world.open_pull("octo/app", head="agent/issue-1").number
        gone = bench.reader().issue(issue_id(number))
        assert isinstance(gone, Unseen)
        assert gone.code == "IssueNotFound"

    def test_the_timeline_tells_who_labelled_when(self, bench: Bench) -> None:
        world = bench.world
        number = world.create_issue("octo/app", "t", by="stranger").number
        world.advance(3)
        world.add_label("octo/app", number, "agent:ready", by="triager")
        world.advance(3)
        world.comment("octo/app", number, "hello", by="stranger")
        world.edit_issue("octo/app", number, by="stranger", title="u")
        world.advance(3)
        world.remove_label("octo/app", number, "agent:ready", by=ME)
        world.close("octo/app", number, by="octo")
        events = seen(bench.reader().timeline(issue_id(number)))
        told = [(e.kind, e.actor.login if e.actor else None, e.label) for e in events]
        assert told == [
            ("labeled", "triager", "agent:ready"),
            ("commented", "stranger", None),
            ("renamed", "stranger", None),
            ("unlabeled", ME, "agent:ready"),
            ("closed", "octo", None),
        ] or told[1:3] == [("renamed", "stranger", None), ("commented", "stranger", None)]
        assert [e.at for e in events] == sorted(e.at for e in events)
        assert len({e.id for e in events}) == len(events)

    def test_a_long_timeline_and_many_comments_have_every_page(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        for index in range(130):
            bench.world.comment("octo/app", number, f"c{index}")
        comments = seen(bench.reader().comments(APP, number))
        assert [c.body for c in comments] == [f"c{index}" for index in range(130)]
        assert len(seen(bench.reader().timeline(issue_id(number)))) == 130

    def test_an_edited_comment_shows_it(self, bench: Bench) -> None:
        world = bench.world
        number = world.create_issue("octo/app", "t").number
        posted = world.comment("octo/app", number, "one", by="stranger")
        world.comment("octo/app", number, "two")
        world.advance(5)
        world.edit_comment("octo/app", posted.id, "changed", by="octo")
        comments = seen(bench.reader().comments(APP, number))
        assert [(c.body, c.unedited) for c in comments] == [("changed", False), ("two", True)]

    def test_the_last_edit_of_the_body(self, bench: Bench) -> None:
        world = bench.world
        number = world.create_issue("octo/app", "t", "one").number
        world.advance(10)
        world.add_label("octo/app", number, "agent:ready")
        reader, item = bench.reader(), issue_id(number)

        def edit() -> datetime | None:
            issue = seen(reader.issue(item))
            events, comments = seen(reader.timeline(item)), seen(reader.comments(APP, number))
            return seen(reader.last_body_edit(issue, events, comments))

        assert edit() is None
        world.advance(10)
        world.edit_issue("octo/app", number, title="a rename is an event")
        assert edit() is None
        world.advance(10)
        world.edit_issue("octo/app", number, body="two")
        world.advance(10)
        world.edit_issue("octo/app", number, body="one")
        put_back = world.now()
        world.advance(10)
        world.comment("octo/app", number, "later")
        last = edit()
        assert last is not None
        assert put_back - timedelta(seconds=2) <= last <= put_back

    @pytest.mark.parametrize(
        ("login", "role"),
        [
            ("octo", "admin"),
            ("maintainer", "maintain"),
            (ME, "write"),
            ("triager", "triage"),
            ("reader", "read"),
            ("nobody-has-this-name", "none"),
        ],
    )
    def test_permission(self, bench: Bench, login: str, role: str) -> None:
        bench.world.repo("octo/app").private = True
        assert seen(bench.reader().permission(APP, login)) == role

    def test_permission_where_nothing_is_seen_is_not_none(self, bench: Bench) -> None:
        bench.world.add_repo("octo/secret", private=True)
        hidden = bench.reader().permission(Repository.parse("octo/secret"), "octo")
        assert isinstance(hidden, Unseen)


class TestPulls:
    def test_repository(self, bench: Bench) -> None:
        info = seen(bench.reader().repository(Repository.parse("OCTO/App")))
        assert (str(info.repository), info.default_branch, info.archived) == (
            "octo/app",
            "main",
            False,
        )

    def test_a_repository_that_is_gone_or_moved(self, bench: Bench) -> None:
        bench.world.rename_repo("octo/app", "application")
        moved = bench.reader().repository(APP)
        assert isinstance(moved, Unseen)
        assert moved.code == "RepositoryMoved"
        assert "octo/application" in moved.reason
        gone = bench.reader().repository(Repository.parse("octo/none"))
        assert isinstance(gone, Unseen)
        assert gone.code == "RepositoryNotFound"

    def test_branch_tip(self, bench: Bench) -> None:
        reader = bench.reader()
        assert seen(reader.branch_tip(APP, "agent/issue-1")) is None
        bench.world.push_commit("octo/app", "agent/issue-10", {"x": "1"}, by=ME)
        assert seen(reader.branch_tip(APP, "agent/issue-1")) is None
        sha = branch_with_change(bench)
        assert seen(reader.branch_tip(APP, "agent/issue-1")) == sha

    def test_a_branch_of_an_unseen_repository_is_unseen(self, bench: Bench) -> None:
        bench.world.add_repo("octo/secret", private=True)
        tip = bench.reader().branch_tip(Repository.parse("octo/secret"), "main")
        assert isinstance(tip, Unseen)
        assert tip.code == "RepositoryNotFound"

    def test_pulls_of_the_branch_open_merged_and_closed(self, bench: Bench) -> None:
        world, reader, item = bench.world, bench.reader(), issue_id(1)
        assert seen(reader.pulls(item)) == ()
        first = branch_with_change(bench)
        closed = world.open_pull("octo/app", head="agent/issue-1", by="octo").number
        world.close("octo/app", closed)
        merged = world.open_pull("octo/app", head="agent/issue-1", by=ME).number
        world.merge("octo/app", merged, by="octo")
        second = world.push_commit("octo/app", "agent/issue-1", {"z": "9"}, by=ME)
        again = world.open_pull("octo/app", head="agent/issue-1", by=ME).number
        branch_with_change(bench, 10)
        world.open_pull("octo/app", head="agent/issue-10", by=ME)

        def short(pull: PullRequest) -> tuple[object, ...]:
            by = pull.author.login if pull.author else None
            return pull.number, pull.is_open, pull.merged, by, pull.head, pull.base_branch

        assert [short(pull) for pull in seen(reader.pulls(item))] == [
            (closed, False, False, "octo", first, "main"),
            (merged, False, True, ME, first, "main"),
            (again, True, False, ME, second, "main"),
        ]

    def test_the_head_follows_the_branch(self, bench: Bench) -> None:
        branch_with_change(bench)
        bench.world.open_pull("octo/app", head="agent/issue-1", by=ME)
        moved = bench.world.push_commit("octo/app", "agent/issue-1", {"n": "3"}, by="octo")
        assert [pull.head for pull in seen(bench.reader().pulls(issue_id(1)))] == [moved]

    def test_commits_comparison_and_mergeability(self, bench: Bench) -> None:
        world, reader = bench.world, bench.reader()
        base = world.head("octo/app", "main")
        first = branch_with_change(bench)
        second = world.push_commit(
            "octo/app", "agent/issue-1", {"src/a.txt": "3\n"}, by=ME, message="二番\n\nbody"
        )
        number = world.open_pull("octo/app", head="agent/issue-1", by=ME).number
        commits = seen(reader.commits(APP, number))
        assert [(c.sha, c.parents) for c in commits] == [(first, (base,)), (second, (first,))]
        assert commits[1].message.rstrip() == "二番\n\nbody"
        assert seen(reader.mergeable(APP, number)) is None
        assert seen(reader.mergeable(APP, number)) is True
        world.push_commit("octo/app", "main", {"src/a.txt": "4\n"}, by="octo")
        compared = seen(reader.compare(APP, "main", second))
        assert (compared.merge_base, compared.ahead, compared.behind) == (base, 2, 1)
        assert not compared.is_ancestor
        assert seen(reader.compare(APP, first, "agent/issue-1")).is_ancestor
        assert seen(reader.mergeable(APP, number)) is None
        assert seen(reader.mergeable(APP, number)) is False

    def test_a_comparison_with_nothing_is_unseen(self, bench: Bench) -> None:
        assert isinstance(bench.reader().compare(APP, "main", "no-such-branch"), Unseen)


class TestWriting:
    def test_set_label_takes_the_old_ones_off_and_leaves_others(self, bench: Bench) -> None:
        world = bench.world
        number = world.create_issue("octo/app", "t", labels=["bug", "Agent:Ready"]).number
        writer = bench.writer()
        for _ in range(2):
            writer.set_label(
                issue_id(number),
                label="agent:working",
                remove=("agent:ready", "agent:rework", "Agent:Working"),
            )
            assert world.labels("octo/app", number) == ["agent:working", "bug"]

    def test_a_comment_is_posted_once(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        writer = bench.writer()
        marker = "<!-- toban:claim 1 -->"
        bench.world.comment("octo/app", number, f"{marker}\nforged", by="stranger")
        one = writer.comment(APP, number, body=f"{marker}\n日本語", marker=marker)
        two = writer.comment(APP, number, body=f"{marker}\nother words", marker=marker)
        assert one == two
        assert one.body == f"{marker}\n日本語"
        assert one.author == seen(bench.finder().identity())
        assert len(bench.world.comments("octo/app", number)) == 2

    def test_an_edited_comment_of_ours_does_not_count(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        first = bench.writer().comment(APP, number, body="m\na", marker="m")
        bench.world.advance(5)
        bench.world.edit_comment("octo/app", first.id, "m\nforged", by="octo")
        second = bench.writer().comment(APP, number, body="m\na", marker="m")
        assert second.id != first.id

    def test_the_marker_comes_first(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        assert bench.writer().comment(APP, number, body="words", marker="m").body == "m\nwords"

    def test_open_pull_opens_one_and_then_returns_it(self, bench: Bench) -> None:
        bench.world.create_issue("octo/app", "t")
        sha = branch_with_change(bench)
        one = bench.writer().open_pull(issue_id(1), base="main", text=TEXT)
        two = bench.writer().open_pull(issue_id(1), base="main", text=TEXT)
        assert (one.number, one.head, one.is_open) == (two.number, sha, True)
        assert one.author == seen(bench.finder().identity())
        assert len(seen(bench.reader().pulls(issue_id(1)))) == 1

    def test_a_retargeted_pull_of_ours_is_still_ours(self, bench: Bench) -> None:
        bench.world.create_issue("octo/app", "t")
        branch_with_change(bench)
        bench.world.push_commit("octo/app", "release", {"r": "1"}, by="octo")
        one = bench.writer().open_pull(issue_id(1), base="main", text=TEXT)
        bench.world.retarget("octo/app", one.number, "release")
        two = bench.writer().open_pull(issue_id(1), base="main", text=TEXT)
        assert (two.number, two.base_branch) == (one.number, "release")

    def test_a_pull_request_of_somebody_else_is_an_error_that_names_it(self, bench: Bench) -> None:
        bench.world.create_issue("octo/app", "t")
        branch_with_change(bench)
        other = bench.world.open_pull("octo/app", head="agent/issue-1", by="octo").number
        with pytest.raises(ForgeError, match=f"#{other}"):
            bench.writer().open_pull(issue_id(1), base="main", text=TEXT)

    def test_no_commits_no_pull_request(self, bench: Bench) -> None:
        bench.world.create_issue("octo/app", "t")
        main = bench.world.head("octo/app", "main")
        bench.world.set_branch("octo/app", "agent/issue-1", main, by=ME)
        with pytest.raises(ForgeError, match=r"(?i)no commits between"):
            bench.writer().open_pull(issue_id(1), base="main", text=TEXT)

    def test_assign_says_whether_it_worked(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        assert bench.writer().assign(issue_id(number), login="OCTO")
        assert bench.writer().assign(issue_id(number), login="octo")
        assert not bench.writer().assign(issue_id(number), login="stranger")

    def test_ensure_labels_creates_and_repairs_and_then_has_nothing_to_do(
        self, bench: Bench
    ) -> None:
        wanted = (
            LabelText(name="agent:ready", color="0e8a16", description="toban may start"),
            LabelText(name="human:review", color="fbca04", description="人の番"),
        )
        number = bench.world.create_issue("octo/app", "t", labels=["Agent:Ready"]).number
        assert bench.writer().ensure_labels(APP, wanted) == ("agent:ready", "human:review")
        assert bench.writer().ensure_labels(APP, wanted) == ()
        assert bench.world.labels("octo/app", number) == ["Agent:Ready"]

    @pytest.mark.parametrize("name", ["bug", "agent:ready\n", "agent：ready", ""])
    def test_labels_of_others_are_never_touched(self, bench: Bench, name: str) -> None:
        number = bench.world.create_issue("octo/app", "t", labels=["bug"]).number
        if isinstance(bench, FakeBench):
            return
        with pytest.raises(ForgeError, match="no label of toban"):
            bench.writer().set_label(issue_id(number), label="agent:working", remove=(name,))
        assert bench.world.labels("octo/app", number) == ["bug"]

    def test_who_may_not_write_gets_an_error_and_changes_nothing(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t", labels=["agent:ready"]).number
        with pytest.raises(ForgeError):
            bench.writer("reader").set_label(
                issue_id(number), label="agent:working", remove=("agent:ready",)
            )
        assert bench.world.labels("octo/app", number) == ["agent:ready"]

    def test_nothing_is_written_under_an_old_name(self, bench: Bench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        branch_with_change(bench)
        bench.world.rename_repo("octo/app", "application")
        writer = bench.writer()
        for write in (
            lambda: writer.set_label(issue_id(number), label="agent:working", remove=()),
            lambda: writer.comment(APP, number, body="m\nx", marker="m"),
            lambda: writer.open_pull(issue_id(number), base="main", text=TEXT),
            lambda: writer.assign(issue_id(number), login="octo"),
        ):
            with pytest.raises(ForgeError, match="octo/application"):
                write()
        issue = bench.world.issue("octo/application", number)
        assert (list(issue.labels), issue.comments, issue.assignees) == ([], [], [])
