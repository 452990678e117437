"""The real repository alone: what it starts, what it leaves on disk, and a network that fails."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.adapters.git.allowed import check
from controller.demo.standin import Standin
from controller.demo.standin.faults import Fault, Kind
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.repository import Change, LocalRepository, Refusal
from controller.domain.text import HOSTILE
from controller.domain.values import Unseen
from controller.errors import RepositoryError
from tests.contract.repository_bench import BASE, FILES, ITEM, LIMITS, ME, REPO, TEXT, GitBench

pytestmark = pytest.mark.needs("git>=2.39")

TOKEN = f"tok_{ME}"
MOST_PROCESSES = 12
"""Of git in one small delivery; plain git needs three."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[GitBench]:
    with Standin(tmp_path / "hub") as github:
        yield GitBench(github, tmp_path)


def start(bench: GitBench) -> str:
    assert bench.writer.fetch(ITEM, base=BASE) is None
    seen = bench.reader.local(ITEM)
    assert isinstance(seen, LocalRepository)
    assert seen.base is not None
    assert bench.writer.create_worktree(ITEM, at=seen.base).state == "ours"
    return seen.base


def deliver(bench: GitBench, parent: str, *, push: bool = True) -> str:
    change = bench.writer.import_change(ITEM, parent=parent, base=parent, limits=LIMITS, text=TEXT)
    assert isinstance(change, Change), change
    bench.writer.advance(ITEM, sha=change.sha, parent=parent)
    if push:
        assert bench.writer.push(ITEM, sha=change.sha, expected=None) is None
    return change.sha


def plain_git(folder: Path, *argv: str) -> str:
    """Git as the AI would run it in its sandbox."""
    env = {"PATH": os.environ["PATH"], "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(
        ["git", *argv], cwd=folder, env=env, check=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout.decode()


def test_a_delivery_starts_few_processes_all_of_them_on_the_list(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    bench.spawned.clear()
    deliver(bench, base)
    assert len(bench.spawned) <= MOST_PROCESSES
    for argv in bench.spawned:
        check(argv)


def test_looking_starts_no_process_and_an_idle_fetch_one(bench: GitBench) -> None:
    start(bench)
    bench.spawned.clear()
    bench.reader.local(ITEM)
    bench.reader.items_on_disk()
    assert bench.spawned == []
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert [argv[0] for argv in bench.spawned] == ["ls-remote"]


def test_git_in_the_sandbox_sees_a_sane_worktree(bench: GitBench) -> None:
    base = start(bench)
    assert plain_git(bench.tree, "status", "--porcelain", "-b") == f"## {ITEM.branch}\n"
    bench.edit("src/a.txt", "new\n")
    assert plain_git(bench.tree, "status", "--porcelain") == " M src/a.txt\n"
    assert "+new\n" in plain_git(bench.tree, "diff")
    head = deliver(bench, base)
    assert plain_git(bench.tree, "status", "--porcelain") == ""
    assert plain_git(bench.tree, "rev-parse", "HEAD").strip() == head
    assert plain_git(bench.tree, "log", "--format=%H %an").split() == [head, "toban", base, "octo"]
    assert plain_git(bench.bare, "fsck", "--strict", "--no-dangling").startswith("notice: HEAD")


def test_git_sees_nothing_changed_without_reading_files(bench: GitBench) -> None:
    """The index holds the stat data of the files, so that a large tree is quick in the sandbox."""
    start(bench)
    env = {"PATH": os.environ["PATH"], "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(
        ["git", "diff-files", "--quiet"], cwd=bench.tree, env=env, check=False
    )  # diff-files compares stat data alone
    assert done.returncode == 0


def test_a_checkout_is_a_repository_for_the_reviewer(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base)
    into = bench.root / "checkouts/review"
    bench.writer.checkout(ITEM.repository, sha=head, into=into)
    assert plain_git(into, "status", "--porcelain") == ""
    assert "+new" in plain_git(into, "diff", base)
    assert (into / ".git").stat().st_mode & 0o222 == 0
    registrations = bench.bare / "worktrees"
    assert len(list(registrations.iterdir())) == 2
    into.rename(into.with_name("elsewhere"))  # somebody else removed it
    other = bench.root / "checkouts/other/review"
    bench.writer.checkout(ITEM.repository, sha=base, into=other)
    bench.writer.remove_checkout(ITEM.repository, other)
    assert [folder.name for folder in registrations.iterdir()] == ["issue-58"]


def test_the_token_is_on_no_command_line_and_in_no_file(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    deliver(bench, base)
    assert TOKEN not in repr(bench.spawned)
    found = [
        path
        for path in bench.root.rglob("*")
        if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]
    assert found == []


def test_the_bare_repository_is_ours_alone(bench: GitBench) -> None:
    start(bench)
    assert bench.bare.stat().st_mode & 0o777 == 0o700
    assert "remote" not in (bench.bare / "config").read_text()
    assert not (bench.bare / "FETCH_HEAD").exists()
    assert plain_git(bench.bare, "for-each-ref", "--format=%(refname)").split() == [
        f"refs/heads/{ITEM.branch}",
        "refs/toban/issue-58/base",
    ]


def refs_fault(*, status: int = 502, kind: Kind = "status") -> Fault:
    return Fault(path=".*/info/refs", times=9, status=status, kind=kind)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param(refs_fault(status=502), Reason.GIT_UNSEEN, id="502"),
        pytest.param(refs_fault(status=429), Reason.GIT_UNSEEN, id="429"),
        pytest.param(refs_fault(kind="drop"), Reason.GIT_UNSEEN, id="no answer"),
        pytest.param(refs_fault(status=403), Reason.ACCESS_DENIED, id="403"),
        pytest.param(refs_fault(status=401), Reason.TOKEN_REFUSED, id="401"),
        pytest.param(refs_fault(status=404), Reason.REPOSITORY_NOT_FOUND, id="404"),
    ],
)
def test_a_failing_network_is_never_an_absence(bench: GitBench, fault: Fault, code: Reason) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base)
    bench.world.add_fault(fault)
    for answer in (
        bench.writer.fetch(ITEM, base=BASE),
        bench.writer.push(ITEM, sha=head, expected=None),
    ):
        assert isinstance(answer, Unseen)
        assert answer.code == code
        assert TOKEN not in answer.reason
    seen = bench.reader.local(ITEM)
    assert isinstance(seen, LocalRepository)
    assert (seen.base, seen.fetched_head) == (base, head)


