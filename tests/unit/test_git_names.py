"""Names: branches and files, links, and paths that one file system takes for another."""

import subprocess

import pytest

from controller.adapters.git.collisions import collisions
from controller.adapters.git.links import leaves_tree
from controller.adapters.git.names import branch_problem, is_dotgit, name_problem, shown

BRANCHES = [
    *("main", "開発", "feature/日本", "a.b", "a-b", "release/1.0", "＠", "v@1"),
    *("", "@", ".a", "a/.b", "a..b", "a//b", "/a", "a/", "a.", "a.lock", "a.lock/b", "a b", "a~b"),
    *("a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a@{b", "a\x7fb", "a\tb", "a\nb"),
]


@pytest.mark.needs("git>=2.39")
@pytest.mark.parametrize("name", BRANCHES)
def test_branches_are_judged_as_git_judges_them(name: str) -> None:
    done = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False)
    assert (branch_problem(name) == "") is (done.returncode == 0 and name != "@")


@pytest.mark.parametrize("name", ["-x", "+x", "a\u200bb", "a\u202eb", "a\u3000\u200b"])
def test_branches_that_git_takes_and_we_do_not(name: str) -> None:
    assert branch_problem(name)


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".GIT",
        ".Git",
        "git~1",
        "GIT~1",
        ".git ",
        ".git.",
        ".git. .",
        ".git::$INDEX_ALLOCATION",
        ".git\\x",
        ".g\u200cit",
        "\u200e.git",
        ".gi\ufefft",
        ".git:x",
        "．git",
    ],
)
def test_names_that_open_the_gitdir_somewhere(name: str) -> None:
    assert is_dotgit(name.encode())


@pytest.mark.parametrize(
    "name", [".github", ".gitignore", "git", ".gitx", "git~2", "digit", "x.git"]
)
def test_names_that_only_look_like_it(name: str) -> None:
    assert not is_dotgit(name.encode())


@pytest.mark.parametrize(
    "name",
    [
        "議事録　一.md",
        "か\u3099.txt",
        "（株）.txt",
        "😀️.txt",
        "葛\U000e0100.txt",
        "a b.txt",
        "ﾊﾝｶｸ.txt",
        "console.py",
        "auxiliary.c",
        "a..b",
        ".env",
        "~x",
        "#x",
        "a+b=c",
        "100%",
        "com",
        "lpt",
        "com10",
    ],
)
def test_usual_names(name: str) -> None:
    assert name_problem(name.encode()) == ""


@pytest.mark.parametrize(
    "name",
    ["CON", "nul.txt", "com1", "LPT9.log", "COM¹", "a\u3164", "a\u00ad", "a|b", 'a"b', "a\xa0"],
)
def test_odd_names(name: str) -> None:
    assert name_problem(name.encode())


def test_a_path_is_shown_without_acting() -> None:
    assert shown(b"a\x1b[2J\xff\n") == "a\\u001B[2J\\xff "
    assert shown("か\u3099".encode()) == "か\u3099"


LINKS = [
    ({"l": "a"}, "l", True),
    ({"d/l": "../a"}, "d/l", True),
    ({"l": "./a/./b"}, "l", True),
    ({"l": "d/../a"}, "l", True),
    ({"l": ".."}, "l", False),
    ({"l": "a/../.."}, "l", False),
    ({"l": "/a"}, "l", False),
    ({"l": ".git"}, "l", False),
    ({"l": "m", "m": "n"}, "l", True),
    ({"l": "m", "m": "/etc"}, "l", False),
    ({"l": "m/x", "m": "d/.."}, "l", True),
    ({"l": "m/..", "m": ".."}, "l", False),
    ({"l": "m", "m": "l"}, "l", False),
    ({"l": ""}, "l", True),
]


@pytest.mark.parametrize(("links", "path", "stays"), LINKS)
def test_where_a_link_leads(links: dict[str, str], path: str, *, stays: bool) -> None:
    table = {name.encode(): target.encode() for name, target in links.items()}
    assert (leaves_tree(path.encode(), table) == "") is stays


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("a", "b", []),
        ("A", "a", [("A", "a")]),
        ("が", "か\u3099", [("が", "か\u3099")]),
        ("D/x", "d/y", [("D/x", "d")]),
        ("d/x", "d/y", []),
        ("ａ", "a", []),
        ("straße", "STRASSE", [("straße", "STRASSE")]),
    ],
)
def test_paths_that_are_one_elsewhere(new: str, old: str, expected: list[tuple[str, str]]) -> None:
    found = collisions([new.encode()], [old.encode(), new.encode()])
    assert [(one.decode(), other.decode()) for one, other in found] == expected


def test_two_new_paths_can_collide_with_each_other() -> None:
    assert len(list(collisions([b"a", b"A"], [b"a", b"A"]))) == 1
