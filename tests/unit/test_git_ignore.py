"""Patterns of gitignore: the same verdicts as git's own, for any pattern and name."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.adapters.git.ignore import Patterns

ROWS = [
    ("*.log", "a.log", True),
    ("*.log", "d/a.log", True),
    ("/a", "d/a", False),
    ("d/a", "d/a", True),
    ("d/a", "x/d/a", False),
    ("**/a", "x/y/a", True),
    ("a/**", "a/x/y", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("build/", "build", False),
    ("build/", "build/x", True),
    ("a?c", "a/c", False),
    ("[a-c].txt", "b.txt", True),
    ("[!a-c].txt", "b.txt", False),
    ("[[:digit:]]*", "1x", True),
    ("\\#x", "#x", True),
    ("\\!x", "!x", True),
    ("#x", "#x", False),
    ("a\\ ", "a ", True),
    ("a ", "a", True),
    ("[", "[", False),
    ("a[]]b", "a]b", True),
    ("資料/*.md", "資料/議事録.md", True),
    ("foo**bar", "fooxbar", True),
    ("", "", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), ROWS)
def test_one_pattern(pattern: str, path: str, expected: bool) -> None:  # noqa: FBT001 - a row
    assert Patterns([pattern]).covers(path) is expected


def test_the_last_line_wins_and_case_counts_only_where_wanted() -> None:
    rules = Patterns(["*.txt", "!keep.txt"])
    assert rules.verdict("a.txt", is_directory=False) is True
    assert rules.verdict("keep.txt", is_directory=False) is False
    assert rules.verdict("a.md", is_directory=False) is None
    assert not Patterns(["codeowners"]).covers("CODEOWNERS")
    assert Patterns([".GITHUB/**"], ignore_case=True).covers(".github/Workflows/x.yml")


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf*.log\n", b"*.log\r\nx\r\n", b"*.log"])
def test_a_file_of_patterns_is_read_as_git_reads_it(data: bytes) -> None:
    assert Patterns.of_file(data).covers("a.log")


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 120 + "b",
        "**/a/" * 100 + "b",
        "[a]*" * 120 + "b",
        "*?" * 120 + "b",
        "a*" * 499 + "/b",
    ],
)
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    """With a plain regular expression each of these would outlast the test run."""
    assert not Patterns([pattern]).covers("a" * 255)
    assert not Patterns([pattern]).covers("/".join(["a"] * 120))


NAMES = st.text("abA.-[]!* é", min_size=1, max_size=5).filter(
    lambda n: n.strip(". ") == n and n != ".git"
)
PIECES = st.sampled_from([*"abA*?/.[]!- é\\", "**", "[ab]", "[!a]", "[a-b]"])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ignore")
    subprocess.run(["git", "init", "-q", made], check=True)
    return made


@pytest.mark.needs("git>=2.39")
@settings(max_examples=200)
@given(
    lines=st.lists(st.lists(PIECES, min_size=1, max_size=6).map("".join), max_size=4),
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_the_verdicts_are_gits(tree: Path, lines: list[str], paths: list[list[str]]) -> None:
    data = "\n".join(lines).encode()
    (tree / ".gitignore").write_bytes(data)
    wanted = sorted({"/".join(path) for path in paths})
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"],
        cwd=tree, input="".join(path + "\0" for path in wanted).encode(),
        stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    fields = done.stdout.decode().split("\0")[:-1]
    theirs = {
        path: bool(pattern) and not pattern.startswith("!")
        for pattern, path in zip(fields[2::4], fields[3::4], strict=True)
    }
    rules = Patterns.of_file(data)
    assert {path: ours(rules, path) for path in wanted} == theirs


def ours(rules: Patterns, path: str) -> bool:
    """As the walk decides: an ignored folder hides all below it, else the path's own verdict."""
    letters = path.encode().decode("latin-1")
    names = letters.split("/")
    for depth in range(1, len(names)):
        if rules.verdict("/".join(names[:depth]), is_directory=True):
            return True
    return rules.verdict(letters, is_directory=False) is True
