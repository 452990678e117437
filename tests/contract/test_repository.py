"""What every repository keeps: the contract of `controller.ports.repository`, fake and real git."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.demo.standin import Standin
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.repository import Change, ImportLimits, LocalRepository, Refusal
from controller.domain.values import Unseen
from controller.errors import RepositoryError, UnpushedError
from tests.contract.repository_bench import (
    BASE,
    FILES,
    HOST_SECRET,
    ITEM,
    LIMITS,
    REPO,
    TEXT,
    Bench,
    FakeBench,
    GitBench,
    read_files,
)


@pytest.fixture(params=["fake", pytest.param("git", marks=pytest.mark.needs("git>=2.39"))])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    if request.param == "fake":
        yield FakeBench()
        return
    with Standin(tmp_path / "hub") as github:
        yield GitBench(github, tmp_path)


def local(bench: Bench, item: IssueId = ITEM) -> LocalRepository:
    seen = bench.reader.local(item)
    assert isinstance(seen, LocalRepository)
    return seen


def start(bench: Bench) -> str:
    """Fetch and lay out a worktree on the base; its commit."""
    assert bench.writer.fetch(ITEM, base=BASE) is None
    base = local(bench).base
    assert base is not None
    assert bench.writer.create_worktree(ITEM, at=base).state == "ours"
    return base


def take(bench: Bench, parent: str, limits: ImportLimits = LIMITS) -> Change:
    made = bench.writer.import_change(ITEM, parent=parent, base=parent, limits=limits, text=TEXT)
    assert isinstance(made, Change), made
    return made


def refused(bench: Bench, parent: str, limits: ImportLimits = LIMITS) -> Refusal:
    made = bench.writer.import_change(ITEM, parent=parent, base=parent, limits=limits, text=TEXT)
    assert isinstance(made, Refusal), made
    return made


def deliver(bench: Bench) -> tuple[str, str]:
    """A first commit of ours on the forge; base and head."""
    base = start(bench)
    bench.edit("src/a.txt", "1\n2\n3\n4\n")
    change = take(bench, base)
    bench.writer.advance(ITEM, sha=change.sha, parent=base)
    assert bench.writer.push(ITEM, sha=change.sha, expected=None) is None
    return base, change.sha


def test_nothing_is_there_at_first(bench: Bench) -> None:
    seen = local(bench)
    assert not seen.exists
    assert (seen.base, seen.fetched_head, seen.worktree.state) == (None, None, "absent")
    assert bench.reader.items_on_disk() == ()


def test_a_fetch_brings_the_base_and_no_branch(bench: Bench) -> None:
    assert bench.writer.fetch(ITEM, base=BASE) is None
    seen = local(bench)
    assert seen.exists
    assert seen.base == bench.world.head(REPO, BASE)
    assert seen.fetched_head is None
    assert seen.worktree.state == "absent"


def test_a_fetch_follows_the_branch_until_it_is_gone(bench: Bench) -> None:
    head = bench.world.push_commit(REPO, ITEM.branch, {"h.txt": "h\n"}, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert local(bench).fetched_head == head
    bench.world.delete_branch(REPO, ITEM.branch, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert local(bench).fetched_head is None


def test_a_fetch_follows_a_rewritten_base(bench: Bench) -> None:
    first = bench.world.head(REPO, BASE)
    bench.world.push_commit(REPO, BASE, {"b.txt": "b\n"}, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    bench.world.set_branch(REPO, BASE, first, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert local(bench).base == first


def test_items_with_like_numbers_do_not_mix(bench: Bench) -> None:
    other = IssueId.parse("octo/app#5")
    bench.world.push_commit(REPO, ITEM.branch, {"h.txt": "h\n"}, by="octo")
    assert bench.writer.fetch(other, base=BASE) is None
    assert local(bench, other).fetched_head is None


@pytest.mark.parametrize(
    ("item", "base", "code"),
    [
        pytest.param("octo/app#58", "nope", Reason.BASE_BRANCH_MISSING, id="no such base"),
        pytest.param("octo/empty#1", "main", Reason.BASE_BRANCH_MISSING, id="empty repository"),
        pytest.param("octo/none#1", "main", Reason.REPOSITORY_NOT_FOUND, id="no repository"),
        pytest.param("octo/hidden#1", "main", Reason.REPOSITORY_NOT_FOUND, id="not for this token"),
        pytest.param("octo/old#1", "main", Reason.REPOSITORY_MOVED, id="renamed"),
    ],
)
def test_what_cannot_be_fetched_is_unseen(bench: Bench, item: str, base: str, code: Reason) -> None:
    bench.world.add_repo("octo/empty", files={})
    bench.world.add_repo("octo/hidden", private=True)
    bench.world.add_repo("octo/old")
    bench.world.rename_repo("octo/old", "new")
    seen = bench.writer.fetch(IssueId.parse(item), base=base)
    assert isinstance(seen, Unseen)
    assert seen.code == code


def test_a_worktree_holds_the_commit_byte_for_byte(bench: Bench) -> None:
    base = start(bench)
    assert bench.files() == FILES
    seen = local(bench)
    assert (seen.worktree.state, seen.worktree.head) == ("ours", base)
    assert bench.reader.worktree_is_clean(ITEM) is True
    assert bench.reader.items_on_disk() == (ITEM,)


def test_a_worktree_that_stands_right_is_kept(bench: Bench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "work\n")
    assert bench.writer.create_worktree(ITEM, at=base).head == base
    assert bench.files()["src/a.txt"] == "work\n"


def test_a_clean_worktree_goes_forward_and_keeps_ignored_files(bench: Bench) -> None:
    start(bench)
    bench.edit("build/out.bin", "made\n")
    files = {"README.md": None, "src/new/b.txt": "b\n", "src/a.txt": "new\n"}
    head = bench.world.push_commit(REPO, ITEM.branch, files, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    assert bench.writer.create_worktree(ITEM, at=head).head == head
    assert bench.files() == {
        ".gitignore": FILES[".gitignore"],
        "build/out.bin": "made\n",
        "src/a.txt": "new\n",
        "src/new/b.txt": "b\n",
        **{path: text for path, text in FILES.items() if path.startswith("資料")},
    }
    assert bench.reader.worktree_is_clean(ITEM) is True


def test_a_worktree_with_work_in_it_does_not_go_forward(bench: Bench) -> None:
    start(bench)
    bench.edit("src/a.txt", "work\n")
    head = bench.world.push_commit(REPO, ITEM.branch, {"h.txt": "h\n"}, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    with pytest.raises(RepositoryError):
        bench.writer.create_worktree(ITEM, at=head)
    assert bench.files() == {**FILES, "src/a.txt": "work\n"}


def test_a_worktree_never_goes_aside(bench: Bench) -> None:
    _, head = deliver(bench)
    other = bench.world.push_commit(REPO, "other", {"o.txt": "o\n"}, by="octo")
    bench.world.set_branch(REPO, ITEM.branch, other, by="octo")
    assert bench.writer.fetch(ITEM, base=BASE) is None
    with pytest.raises(RepositoryError):
        bench.writer.create_worktree(ITEM, at=other)
    assert local(bench).worktree.head == head


def test_work_makes_it_unclean_and_ignored_files_do_not(bench: Bench) -> None:
    start(bench)
    bench.edit("x.log", "noise\n")
    assert bench.reader.worktree_is_clean(ITEM) is True
    bench.edit("x.txt", "work\n")
    assert bench.reader.worktree_is_clean(ITEM) is False


def test_an_absent_worktree_is_neither_clean_nor_unclean(bench: Bench) -> None:
    assert isinstance(bench.reader.worktree_is_clean(ITEM), Unseen)


def test_an_import_is_one_commit_and_moves_nothing(bench: Bench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "1\n2\n3\n4\n")
    bench.edit("資料/新しい　ファイル.txt", "い\n")
    bench.edit("uv.lock", "lock\n")
    bench.edit("README.md", None)
    bench.edit("trace.log", "noise\n")
    change = take(bench, base)
    assert change.parent == base
    assert (change.files, change.added_lines, change.removed_lines) == (4, 3, 1)
    assert change.sensitive == ("uv.lock",)
    assert change.ignored_new == ("trace.log",)
    assert local(bench).worktree.head == base
    assert bench.reader.is_ancestor(ITEM.repository, base, change.sha) is True
    assert bench.world.head(REPO, ITEM.branch) is None


def test_the_same_work_makes_the_same_commit(bench: Bench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    first = take(bench, base)
    bench.edit("src/a.txt", "other\n")
    assert take(bench, base).sha != first.sha
    bench.edit("src/a.txt", "new\n")
    assert take(bench, base) == first


@pytest.mark.parametrize(
    ("files", "kind", "reason"),
    [
        pytest.param({}, "fixable", Reason.EMPTY_CHANGE, id="nothing"),
        pytest.param({"x.log": "1\n"}, "fixable", Reason.EMPTY_CHANGE, id="only ignored files"),
        pytest.param({"a.txt": "bad \n"}, "fixable", Reason.WHITESPACE_ERROR, id="trailing blank"),
        pytest.param({".github/w.yml": "1\n"}, "fixable", Reason.PROTECTED_PATH, id="protected"),
        pytest.param({"agents.MD": "1\n"}, "fixable", Reason.PROTECTED_PATH, id="another case"),
        pytest.param(
            {f"f{n}.txt": "1\n" for n in range(6)}, "fixable", Reason.TOO_MANY_FILES, id="many"
        ),
        pytest.param({"a.txt": "1\n" * 501}, "fixable", Reason.FILE_TOO_LARGE, id="large file"),
        pytest.param(
            {"a.txt": "1\n" * 400, "b.txt": "2\n" * 400},
            "fixable",
            Reason.CHANGE_TOO_LARGE,
            id="large in all",
        ),
        pytest.param(
            {"a.txt": "t = ghp_16C7e42F292c6912E7710c838347Ae178B4a\n"},
            "fixable",
            Reason.SECRET_IN_CHANGE,
            id="a token's shape",
        ),
        pytest.param(
            {"a.txt": f"{HOST_SECRET}\n", "b.txt": "bad \n"},
            "ambiguous",
            Reason.HOST_SECRET_IN_CHANGE,
            id="a secret of this host",
        ),
    ],
)
def test_a_refused_change_moves_nothing(
    bench: Bench, files: dict[str, str], kind: str, reason: Reason
) -> None:
    base = start(bench)
    for path, text in files.items():
        bench.edit(path, text)
    refusal = refused(bench, base)
    assert (refusal.kind, refusal.reason) == (kind, reason)
    assert HOST_SECRET not in refusal.message
    assert local(bench).worktree.head == base
    assert bench.files() == {**FILES, **files}


def test_a_tampered_worktree_is_said_and_left(bench: Bench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "work\n")
    bench.tamper()
    assert local(bench).worktree.state == "tampered"
    assert local(bench).worktree.detail == "detached HEAD"
    refusal = refused(bench, base)
    assert (refusal.kind, refusal.reason) == ("ambiguous", Reason.WORKTREE_TAMPERED)
    assert bench.reader.worktree_is_clean(ITEM) is False
    with pytest.raises(RepositoryError):
        bench.writer.create_worktree(ITEM, at=base)
    with pytest.raises(RepositoryError):
        bench.writer.remove_worktree(ITEM)
    assert bench.files()["src/a.txt"] == "work\n"


def test_an_import_on_another_tip_is_ambiguous(bench: Bench) -> None:
    base, head = deliver(bench)
    bench.edit("src/a.txt", "more\n")
    refusal = refused(bench, base)
    assert (refusal.kind, refusal.reason) == ("ambiguous", Reason.WORKTREE_TAMPERED)
    assert head in refusal.message


def test_advance_moves_the_branch_once(bench: Bench) -> None:
    base = start(bench)
    bench.edit("src/a.txt", "new\n")
    change = take(bench, base)
    bench.writer.advance(ITEM, sha=change.sha, parent=base)
    bench.writer.advance(ITEM, sha=change.sha, parent=base)
    assert local(bench).worktree.head == change.sha
    assert bench.reader.worktree_is_clean(ITEM) is True


def test_a_branch_is_left_only_where_the_forge_has_its_tip(bench: Bench) -> None:
    base, head = deliver(bench)
    bench.writer.remove_worktree(ITEM)
    with pytest.raises(UnpushedError):
        bench.writer.create_worktree(ITEM, at=base)
    assert bench.writer.create_worktree(ITEM, at=base, pushed=(head,)).head == base
    assert bench.files() == FILES
    assert bench.reader.is_ancestor(ITEM.repository, base, head) is True, (
        "the left commit is still there"
    )


def test_advance_only_goes_from_a_parent_to_its_child(bench: Bench) -> None:
    base, head = deliver(bench)
    bench.edit("src/a.txt", "more\n")
    change = take(bench, head)
    with pytest.raises(RepositoryError):
        bench.writer.advance(ITEM, sha=change.sha, parent=base)
    with pytest.raises(RepositoryError):
        bench.writer.advance(ITEM, sha=base, parent=head)
    assert local(bench).worktree.head == head


def test_a_push_arrives_with_the_whole_tree(bench: Bench) -> None:
    _, head = deliver(bench)
    assert bench.world.head(REPO, ITEM.branch) == head
    assert bench.remote_files(head) == {**FILES, "src/a.txt": "1\n2\n3\n4\n"}
    assert local(bench).fetched_head == head


def test_a_second_push_goes_on_top(bench: Bench) -> None:
    _, first = deliver(bench)
    bench.edit("src/a.txt", "more\n")
    change = take(bench, first)
    bench.writer.advance(ITEM, sha=change.sha, parent=first)
    assert bench.writer.push(ITEM, sha=change.sha, expected=first) is None
    assert bench.world.head(REPO, ITEM.branch) == change.sha


def test_a_push_that_already_happened_is_done(bench: Bench) -> None:
    _, head = deliver(bench)
    assert bench.writer.push(ITEM, sha=head, expected=None) is None
    assert bench.writer.push(ITEM, sha=head, expected=head) is None


def test_commits_of_others_are_never_overwritten(bench: Bench) -> None:
    _, first = deliver(bench)
    bench.edit("src/a.txt", "more\n")
    change = take(bench, first)
    theirs = bench.world.push_commit(REPO, ITEM.branch, {"h.txt": "h\n"}, by="octo")
    for expected in (first, theirs, None):
        refusal = bench.writer.push(ITEM, sha=change.sha, expected=expected)
        assert isinstance(refusal, Refusal)
        assert (refusal.kind, refusal.reason) == ("ambiguous", Reason.BRANCH_DIVERGED)
    assert bench.world.head(REPO, ITEM.branch) == theirs


def test_a_branch_that_vanished_is_not_made_again_unasked(bench: Bench) -> None:
    _, head = deliver(bench)
    bench.world.delete_branch(REPO, ITEM.branch, by="octo")
    bench.edit("src/a.txt", "more\n")
    change = take(bench, head)
    refusal = bench.writer.push(ITEM, sha=change.sha, expected=head)
    assert isinstance(refusal, Refusal)
    assert bench.world.head(REPO, ITEM.branch) is None


def test_ancestors_are_known_only_where_both_are(bench: Bench) -> None:
    base, head = deliver(bench)
    ask = bench.reader.is_ancestor
    assert ask(ITEM.repository, base, head) is True
    assert ask(ITEM.repository, head, base) is False
    assert ask(ITEM.repository, head, head) is True
    assert ask(ITEM.repository, base, "1" * 40) is None
    assert ask(IssueId.parse("octo/none#1").repository, base, head) is None


def test_a_clean_worktree_goes_and_can_come_back(bench: Bench) -> None:
    _, head = deliver(bench)
    bench.edit("x.log", "noise\n")
    bench.writer.remove_worktree(ITEM)
    bench.writer.remove_worktree(ITEM)
    assert local(bench).worktree.state == "absent"
    assert bench.reader.items_on_disk() == ()
    assert bench.writer.create_worktree(ITEM, at=head).head == head
    assert "x.log" not in bench.files()


def test_a_worktree_with_work_in_it_stays(bench: Bench) -> None:
    start(bench)
    bench.edit("work.txt", "work\n")
    with pytest.raises(RepositoryError):
        bench.writer.remove_worktree(ITEM)
    assert bench.files() == {**FILES, "work.txt": "work\n"}


def test_a_checkout_is_exactly_the_commit(bench: Bench, tmp_path: Path) -> None:
    _, head = deliver(bench)
    bench.edit("src/a.txt", "later\n")
    into = tmp_path / "ai/checkouts/octo/app/issue-58/review"
    bench.writer.checkout(ITEM.repository, sha=head, into=into)
    assert read_files(into) == {**FILES, "src/a.txt": "1\n2\n3\n4\n"}
    assert (into / ".git").is_file()
    with pytest.raises(RepositoryError):
        bench.writer.checkout(ITEM.repository, sha=head, into=into)
    bench.writer.remove_checkout(ITEM.repository, into)
    bench.writer.remove_checkout(ITEM.repository, into)
    assert not into.exists()


def test_a_file_of_a_commit_can_be_read(bench: Bench) -> None:
    base = start(bench)
    read = bench.writer.read_file
    assert read(ITEM.repository, sha=base, path="資料/議事録　一.md") == "あ\n"
    assert read(ITEM.repository, sha=base, path="資料") is None
    assert read(ITEM.repository, sha=base, path="none.md") is None


def test_a_diff_is_whole_or_says_that_it_is_cut(bench: Bench) -> None:
    base, head = deliver(bench)
    text, cut = bench.writer.diff(ITEM.repository, base=base, head=head, limit=10_000)
    assert not cut
    assert "+4\n" in text
    assert text.startswith("diff --git a/src/a.txt b/src/a.txt\n")
    short, cut = bench.writer.diff(ITEM.repository, base=base, head=head, limit=20)
    assert cut
    assert text.startswith(short)
    assert len(short.encode()) <= 20
