"""Reading git's own patch and writing git's own index: real git on the other side."""

import subprocess
from pathlib import Path

import pytest

from controller.adapters.git.index import LINK, PLAIN, SUBMODULE, UNKNOWN, Entry, write_index
from controller.adapters.git.patch import Line, added_lines, read_difference
from controller.adapters.git.runner import GitRunner

pytestmark = pytest.mark.needs("git>=2.39")

RUNNER = GitRunner(git_url="https://github.com", credential=lambda: None, timeout_s=60)


class Bare:
    """A bare repository whose commits are written from plain values."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "b.git"
        self.git("init", "-q", "--bare", str(self.path), cwd=folder)

    def git(self, *argv: str, stdin: bytes = b"", cwd: Path | None = None) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *who, *argv], cwd=cwd or self.path, input=stdin, check=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        return done.stdout.decode()

    def commit(self, files: dict[str, bytes]) -> str:
        self.git("read-tree", "--empty")
        rows = b""
        for path, data in files.items():
            sha = self.git("hash-object", "-w", "--stdin", stdin=data).strip()
            rows += f"100644 {sha}\t{path}\0".encode()
        self.git("update-index", "-z", "--index-info", stdin=rows)
        return self.git("commit-tree", "-m", "c", self.git("write-tree").strip()).strip()


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path)


ODD = ["a b", "tab\there", 'quo"te', "back\\slash", "new\nline", "日本　語.md", "b/b/c", "é"]


def test_every_name_comes_back_as_it_is(bare: Bare) -> None:
    old = bare.commit(dict.fromkeys(ODD, b"1\n"))
    new = bare.commit(dict.fromkeys(ODD, b"1\n2\n"))
    found = {path.decode(): lines for path, lines in added_lines(RUNNER, bare.path, old, new)}
    assert found == {name: [Line(2, b"2")] for name in ODD}
    difference = read_difference(RUNNER, bare.path, old, new)
    assert difference.paths == {name.encode() for name in ODD}
    assert (difference.added, difference.removed) == (len(ODD), 0)


def test_content_that_looks_like_a_patch_is_content(bare: Bare) -> None:
    text = (
        b"+++ b/x\n--- a/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n\\ No newline at end of file\n-x\n+x"
    )
    old = bare.commit({"n": b"-\n"})
    new = bare.commit({"n": b"-\n" + text})
    [(path, lines)] = added_lines(RUNNER, bare.path, old, new)
    assert path == b"n"
    assert [line.text for line in lines] == text.split(b"\n")


def test_renames_binaries_and_removals(bare: Bare) -> None:
    body = b"".join(b"line %d\n" % number for number in range(40))
    old = bare.commit({"from": body, "gone": b"1\n2\n", "bin": b"\0"})
    new = bare.commit({"to": body + b"more\n", "bin": b"\0\n1", "empty": b""})
    difference = read_difference(RUNNER, bare.path, old, new)
    assert difference.paths == {b"from", b"to", b"gone", b"bin", b"empty"}
    assert {touched.path: touched.source for touched in difference.files}[b"to"] == b"from"
    assert (difference.added, difference.removed) == (1, 2)
    found = dict(added_lines(RUNNER, bare.path, old, new))
    assert [line.text for line in found[b"to"]] == [b"more"]
    assert b"gone" not in found


def test_git_reads_the_index_back(bare: Bare, tmp_path: Path) -> None:
    names = sorted(name.encode() for name in [*ODD, "x" * 5000, *("n" * n for n in range(1, 20))])
    sha = bare.git("hash-object", "-w", "--stdin", stdin=b"1\n").strip()
    modes = [PLAIN, LINK, SUBMODULE]
    rows = [(name, Entry(modes[number % 3], sha), UNKNOWN) for number, name in enumerate(names)]
    index = tmp_path / "index"
    write_index(index, rows)
    done = subprocess.run(
        ["git", "ls-files", "-s", "-z"], cwd=bare.path, check=True, stdout=subprocess.PIPE,
        env={"GIT_INDEX_FILE": str(index), "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip
    theirs = done.stdout.split(b"\0")[:-1]
    assert theirs == [b"%o %s 0\t%s" % (e.mode, e.sha.encode(), name) for name, e, _ in rows]