def test_a_token_that_may_only_read_is_said(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base, push=False)
    bench.world.set_role(REPO, ME, "read")
    answer = bench.writer.push(ITEM, sha=head, expected=None)
    assert isinstance(answer, Unseen)
    assert answer.code == Reason.ACCESS_DENIED


@pytest.mark.parametrize("token", [None, "wrong"])
def test_without_a_good_token_nothing_is_seen(bench: GitBench, token: str | None) -> None:
    bench.token = token
    answer = bench.writer.fetch(ITEM, base=BASE)
    assert isinstance(answer, Unseen)
    assert answer.code in {Reason.TOKEN_REFUSED, Reason.REPOSITORY_NOT_FOUND}


def test_a_push_whose_answer_is_lost_is_looked_up(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base, push=False)
    fault = Fault(path=".*/git-receive-pack", method="POST", kind="drop", after_effect=True)
    bench.world.add_fault(fault)
    assert bench.writer.push(ITEM, sha=head, expected=None) is None
    assert bench.world.head(REPO, ITEM.branch) == head


def test_a_push_that_never_arrived_is_unseen(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base, push=False)
    bench.world.add_fault(Fault(path=".*/git-receive-pack", method="POST", kind="drop", times=9))
    assert isinstance(bench.writer.push(ITEM, sha=head, expected=None), Unseen)
    assert bench.world.head(REPO, ITEM.branch) is None
    bench.world.clear_faults()
    assert bench.writer.push(ITEM, sha=head, expected=None) is None


