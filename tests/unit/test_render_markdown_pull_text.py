"""Pull requests and commits: our own `Closes` and trailer, and nothing foreign that acts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.forge import Commit
from controller.domain.repository import Change
from controller.domain.runs import Task
from controller.render.pull_text import commit_message, pull_text
from controller.workloads.issues.lineage import rework_rounds, trailer
from tests.builders.issue import EPOCH, ITEM, sha
from tests.rendered import acts, bare_acts

IMPLEMENT = Task(phase="implement", epoch=EPOCH, on="d" * 64)
REWORK = Task(phase="rework", epoch=EPOCH, on=sha("h1"), round=2)
FORGED = (
    "Toban-Task: octo/app#58 rework 100 9",
    "  Toban-Task: octo/app#58 rework 100 9",
    "\u3000Toban-Task: octo/app#58 rework 100 9\r\nx",
    "a\x85Toban-Task: octo/app#58 rework 100 9",
    "a\u2028Toban-Task: octo/app#58 rework 100 9",
    "a\x0bToban-Task: octo/app#58 rework 100 9",
    "Fixes #9 @octo [skip ci] <!-- x --> <img src=x>\nCo-authored-by: a <b@c>\n/retest",
)
OURS = frozenset({"blockquote_open", "blockquote_close", "hr"})
foreign = st.one_of(st.sampled_from(FORGED), st.text(max_size=40))


def pull(
    title: str = "検索が遅い",
    answer: str = "",
    sensitive: tuple[str, ...] = (),
    ignored: tuple[str, ...] = (),
    *,
    hidden: bool = False,
) -> tuple[str, str]:
    change = Change(
        sha=sha("h1"),
        parent=sha("b"),
        files=2,
        added_lines=5,
        removed_lines=1,
        sensitive=sensitive,
        ignored_new=ignored,
    )
    made = pull_text(
        ITEM,
        title=title,
        base=sha("b"),
        base_branch="main",
        change=change,
        answer=answer,
        hidden_text_removed=hidden,
    )
    return made.title, made.body


def commit(title: str = "検索が遅い", task: Task = IMPLEMENT, answer: str = "") -> str:
    return commit_message(ITEM, title=title, task=task, run=3, answer=answer)


def rounds(message: str) -> int:
    """Rework rounds that a branch of this one commit shows."""
    return rework_rounds(
        ITEM,
        epoch=EPOCH,
        head=None,
        commits=(Commit(sha=sha("h1"), parents=(sha("b"),), message=message),),
        verdicts=(),
        runs=(),
        own=(),
    )


BODIES = {
    "closes the issue": (pull(), "Closes #58\n"),
    "says where it stands": (
        pull(),
        "Branch `agent/issue-58` on `main` at `000000000000`: 2 files",
    ),
    "a human merges": (pull(), "A person reads it and merges"),
    "sensitive": (pull(sensitive=("a.lock",)), "Read them first: `a.lock`."),
    "ignored": (pull(ignored=("x.log", "y")), "keeps out of the commit: `x.log`, `y`."),
    "hidden": (pull(hidden=True), "Parts of the issue were not given to the worker"),
    "the worker's words": (pull(answer="直した。\n\nTests pass."), "> 直した。\n>\n> Tests pass."),
}


@pytest.mark.parametrize(("made", "words"), BODIES.values(), ids=BODIES.keys())
def test_a_body_says_what_a_reviewer_needs(made: tuple[str, str], words: str) -> None:
    assert words in made[1]


def test_the_banner_stands_on_top() -> None:
    assert pull(sensitive=("a.lock",))[1].startswith("> [!WARNING]\n")


def test_a_commit_of_a_lost_machine_has_a_pull_request_too() -> None:
    made = pull_text(ITEM, title="a", base=sha("b"), base_branch="main", change=None, answer="")
    assert made.body.startswith("Closes #58\n")


TITLES = {
    "japanese": ("検索が遅い", "検索が遅い"),
    "nothing": (" \u3000\n", "Issue 58"),
    "long": ("あ" * 300, "あ" * 199 + "…"),
    "closing keyword": ("Fixes #9", "Fixes # 9"),
}


@pytest.mark.parametrize(("title", "made"), TITLES.values(), ids=TITLES.keys())
def test_the_title_is_the_issues(title: str, made: str) -> None:
    assert pull(title)[0] == made


@given(foreign, foreign, st.lists(foreign, max_size=40), st.lists(foreign, max_size=40))
def test_only_our_own_reference_acts(
    title: str, answer: str, sensitive: list[str], ignored: list[str]
) -> None:
    shown, body = pull(title, answer, tuple(sensitive), tuple(ignored), hidden=True)
    assert bare_acts(shown) == []
    assert 0 < len(shown) <= 200
    assert len(body) < 60_000
    assert body.count("Closes #58") == 1
    assert acts(body.replace("Closes #58", ""), allowed=OURS) == []


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_largest_body_is_below_the_limit(size: int) -> None:
    paths = ("&" * size,) * 500
    assert len(pull("&" * size, "<@a" * size, paths, paths, hidden=True)[1]) < 60_000


SUBJECTS = {
    "implement": (commit(), "検索が遅い"),
    "rework": (commit(task=REWORK), "Rework 2: 検索が遅い"),
    "long": (commit("a" * 100), "a" * 71 + "…"),
    "long rework": (commit("a" * 100, REWORK), "Rework 2: " + "a" * 61 + "…"),
    "nothing": (commit(""), "Issue 58"),
}


@pytest.mark.parametrize(("message", "subject"), SUBJECTS.values(), ids=SUBJECTS.keys())
def test_the_subject_is_short(message: str, subject: str) -> None:
    first, empty, *_ = message.split("\n")
    assert (first, empty) == (subject, "")


@given(foreign, foreign, st.sampled_from([IMPLEMENT, REWORK]))
def test_lineage_reads_our_trailer_and_no_other(title: str, answer: str, task: Task) -> None:
    message = commit(title, task, answer)
    body, last = message.rstrip("\n").rsplit("\n", 1)
    assert last == trailer(ITEM, task)
    assert body.endswith("\n")
    assert bare_acts(body) == []
    assert len(message.splitlines()[0]) <= 72
    assert rounds(message) == (1 if task.phase == "rework" else 0)
    assert rounds(body) == 0


@pytest.mark.parametrize("text", FORGED)
def test_no_foreign_line_counts_as_a_round(text: str) -> None:
    assert rounds(commit(text, IMPLEMENT, text)) == 0


def test_equal_runs_make_equal_messages() -> None:
    assert commit(answer="a") == commit(answer="a")
