"""What the GitHub adapter promises beyond the port: few requests, pauses, look-ups, no trace."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controller.adapters.github.finder import GitHubFinder
from controller.adapters.github.pause import Pause
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.writer import GitHubWriter
from controller.demo.standin import Fault, Standin
from controller.domain.values import Unseen
from controller.errors import ForgeError, ForgeLimitedError, ForgeUnknownError
from controller.ports.forge import LabelText, PullText
from tests.contract.forge_bench import APP, ME, OURS, GitHubBench, issue_id

pytestmark = pytest.mark.needs("git>=2.38")

TEXT = PullText(title="t", body="b")
LABELS = (
    LabelText(name="agent:ready", color="0e8a16", description="d"),
    LabelText(name="agent:working", color="0e8a17", description="d"),
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[GitHubBench]:
    with Standin(tmp_path / "github") as github:
        made = GitHubBench(github, tmp_path / "state")
        yield made
        made.close()


def furnished(bench: GitHubBench) -> int:
    """A labelled issue 1 with its branch."""
    number: int = bench.world.create_issue("octo/app", "t", labels=["agent:ready"]).number
    bench.world.push_commit("octo/app", f"agent/issue-{number}", {"b": "2"}, by=ME)
    return number


def asked(bench: GitHubBench, what: Callable[[], object]) -> list[str]:
    bench.world.clear_requests()
    what()
    return [f"{seen.method} {seen.status}" for seen in bench.world.requests()]


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class TestFewRequests:
    def test_an_idle_poll_is_six_empty_answers_whatever_there_is(self, bench: GitHubBench) -> None:
        for number in range(5):
            bench.world.add_repo(f"octo/r{number}", files={}, collaborators={ME: "write"})
            bench.world.create_issue(f"octo/r{number}", "waits", labels=["agent:blocked"])
        assert asked(bench, lambda: bench.finder().find(OURS)) == ["GET 200"] * 6
        first = bench.finder().find(OURS)
        # Another process: nothing but the files is left.
        assert asked(bench, lambda: bench.finder().find(OURS)) == ["GET 304"] * 6
        assert bench.finder().find(OURS) == first
        assert len(first.issues) == 5
        assert all(seen.conditional for seen in bench.world.requests())

    def test_pages_are_conditional_each(self, bench: GitHubBench) -> None:
        for _ in range(250):
            bench.world.create_issue("octo/app", "t", labels=["agent:ready"])
        finder = bench.finder(owner=None, repositories=("octo/app",))
        assert asked(bench, lambda: finder.find(OURS)) == ["GET 200"] * 3
        assert asked(bench, lambda: finder.find(OURS)) == ["GET 304"] * 3
        bench.world.create_issue("octo/app", "t", labels=["agent:ready"])
        assert asked(bench, lambda: finder.find(OURS)) == ["GET 304", "GET 304", "GET 200"]
        assert len(finder.find(OURS).issues) == 251

    def test_identity_is_asked_once(self, bench: GitHubBench) -> None:
        finder = bench.finder()
        assert asked(bench, finder.identity) == ["GET 200"]
        assert asked(bench, finder.identity) == []

    def test_requests_of_each_read(self, bench: GitHubBench) -> None:
        number = furnished(bench)
        pull = bench.world.open_pull("octo/app", head=f"agent/issue-{number}", by=ME).number
        reader = GitHubReader(bench.api())
        item = issue_id(number)
        issue = reader.issue(item)
        assert not isinstance(issue, Unseen)
        reads: tuple[Callable[[], object], ...] = (
            lambda: reader.issue(item),
            lambda: reader.timeline(item),
            lambda: reader.comments(APP, number),
            lambda: reader.permission(APP, "octo"),
            lambda: reader.repository(APP),
            lambda: reader.branch_tip(APP, item.branch),
            lambda: reader.pulls(item),
            lambda: reader.commits(APP, pull),
            lambda: reader.compare(APP, "main", item.branch),
        )
        for read in reads:
            read()
            assert asked(bench, read) == ["GET 304"]
        assert asked(bench, lambda: reader.last_body_edit(issue, (), ())) == ["POST 200"]

    def test_requests_of_each_write(self, bench: GitHubBench) -> None:
        number = furnished(bench)
        item = issue_id(number)
        api = bench.api()
        finder = GitHubFinder(api)
        writer = GitHubWriter(api, identity=finder.identity, seconds_between_writes=0)
        finder.identity()
        assert asked(
            bench, lambda: writer.set_label(item, label="agent:working", remove=("agent:ready",))
        ) == ["POST 200", "DELETE 200"]
        post = lambda: writer.comment(APP, number, body="m\nx", marker="m")  # noqa: E731 - said twice
        assert asked(bench, post) == ["GET 200", "POST 201"]
        assert asked(bench, post) == ["GET 200"]
        assert asked(bench, post) == ["GET 304"]
        propose = lambda: writer.open_pull(item, base="main", text=TEXT)  # noqa: E731 - said twice
        assert asked(bench, propose) == ["GET 200", "POST 201"]
        assert asked(bench, propose) == ["GET 200"]
        assert asked(bench, lambda: writer.assign(item, login="octo")) == ["POST 201"]
        assert asked(bench, lambda: writer.ensure_labels(APP, LABELS)) == [
            "GET 200",
            "PATCH 200",
            "PATCH 200",
        ]
        assert asked(bench, lambda: writer.ensure_labels(APP, LABELS)) == ["GET 200"]
        writer.close()

    def test_an_idle_poll_loads_no_library(self, bench: GitHubBench) -> None:
        program = """