def test_what_the_forge_rejects_is_blocked_with_its_words(bench: GitBench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    head = deliver(bench, base, push=False)
    hook = bench.world.repo(REPO).path / "hooks/update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nprintf 'GH013: \\033]0;x\\007 workflow scope\\n' >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = bench.writer.push(ITEM, sha=head, expected=None)
    assert isinstance(answer, Refusal)
    assert (answer.kind, answer.reason) == ("ambiguous", Reason.PUSH_REJECTED)
    assert "workflow scope" in answer.message
    assert not HOSTILE.search(answer.message)
    assert bench.world.head(REPO, ITEM.branch) is None


def test_locks_of_a_killed_git_do_not_stop_the_next(bench: GitBench) -> None:
    start(bench)
    bench.world.push_commit(REPO, BASE, {"n.txt": "n\n"}, by="octo")
    locks = [bench.bare / name for name in ("refs/toban/issue-58/base.lock", "packed-refs.lock")]
    for lock in locks:
        lock.touch()
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert not any(lock.exists() for lock in locks)


def test_a_lock_of_a_living_git_is_respected(bench: GitBench) -> None:
    start(bench)
    lock = bench.bare / "refs/toban/issue-58/base.lock"
    lock.touch()
    bench.world.push_commit(REPO, BASE, {"n.txt": "n\n"}, by="octo")
    with subprocess.Popen(
        ["git", f"--git-dir={bench.bare}", "cat-file", "--batch"], stdin=subprocess.PIPE
    ) as living:
        answer = bench.writer.fetch(ITEM, base=BASE)
        living.communicate()
    assert isinstance(answer, Unseen)
    assert lock.exists()


def test_a_half_made_worktree_is_made_anew(bench: GitBench) -> None:
    base = start(bench)
    bench.writer.remove_worktree(ITEM)
    half = bench.tree.with_name(".issue-58.new")
    (half / "src").mkdir(parents=True)
    (half / "src/a.txt").write_text("half\n")
    assert bench.writer.create_worktree(ITEM, at=base).state == "ours"
    assert bench.files() == FILES
    assert not half.exists()


def test_a_half_done_step_forward_is_finished(bench: GitBench) -> None:
    start(bench)
    files = {"src/a.txt": "new\n", "README.md": None, "b/c.txt": "c\n"}
    head = bench.world.push_commit(REPO, ITEM.branch, files, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    bench.edit("README.md", None)
    bench.edit("b/c.txt", "c\n")
    bench.edit(".toban-new-file", "ha")
    assert bench.writer.create_worktree(ITEM, at=head).head == head
    assert bench.reader.worktree_is_clean(ITEM) is True
    assert plain_git(bench.tree, "status", "--porcelain") == ""


def test_an_ignored_file_is_never_overwritten(bench: GitBench) -> None:
    start(bench)
    bench.edit("build/out.txt", "only here\n")
    head = bench.world.push_commit(REPO, ITEM.branch, {"build/out.txt": "theirs\n"}, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    with pytest.raises(RepositoryError, match="an ignored file stands in the way"):
        bench.writer.create_worktree(ITEM, at=head)
    assert bench.files()["build/out.txt"] == "only here\n"
    assert plain_git(bench.tree, "status", "--porcelain") == ""


def test_an_advance_after_a_restart_needs_no_memory(bench: GitBench, tmp_path: Path) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    change = bench.writer.import_change(ITEM, parent=base, base=base, limits=LIMITS, text=TEXT)
    assert isinstance(change, Change)
    with Standin(tmp_path / "hub2") as github:
        other = GitBench(github, tmp_path)  # a later process on the same folder
        other.writer.advance(ITEM, sha=change.sha, parent=base)
    assert plain_git(bench.tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("base", ["--upload-pack=x", "a..b", "", "a\nb", "x\u202ey"])
def test_a_hostile_base_name_starts_nothing(bench: GitBench, base: str) -> None:
    answer = bench.writer.fetch(ITEM, base=base)
    assert isinstance(answer, Unseen)
    assert answer.code == Reason.BASE_BRANCH_MISSING
    assert bench.spawned == []
    assert not HOSTILE.search(answer.reason)


def test_a_broken_note_is_unseen_and_not_absent(bench: GitBench) -> None:
    start(bench)
    (bench.bare / "refs/toban/issue-58/base").write_text("broken\n")
    assert isinstance(bench.reader.local(ITEM), Unseen)


def test_packed_refs_are_read_too(bench: GitBench) -> None:
    base = start(bench)
    plain_git(bench.bare, "pack-refs", "--all", "--prune")
    seen = bench.reader.local(ITEM)
    assert isinstance(seen, LocalRepository)
    assert (seen.base, seen.worktree.head) == (base, base)


def test_only_folders_of_items_are_items(bench: GitBench) -> None:
    start(bench)
    for name in ("issue-0", "issue-x", "issue-58.bak", "other", "issue-07"):
        (bench.tree.parent / name).mkdir()
    (bench.tree.parent / "issue-9").symlink_to(bench.tree)
    (bench.root / "worktrees/-bad-/app/issue-3").mkdir(parents=True)
    (bench.root / "worktrees/octo/other/issue-3").mkdir(parents=True)
    assert set(bench.reader.items_on_disk()) == {ITEM, IssueId.parse("octo/other#3")}
