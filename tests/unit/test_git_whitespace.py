"""The whitespace check: git's own verdict on added lines, and where it differs on purpose."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from controller.adapters.git.patch import Line
from controller.adapters.git.whitespace import (
    NO_RULES,
    OldFile,
    Rules,
    check_lines,
    is_binary,
    needs_old,
    old_file,
    rules_of,
)


def check(
    text: bytes, *, old: bytes | None = None, path: bytes = b"n.txt", attribute: str = "unspecified"
) -> list[tuple[int, str]]:
    """Errors of a file all of whose lines are new."""
    before = OldFile() if old is None else old_file(old)
    return check_lines(path, all_lines(text), text, rules=rules_of(attribute), old=before)


def all_lines(text: bytes) -> list[Line]:
    rows = text.removesuffix(b"\n").split(b"\n") if text else []
    return [Line(number, row) for number, row in enumerate(rows, 1)]


TRAILING = "trailing whitespace"
CRLF = "CR before the line end (CRLF)"

ROWS = [
    pytest.param(b"a\n", b"x.txt", None, [], id="clean"),
    pytest.param(b"a \n", b"x.txt", None, [(1, TRAILING)], id="blank"),
    pytest.param(b"a\t\n", b"x.txt", None, [(1, TRAILING)], id="tab"),
    pytest.param("あ　\n".encode(), b"x.txt", None, [], id="wide blank is text, as for git"),
    pytest.param(b"a  \nb\n", b"x.md", None, [], id="Markdown break"),
    pytest.param(b"a   \nb\n", b"x.md", None, [(1, TRAILING)], id="Markdown, three"),
    pytest.param(b"a \nb\n", b"x.md", None, [(1, TRAILING)], id="Markdown, one"),
    pytest.param(b"  \nb\n", b"x.md", None, [(1, TRAILING)], id="Markdown, blank line"),
    pytest.param(b"a  \r\n", b"x.MD", b"b\r\n", [], id="Markdown break in CRLF"),
    pytest.param(b"a\r\n", b"x.txt", b"b\r\n", [], id="CRLF before"),
    pytest.param(b"a \r\n", b"x.txt", b"b\r\n", [(1, TRAILING)], id="blank before CRLF"),
    pytest.param(b"a\r\n", b"x.txt", b"b\n", [(1, CRLF)], id="LF before"),
    pytest.param(b"a\r\n", b"x.txt", None, [(1, CRLF)], id="new with CRLF"),
    pytest.param(b" \ta\n", b"x.py", None, [(1, "space before tab in indent")], id="blank, tab"),
    pytest.param(b"a\n\n", b"x.txt", None, [(2, "new blank line at end of file")], id="blank end"),
    pytest.param(b"a\n\n", b"x.txt", b"b\n\n", [], id="blank end before"),
    pytest.param(b"\n", b"x.txt", None, [], id="one line end alone"),
    pytest.param(b"<<<<<<< ours\n", b"x", None, [(1, "leftover conflict marker")], id="ours"),
    pytest.param(b"Title\n=======\n", b"x.rst", None, [], id="a heading"),
    pytest.param(
        b"<<<<<<< a\n=======\n>>>>>>> b\n",
        b"x",
        None,
        [(n, "leftover conflict marker") for n in (1, 2, 3)],
        id="conflict",
    ),
]


@pytest.mark.parametrize(("text", "path", "old", "expected"), ROWS)
def test_added_lines(
    text: bytes, path: bytes, old: bytes | None, expected: list[tuple[int, str]]
) -> None:
    assert check(text, old=old, path=path) == expected


def test_only_added_lines_count() -> None:
    text = b"old \nnew\nold \n\n"
    added = [Line(2, b"new")]
    assert check_lines(b"x", added, text, rules=Rules(), old=OldFile()) == []


@pytest.mark.parametrize(
    ("attribute", "rules"),
    [
        ("unspecified", Rules()),
        ("unset", NO_RULES),
        ("set", Rules(indent_with_non_tab=True)),
        ("-blank-at-eol", Rules(blank_at_eol=False)),
        ("-trailing-space", Rules(blank_at_eol=False, blank_at_eof=False)),
        ("tab-in-indent,tabwidth=4", Rules(tab_in_indent=True, tab_width=4)),
        ("cr-at-eol tabwidth=0", Rules(cr_at_eol=True)),
        ("nonsense", Rules()),
    ],
)
def test_attributes(attribute: str, rules: Rules) -> None:
    assert rules_of(attribute) == rules


def test_the_file_before_is_asked_for_only_where_it_matters() -> None:
    assert not needs_old([Line(1, b"a")], b"a\n")
    assert needs_old([Line(1, b"a\r")], b"a\r\n")
    assert needs_old([Line(1, b"a")], b"a\n\n")
    assert is_binary(b"a\0")
    assert not is_binary(b"a" * 8000 + b"\0")


TEXTS = st.lists(
    st.text("ab \t\r<=>|", max_size=9).map(str.encode) | st.sampled_from([b"", b"a", b"<<<<<<< a"]),
    max_size=6,
).map(b"\n".join)
SOME = ("-blank-at-eol", "tab-in-indent", "indent-with-non-tab,tabwidth=3", "cr-at-eol")
ATTRIBUTES = st.sampled_from(["", "-whitespace", "whitespace", *(f"whitespace={s}" for s in SOME)])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("whitespace")
    subprocess.run(["git", "init", "-q", made], check=True)
    return made


@pytest.mark.needs("git>=2.39")
@settings(max_examples=150)
@given(text=TEXTS, attribute=ATTRIBUTES, ends=st.booleans())
def test_a_new_file_is_judged_as_git_judges_it(
    repository: Path, text: bytes, attribute: str, *, ends: bool
) -> None:
    assume(text.strip())  # how git counts a file of nothing but blanks depends on their bytes
    text += b"\n" if ends else b""
    (repository / "old").write_bytes(b"")
    (repository / "new").write_bytes(text)
    (repository / ".gitattributes").write_text(f"new {attribute}\n")
    done = subprocess.run(
        ["git", "diff", "--no-index", "--check", "--", "old", "new"],
        cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    theirs = {
        int(row.split(b":")[1])
        for row in done.stdout.split(b"\n")
        if row.startswith(b"new:") and b"conflict marker" not in row
    }
    name, _, value = attribute.partition("=")
    known = {"": "unspecified", "-whitespace": "unset", "whitespace": value or "set"}[name]
    mine = {line for line, error in check(text, attribute=known) if "conflict" not in error}
    assert mine == theirs