import sys
from pathlib import Path
from controller.adapters.github.cache import EtagCache
from controller.adapters.github.finder import GitHubFinder
from controller.adapters.github.http import Api
from controller.adapters.github.pause import Pause
from controller.adapters.github.reader import GitHubReader
from controller.adapters.github.writer import GitHubWriter
api = Api(api_url=sys.argv[1], credential=lambda: sys.argv[2], pause=Pause(),
          cache=EtagCache(Path(sys.argv[3])))
finder = GitHubFinder(api, owner="octo")
GitHubWriter(api, identity=finder.identity)
GitHubReader(api)
found = finder.find(("agent:ready",))
api.close()
assert len(found.issues) == 1 and not found.unseen, found
print(sorted({m.partition(".")[0] for m in sys.modules} & set(sys.argv[4:])))
"""
        furnished(bench)
        libraries = ["github", "git", "requests", "urllib3", "jwt", "cryptography", "starlette"]
        argv = [bench.github.url, f"tok_{ME}", str(bench.folder / "etags"), *libraries]
        done = subprocess.run(
            [sys.executable, "-c", program, *argv],
            check=True,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.stdout.decode().strip() == "[]"


class TestPause:
    @pytest.mark.parametrize(
        ("fault", "seconds"),
        [
            (Fault(path=".*", kind="secondary", status=403, retry_after=90), 90),
            (Fault(path=".*", kind="secondary", status=429), 60),
            (Fault(path=".*", kind="creation", status=403), 60),
            (Fault(path=".*", kind="primary", retry_after=1800), 1800),
        ],
        ids=["retry-after", "bare 429", "content creation", "primary"],
    )
    @pytest.mark.parametrize("first", ["reader", "writer"])
    def test_who_is_told_to_wait_makes_all_wait(
        self, bench: GitHubBench, fault: Fault, seconds: int, first: str
    ) -> None:
        item = issue_id(furnished(bench))
        api = bench.api()
        reader, writer = GitHubReader(api), bench.writer(api=api)
        before = datetime.now(UTC)

        def write() -> None:
            writer.set_label(item, label="agent:working", remove=())

        bench.world.add_fault(fault)
        if first == "reader":
            limited = reader.issue(item)
            assert isinstance(limited, Unseen)
            assert limited.code == "RateLimited"
            until = limited.until
        else:
            with pytest.raises(ForgeLimitedError) as told:
                write()
            until = told.value.until
        assert until is not None
        assert abs((until - before).total_seconds() - seconds) < 10

        def everything() -> None:
            assert isinstance(reader.issue(item), Unseen)
            with pytest.raises(ForgeLimitedError):
                write()
            # The next process finds it in the file; there too nothing is sent.
            later = bench.finder()
            assert isinstance(later.identity(), Unseen)
            assert len(later.find(OURS).unseen) == len(OURS)

        assert asked(bench, everything) == []

    def test_it_ends_by_itself(self, bench: GitHubBench) -> None:
        item = issue_id(furnished(bench))
        now = [datetime.now(UTC)]
        reader = GitHubReader(bench.api(pause=Pause(now=lambda: now[0])))
        bench.world.add_fault(Fault(path=".*", kind="secondary", retry_after=5))
        assert isinstance(reader.issue(item), Unseen)
        now[0] += timedelta(seconds=6)
        assert not isinstance(reader.issue(item), Unseen)

    def test_a_plain_refusal_is_no_pause(self, bench: GitHubBench) -> None:
        item = issue_id(furnished(bench))
        reader = GitHubReader(bench.api())
        bench.world.add_fault(
            Fault(path=".*", status=403, message="Resource not accessible by integration")
        )
        denied = reader.issue(item)
        assert isinstance(denied, Unseen)
        assert denied.code == "AccessDenied"
        assert not isinstance(reader.issue(item), Unseen)


class TestLostAnswers:
    """The write happened, or not; its answer never comes."""

    WRITES: tuple[tuple[str, str, Callable[[GitHubWriter], object]], ...] = (
        (
            "POST",
            r".*/issues/1/labels",
            lambda w: w.set_label(issue_id(1), label="agent:working", remove=("agent:ready",)),
        ),
        (
            "DELETE",
            r".*/labels/agent:ready",
            lambda w: w.set_label(issue_id(1), label="agent:working", remove=("agent:ready",)),
        ),
        ("POST", r".*/comments", lambda w: w.comment(APP, 1, body="m\nx", marker="m")),
        ("POST", r".*/pulls", lambda w: w.open_pull(issue_id(1), base="main", text=TEXT)),
        ("POST", r".*/assignees", lambda w: w.assign(issue_id(1), login="octo")),
        ("POST", r"/repos/octo/app/labels", lambda w: w.ensure_labels(APP, LABELS)),
        ("PATCH", r".*/labels/agent:ready", lambda w: w.ensure_labels(APP, LABELS)),
    )
    NAMES = ("label on", "label off", "comment", "pull", "assignee", "new label", "repair label")

    @staticmethod
    def state(bench: GitHubBench) -> tuple[object, ...]:
        issue = bench.world.issue("octo/app", 1)
        labels = {it.name: (it.color, it.description) for it in bench.world.repo("octo/app").labels}
        return (
            bench.world.labels("octo/app", 1),
            [comment.body for comment in issue.comments],
            list(issue.assignees),
            [pull.number for pull in bench.world.pulls("octo/app")],
            labels,
        )

    @pytest.mark.parametrize("write", WRITES, ids=NAMES)
    @pytest.mark.parametrize("kind", ["status", "drop"])
    def test_done_and_lost_is_found(
        self,
        bench: GitHubBench,
        write: tuple[str, str, Callable[[GitHubWriter], object]],
        kind: str,
    ) -> None:
        furnished(bench)
        method, path, act = write
        fault = Fault(method=method, path=path, status=502, after_effect=True)
        bench.world.add_fault(
            fault
            if kind == "status"
            else Fault(method=method, path=path, kind="drop", after_effect=True)
        )
        act(bench.writer())
        done = self.state(bench)
        assert bench.world.faults_left() == 0
        sent = [s for s in bench.world.requests() if s.fault]
        assert [s.method for s in sent] == [method], "sent once, never repeated"
        act(bench.writer())
        assert self.state(bench) == done, "doing it twice is doing it once"

    @pytest.mark.parametrize("write", WRITES, ids=NAMES)
    @pytest.mark.parametrize("status", [500, 503, 504])
    def test_not_done_is_unknown_and_never_repeated(
        self,
        bench: GitHubBench,
        write: tuple[str, str, Callable[[GitHubWriter], object]],
        status: int,
    ) -> None:
        furnished(bench)
        method, path, act = write
        bench.world.add_fault(Fault(method=method, path=path, status=status))
        with pytest.raises(ForgeUnknownError, match=str(status)):
            act(bench.writer())
        writes = [s for s in bench.world.requests() if s.method == method and s.fault]
        assert len(writes) == 1
        act(bench.writer())

    def test_a_look_up_that_fails_too_leaves_it_unknown(self, bench: GitHubBench) -> None:
        furnished(bench)
        bench.world.add_fault(
            Fault(method="POST", path=r".*/labels", kind="drop", after_effect=True)
        )
        bench.world.add_fault(Fault(method="GET", path=r".*/issues/1", times=3))
        with pytest.raises(ForgeUnknownError, match="looking it up"):
            bench.writer().set_label(issue_id(1), label="agent:working", remove=())

    def test_a_duplicate_that_the_look_up_did_not_show_is_adopted(self, bench: GitHubBench) -> None:
        """Another hand opens it between look-up and write: 422, and ours is ours."""
        furnished(bench)

        def between() -> None:
            bench.world.open_pull("octo/app", head="agent/issue-1", by=ME)

        writer = bench.writer(api=bench.api(before_token=once_after(bench, "/pulls", between)))
        assert writer.open_pull(issue_id(1), base="main", text=TEXT).number == 2
        assert "POST 422" in [f"{s.method} {s.status}" for s in bench.world.requests()]
        assert [pull.number for pull in bench.world.pulls("octo/app")] == [2]

    def test_a_foreign_duplicate_is_an_error_that_names_it(self, bench: GitHubBench) -> None:
        furnished(bench)

        def between() -> None:
            bench.world.open_pull("octo/app", head="agent/issue-1", by="octo")

        writer = bench.writer(api=bench.api(before_token=once_after(bench, "/pulls", between)))
        with pytest.raises(ForgeError, match="#2 is by octo"):
            writer.open_pull(issue_id(1), base="main", text=TEXT)


class TestFaultyReads:
    def test_a_read_is_tried_three_times(self, bench: GitHubBench) -> None:
        item = issue_id(furnished(bench))
        reader = bench.reader()
        bench.world.add_fault(Fault(path=".*", status=502, times=2))
        assert not isinstance(reader.issue(item), Unseen)
        bench.world.add_fault(Fault(path=".*", kind="drop", times=2))
        assert not isinstance(reader.issue(item), Unseen)
        bench.world.add_fault(Fault(path=".*", status=503, times=3))
        gone = reader.issue(item)
        assert isinstance(gone, Unseen)
        assert (gone.code, "503" in gone.reason) == ("ForgeUnseen", True)
        assert bench.world.faults_left() == 0

    def test_a_lost_page_makes_the_whole_list_unseen(self, bench: GitHubBench) -> None:
        number = bench.world.create_issue("octo/app", "t").number
        for _ in range(130):
            bench.world.comment("octo/app", number, "c")
        bench.world.add_fault(Fault(path=r"/repositories/.*/comments", times=3))
        assert isinstance(bench.reader().comments(APP, number), Unseen)

    def test_a_refused_token(self, bench: GitHubBench) -> None:
        bench.world.revoke_token(f"tok_{ME}")
        for gone in (bench.finder().identity(), bench.finder().find(("agent:ready",)).unseen[0]):
            assert isinstance(gone, Unseen)
            assert gone.code == "TokenRefused"
        with pytest.raises(ForgeError, match="401"):
            bench.writer().assign(issue_id(1), login="octo")

    def test_without_graphql_an_unexplained_update_is_an_edit(self, bench: GitHubBench) -> None:
        world, item = bench.world, issue_id(furnished(bench))
        world.set_graphql(on=False)
        reader = bench.reader()

        def edit() -> datetime | None:
            issue, events = reader.issue(item), reader.timeline(item)
            comments = reader.comments(APP, item.number)
            assert not isinstance(issue, Unseen)
            assert not isinstance(events, Unseen)
            assert not isinstance(comments, Unseen)
            found = reader.last_body_edit(issue, events, comments)
            assert not isinstance(found, Unseen)
            return found

        world.advance(5)
        world.comment("octo/app", item.number, "explains")
        assert edit() is None
        world.advance(5)
        world.edit_issue("octo/app", item.number, body="other")
        assert edit() is not None

    def test_a_graphql_that_fails_is_not_never(self, bench: GitHubBench) -> None:
        item = issue_id(furnished(bench))
        reader = bench.reader()
        issue = reader.issue(item)
        assert not isinstance(issue, Unseen)
        bench.world.add_fault(Fault(path="/graphql", times=3))
        assert isinstance(reader.last_body_edit(issue, (), ()), Unseen)
        bench.world.rename_repo("octo/app", "other")
        bench.world.set_private("octo/other", private=True)
        bench.world.set_role("octo/other", ME, "none")
        gone = reader.last_body_edit(issue, (), ())
        assert isinstance(gone, Unseen)
        assert gone.code == "IssueNotFound"


class TestTraces:
    def test_plan_writes_no_file(self, bench: GitHubBench) -> None:
        furnished(bench)
        planned = GitHubFinder(bench.api(plan=True), owner="octo")
        assert planned.find(OURS).unseen == ()
        bench.world.add_fault(Fault(path=".*", kind="secondary", retry_after=60))
        assert planned.find(OURS).unseen != ()
        assert files_below(bench.folder) == {}
        assert not bench.folder.exists()

    def test_plan_reads_what_others_have_cached_and_leaves_it(self, bench: GitHubBench) -> None:
        furnished(bench)
        bench.finder().find(OURS)
        before = files_below(bench.folder)
        assert before != {}
        planned = GitHubFinder(bench.api(plan=True), owner="octo")
        assert asked(bench, lambda: planned.find(OURS)) == ["GET 304"] * 6
        bench.world.create_issue("octo/app", "new", labels=["agent:ready"])
        planned.find(OURS)
        assert files_below(bench.folder) == before

    def test_files_are_private_and_hold_no_token(self, bench: GitHubBench) -> None:
        furnished(bench)
        bench.finder().find(OURS)
        bench.world.add_fault(Fault(path=".*", kind="secondary"))
        bench.finder().find(OURS)
        kept = [path for path in bench.folder.rglob("*") if path.is_file()]
        assert any(path.name == "pause.json" for path in kept)
        for path in kept:
            assert path.stat().st_mode & 0o777 == 0o600
            assert f"tok_{ME}" not in path.read_text("utf-8") + str(path)


class TestApp:
    def test_a_github_app_asks_each_repository_of_its_installation(
        self, bench: GitHubBench
    ) -> None:
        world = bench.world
        world.add_user("host[bot]", kind="Bot")
        for name in ("octo/app", "octo/lib"):
            if name != "octo/app":
                world.add_repo(name, private=True)
            world.set_role(name, "host[bot]", "write")
            world.create_issue(name, "t", labels=["agent:ready"])
        world.add_token("host[bot]", "tok_app", kind="installation", repositories=["octo/lib"])
        finder = GitHubFinder(bench.api("app"), owner="Octo", app_login=lambda: "host[bot]")
        found = finder.find(OURS)
        assert found.unseen == ()
        assert [str(issue.item) for issue in found.issues] == ["octo/lib#1"]
        me = finder.identity()
        assert not isinstance(me, Unseen)
        assert (me.login, me.is_bot) == ("host[bot]", True)
        assert asked(bench, lambda: finder.find(OURS)) == ["GET 304"] * 2


def once_after(bench: GitHubBench, ending: str, act: Callable[[], None]) -> Callable[[], None]:
    """Does `act` once, when a path with that ending has been asked for."""
    left = [act]

    def hook() -> None:
        if left and any(seen.path.endswith(ending) for seen in bench.world.requests()):
            left.pop()()

    return hook
