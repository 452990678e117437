"""Worktrees as a hostile hand leaves them: what the import delivers, what it refuses, what runs.

Real git and real files; the remote is a bare repository on this disk, so that each row is quick. A
program that the tree plants leaves the file RAN beside it when anybody starts it.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from controller.adapters.git import GitRepositories
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.repository import Change, CommitText, ImportLimits, Refusal
from controller.domain.text import HOSTILE
from controller.domain.values import Unseen
from controller.errors import RepositoryError

pytestmark = pytest.mark.needs("git>=2.39")

ITEM = IssueId.parse("octo/app#7")
TEXT = CommitText(author_name="toban", author_email="t@localhost", message="m\n", at=1_790_000_000)
LIMITS = ImportLimits(
    protected_paths=(".github/**", "CODEOWNERS", ".gitattributes", ".gitmodules"),
    sensitive_paths=("Makefile",),
    max_changed_files=50,
    max_file_bytes=100_000,
    max_total_bytes=150_000,
    secrets=("host-secret-0123456789",),
)
FILES = {
    "README.md": b"hello\n",
    ".gitignore": b"*.log\nbuild/\n/venv\n",
    "src/a.txt": b"1\n2\n3\n",
    "src/crlf.txt": b"1\r\n2\r\n3\r\n",
    "src/run.sh": b"#!/bin/sh\n",
    "build/kept.txt": b"tracked below an ignored folder\n",
    "資料/か\u3099.txt": b"NFD\n",
    "sjis.txt": "日本\n".encode("cp932"),
}


class Place:
    """A machine with one worktree of octo/app."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remote = folder / "hub/octo/app.git"
        self.root = folder / "ai"
        self.tree = self.root / "worktrees/octo/app/issue-7"
        self.bare = self.root / "repos/octo/app.git"
        self.spawned: list[tuple[str, ...]] = []
        repositories = GitRepositories(
            self.root,
            f"file://{folder}/hub",
            lambda: None,
            60,
            allow_file=True,
            on_spawn=self.spawned.append,
        )
        self.reader, self.writer = repositories.reader, repositories.writer
        self.base = ""

    def git(self, *argv: str, cwd: Path | None = None, stdin: bytes = b"") -> str:
        """Plain git, as a person would run it, away from the product's settings."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_AUTHOR_NAME": "p",
            "GIT_AUTHOR_EMAIL": "p@x",
            "GIT_COMMITTER_NAME": "p",
            "GIT_COMMITTER_EMAIL": "p@x",
        }
        done = subprocess.run(
            ["git", *argv], cwd=cwd or self.remote, env=env, input=stdin, check=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        return done.stdout.decode(errors="surrogateescape")

    def seed(self, files: dict[str, bytes], *, lines: str = "") -> str:
        """A commit on main of the remote: `files`, and `lines` for `update-index --index-info`."""
        self.remote.mkdir(parents=True, exist_ok=True)
        if not (self.remote / "HEAD").exists():
            self.git("init", "-q", "--bare", "-b", "main", ".")
        index = [lines] if lines else []
        for path, data in files.items():
            sha = self.git("hash-object", "-w", "--stdin", stdin=data).strip()
            mode = "100755" if path.endswith(".sh") else "100644"
            index.append(f"{mode} {sha}\t{path}\n")
        self.git("update-index", "--index-info", stdin="".join(index).encode())
        tree = self.git("write-tree").strip()
        parent = [] if not self.base else ["-p", self.base]
        self.base = self.git("commit-tree", "-m", "seed", *parent, tree).strip()
        self.git("update-ref", "refs/heads/main", self.base)
        return self.base

    def start(self) -> None:
        assert self.writer.fetch(ITEM, base="main") is None
        assert self.writer.create_worktree(ITEM, at=self.base).state == "ours"

    def take(self, limits: ImportLimits = LIMITS) -> Change | Refusal:
        return self.writer.import_change(
            ITEM, parent=self.base, base=self.base, limits=limits, text=TEXT
        )

    def names(self, sha: str) -> dict[str, str]:
        """Mode of each path of a commit in the bare repository."""
        out = self.git("ls-tree", "-r", "-z", sha, cwd=self.bare)
        rows = (row.split("\t", 1) for row in out.split("\0") if row)
        return {path: head.split(" ")[0] for head, path in rows}

    def content(self, sha: str, path: str) -> bytes:
        return self.git("cat-file", "blob", f"{sha}:{path}", cwd=self.bare).encode(
            errors="surrogateescape"
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.seed(FILES)
    made.start()
    return made


def write(path: Path, data: bytes = b"x\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def fifo_for(name: str) -> Callable[[Path], None]:
    def plant(tree: Path) -> None:
        (tree / name).unlink(missing_ok=True)
        os.mkfifo(tree / name)

    return plant


def bind_socket(tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(tree)  # a socket's path has 107 bytes at most
        try:
            made.bind("s.sock")
        finally:
            os.chdir(here)


def gitdir_in(folder: str) -> Callable[[Path], None]:
    def plant(tree: Path) -> None:
        write(tree / folder / "HEAD", b"ref: refs/heads/main\n")
        (tree / folder / "objects").mkdir()
        (tree / folder / "refs").mkdir()
        write(tree / folder / "config", f"[core]\nfsmonitor={tree}/evil.sh\n".encode())

    return plant


def link(name: str, target: str) -> Callable[[Path], None]:
    def plant(tree: Path) -> None:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to(target)

    return plant


def chain(tree: Path) -> None:
    (tree / "up").mkdir()
    (tree / "up/one").symlink_to("..")
    (tree / "up/two").symlink_to("one/../../secret")


def named(*parts: bytes) -> Callable[[Path], None]:
    def plant(tree: Path) -> None:
        path = os.path.join(os.fsencode(tree), *parts)  # noqa: PTH118 - names that are no text
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - the same
        with open(path, "wb") as file:  # noqa: PTH123 - the same
            file.write(b"x\n")

    return plant


def data(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda tree: write(tree / name, content)


def hard_link(tree: Path) -> None:
    outside = tree.parent / "outside.txt"
    outside.write_text("not of this tree\n")
    os.link(outside, tree / "linked.txt")


def deep(tree: Path) -> None:
    inner = tree
    for _ in range(110):
        inner = inner / "d"
    inner.mkdir(parents=True)
    write(inner / "f.txt")


def sparse(tree: Path) -> None:
    write(tree / "big.bin")
    os.truncate(tree / "big.bin", 1 << 40)


def swap_folder(tree: Path) -> None:
    for path in sorted((tree / "src").iterdir()):
        path.unlink()
    (tree / "src").rmdir()
    (tree / "src").symlink_to("/etc")


def many(tree: Path) -> None:
    for number in range(60):
        write(tree / f"f{number}.txt")


REFUSED = [
    pytest.param(fifo_for("pipe"), Reason.SPECIAL_FILE, "pipe", id="untracked fifo"),
    pytest.param(fifo_for("src/a.txt"), Reason.SPECIAL_FILE, "src/a.txt", id="tracked -> fifo"),
    pytest.param(fifo_for(".gitignore"), Reason.SPECIAL_FILE, ".gitignore", id="gitignore fifo"),
    pytest.param(fifo_for(".gitattributes"), Reason.SPECIAL_FILE, "", id="attributes fifo"),
    pytest.param(bind_socket, Reason.SPECIAL_FILE, "s.sock", id="socket"),
    pytest.param(hard_link, Reason.SPECIAL_FILE, "linked.txt", id="hard link"),
    pytest.param(data("sub/.git/config", b"x\n"), Reason.NESTED_REPOSITORY, "sub/.git", id="repo"),
    pytest.param(data("sub/.git", b"gitdir: /\n"), Reason.NESTED_REPOSITORY, "", id="pointer"),
    pytest.param(data(".GIT/config", b"x\n"), Reason.NESTED_REPOSITORY, ".GIT", id=".GIT at top"),
    pytest.param(data("a/git~1/x", b"x\n"), Reason.NESTED_REPOSITORY, "git~1", id="git~1"),
    pytest.param(data("a/.git /x", b"x\n"), Reason.NESTED_REPOSITORY, "", id=".git blank"),
    pytest.param(data("a/.git./x", b"x\n"), Reason.NESTED_REPOSITORY, "", id=".git dot"),
    pytest.param(data("a/.git::$INDEX/x", b"x\n"), Reason.NESTED_REPOSITORY, "", id=".git stream"),
    pytest.param(data("a/.g\u200cit/x", b"x\n"), Reason.NESTED_REPOSITORY, "", id="HFS .git"),
    pytest.param(data("a/.Gi\ufefft", b"x\n"), Reason.NESTED_REPOSITORY, "", id="HFS .git file"),
    pytest.param(gitdir_in("evil"), Reason.NESTED_REPOSITORY, "evil", id="looks like a gitdir"),
    pytest.param(link("l", "/etc/passwd"), Reason.LINK_OUTSIDE, "l", id="link to /etc/passwd"),
    pytest.param(link("src/l", "../../x"), Reason.LINK_OUTSIDE, "src/l", id="link up and out"),
    pytest.param(link("l", "src/../../x"), Reason.LINK_OUTSIDE, "l", id="link down, up, out"),
    pytest.param(link("l", ".git"), Reason.LINK_OUTSIDE, "l", id="link to .git"),
    pytest.param(link("l", "src/../.GIT/x"), Reason.LINK_OUTSIDE, "l", id="link into .GIT"),
    pytest.param(link("l", "l"), Reason.LINK_OUTSIDE, "l", id="link to itself"),
    pytest.param(chain, Reason.LINK_OUTSIDE, "up/two", id="link through a link"),
    pytest.param(swap_folder, Reason.LINK_OUTSIDE, "src", id="folder -> link"),
    pytest.param(link(".gitignore", "/etc/passwd"), Reason.LINK_OUTSIDE, "", id="gitignore link"),
    pytest.param(named(b"\x1b]0;x\x07"), Reason.ODD_NAME, "\\u001B]0;x", id="escape sequence"),
    pytest.param(named(b"new\nline"), Reason.ODD_NAME, "", id="line feed"),
    pytest.param(named(b"a\\b"), Reason.ODD_NAME, "", id="backslash"),
    pytest.param(named("a\u202etxt.exe".encode()), Reason.ODD_NAME, "\\u202E", id="bidi"),
    pytest.param(named("a\u200bb".encode()), Reason.ODD_NAME, "\\u200B", id="zero width"),
    pytest.param(named("日本".encode("cp932")), Reason.ODD_NAME, "", id="Shift_JIS name"),
    pytest.param(named(b"-rf"), Reason.ODD_NAME, "-rf", id="leading dash"),
    pytest.param(named(b"d", b"--upload-pack=x"), Reason.ODD_NAME, "", id="an option"),
    pytest.param(named(b"a "), Reason.ODD_NAME, "", id="trailing blank"),
    pytest.param(named("a\u3000".encode()), Reason.ODD_NAME, "", id="trailing wide blank"),
    pytest.param(named(b"trail."), Reason.ODD_NAME, "", id="trailing dot"),
    pytest.param(named(b"con"), Reason.ODD_NAME, "con", id="reserved"),
    pytest.param(named(b"Aux.txt"), Reason.ODD_NAME, "", id="reserved with ending"),
    pytest.param(named(b"nul", b"x"), Reason.ODD_NAME, "nul", id="reserved folder"),
    pytest.param(named(b"a:$DATA"), Reason.ODD_NAME, "", id="stream"),
    pytest.param(named(b"GITMOD~1"), Reason.ODD_NAME, "", id="short name of .gitmodules"),
    pytest.param(named(b"Readme.md"), Reason.ODD_NAME, "README.md", id="another case"),
    pytest.param(named(b"SRC", b"b.txt"), Reason.ODD_NAME, "src", id="folder in another case"),
    pytest.param(named("資料/が.txt".encode()), Reason.ODD_NAME, "NFC", id="NFC beside NFD"),
    pytest.param(deep, Reason.ODD_NAME, "deeper", id="very deep"),
    pytest.param(sparse, Reason.FILE_TOO_LARGE, "big.bin", id="sparse terabyte"),
    pytest.param(many, Reason.TOO_MANY_FILES, "50", id="many files"),
    pytest.param(data(".github/workflows/x.yml", b"x\n"), Reason.PROTECTED_PATH, "", id="workflow"),
    pytest.param(data("docs/codeowners", b"x\n"), Reason.PROTECTED_PATH, "", id="codeowners"),
    pytest.param(data(".gitattributes", b"* -diff\n"), Reason.PROTECTED_PATH, "", id="attributes"),
    pytest.param(data("src/a.txt", b"1\n2 \n3\n"), Reason.WHITESPACE_ERROR, "a.txt:2", id="blank"),
    pytest.param(data("src/a.txt", b"1\n2\n3\n\n"), Reason.WHITESPACE_ERROR, "a.txt:4", id="eof"),
    pytest.param(data("n.txt", b"a\r\n"), Reason.WHITESPACE_ERROR, "CRLF", id="new CRLF file"),
    pytest.param(data("n.txt", b"<<<<<<< a\n"), Reason.WHITESPACE_ERROR, "conflict", id="conflict"),
    pytest.param(data("n.py", b"  \tx\n"), Reason.WHITESPACE_ERROR, "before tab", id="blank, tab"),
    pytest.param(
        data("k.pem", b"-----BEGIN RSA PRIVATE KEY-----\n"),
        Reason.SECRET_IN_CHANGE,
        "k.pem:1",
        id="private key",
    ),
    pytest.param(
        data("bin.dat", b"\0\n" + b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n"),
        Reason.SECRET_IN_CHANGE,
        "bin.dat",
        id="token in a binary",
    ),
    pytest.param(
        data("n.txt", b"host-secret-0123456789"), Reason.HOST_SECRET_IN_CHANGE, "", id="host secret"
    ),
    pytest.param(
        data("n.txt", b"aG9zdC1zZWNyZXQtMDEyMzQ1Njc4OQ=="),
        Reason.HOST_SECRET_IN_CHANGE,
        "",
        id="host secret in base64",
    ),
    pytest.param(
        named(b"host-secret-0123456789"), Reason.HOST_SECRET_IN_CHANGE, "", id="secret as a name"
    ),
]


@pytest.mark.parametrize(("plant", "reason", "said"), REFUSED)
def test_hostile_content_is_refused(
    place: Place, plant: Callable[[Path], None], reason: Reason, said: str
) -> None:
    plant(place.tree)
    refusal = place.take()
    assert isinstance(refusal, Refusal), refusal
    assert refusal.reason == reason
    assert said in refusal.message
    assert refusal.kind == ("ambiguous" if "HostSecret" in reason else "fixable")
    assert not HOSTILE.search(refusal.message.replace("\n", ""))
    assert "host-secret" not in refusal.message
    local = place.reader.local(ITEM)
    assert not isinstance(local, Unseen)
    assert (local.worktree.state, local.worktree.head) == ("ours", place.base)
    assert place.reader.worktree_is_clean(ITEM) is not True


def test_every_problem_is_named_at_once(place: Place) -> None:
    write(place.tree / "a.txt", b"bad \n")
    write(place.tree / "b.txt", b"bad\t\n")
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert refusal.message.splitlines() == [
        "a.txt:1: trailing whitespace",
        "b.txt:1: trailing whitespace",
    ]


DELIVERED = [
    pytest.param(
        data("議事録　一.md", b"x\n"), {"議事録　一.md": "100644"}, id="wide blank inside"
    ),
    pytest.param(data("か\u3099.txt", b"x\n"), {"か\u3099.txt": "100644"}, id="NFD"),
    pytest.param(data("が.txt", b"x\n"), {"が.txt": "100644"}, id="NFC"),
    pytest.param(data("（株）😀️.txt", b"x\n"), {"（株）😀️.txt": "100644"}, id="wide and emoji"),
    pytest.param(data("a b 'c'.txt", b"x\n"), {"a b 'c'.txt": "100644"}, id="blanks and quotes"),
    pytest.param(link("l", "src/a.txt"), {"l": "120000"}, id="link inside"),
    pytest.param(link("src/l", "../README.md"), {"src/l": "120000"}, id="link up, inside"),
    pytest.param(link("l", "nowhere"), {"l": "120000"}, id="dangling link inside"),
    pytest.param(data("n.md", b"line  \nnext\n"), {"n.md": "100644"}, id="line break"),
    pytest.param(data("n.md", b"Title\n=======\n"), {"n.md": "100644"}, id="heading of seven"),
    pytest.param(data("src/crlf.txt", b"1\r\n2\r\n9\r\n"), {"src/crlf.txt": "100644"}, id="CRLF"),
    pytest.param(data("build/kept.txt", b"new\n"), {"build/kept.txt": "100644"}, id="tracked"),
    pytest.param(data("x.bin", b"\0 \n"), {"x.bin": "100644"}, id="binary with blanks"),
    pytest.param(data("a.txt", b"no line end"), {"a.txt": "100644"}, id="no line end"),
    pytest.param(data("empty.txt", b""), {"empty.txt": "100644"}, id="empty file"),
    pytest.param(
        data("sjis.txt", "日本語\n".encode("cp932")), {"sjis.txt": "100644"}, id="Shift_JIS text"
    ),
    pytest.param(
        lambda tree: (tree / "src/a.txt").chmod(0o755), {"src/a.txt": "100755"}, id="mode alone"
    ),
]


@pytest.mark.parametrize(("plant", "expected"), DELIVERED)
def test_usual_content_is_delivered(
    place: Place, plant: Callable[[Path], None], expected: dict[str, str]
) -> None:
    plant(place.tree)
    change = place.take()
    assert isinstance(change, Change), change
    before = place.names(place.base)
    after = place.names(change.sha)
    assert after == before | expected
    for path in expected:
        if not (place.tree / path).is_symlink():
            assert place.content(change.sha, path) == (place.tree / path).read_bytes()
    assert place.git("fsck", "--strict", cwd=place.bare) == ""


def test_an_unchanged_large_file_of_the_base_is_fine(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.seed({"big.bin": b"\1" * 200_000, "a.txt": b"1\n"})
    place.start()
    write(place.tree / "a.txt", b"2\n")
    assert isinstance(place.take(), Change)
    write(place.tree / "big.bin", b"\2" * 200_000)
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert refusal.reason == Reason.FILE_TOO_LARGE


def test_names_and_links_of_the_base_are_tolerated(tmp_path: Path) -> None:
    place = Place(tmp_path)
    sha = "7" * 40
    odd = {"con": b"1\n", "-x": b"1\n", "tail ": b"1\n", "fixture.git/HEAD": b"ref: x\n"}
    place.seed({**odd, "fixture.git/objects/o": b"o\n", "fixture.git/refs/r": b"r\n"})
    link_sha = place.git("hash-object", "-w", "--stdin", stdin=b"/etc/hostname").strip()
    place.seed({}, lines=f"120000 {link_sha}\tout\n160000 {sha}\tmodule\n")
    place.start()
    assert place.reader.worktree_is_clean(ITEM) is True
    assert (place.tree / "out").readlink() == Path("/etc/hostname")
    assert list((place.tree / "module").iterdir()) == []
    (place.tree / "module").rmdir()
    write(place.tree / "con", b"2\n")
    change = place.take()
    assert isinstance(change, Change), change
    assert place.names(change.sha) == place.names(place.base)
    write(place.tree / "module/lost.txt")
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert refusal.reason == Reason.NESTED_REPOSITORY


def test_a_secret_that_stood_there_before_is_not_the_workers(tmp_path: Path) -> None:
    place = Place(tmp_path)
    token = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n"
    place.seed({"old.txt": token + b"1 \n", "move.txt": token * 3})
    place.start()
    write(place.tree / "old.txt", token + b"1 \nadded\n")
    (place.tree / "move.txt").rename(place.tree / "moved.txt")
    change = place.take()
    assert isinstance(change, Change), change
    assert change.files == 2


def test_attributes_of_the_base_decide_and_of_the_tree_do_not(tmp_path: Path) -> None:
    place = Place(tmp_path)
    rules = b"*.raw -whitespace\n*.gen -diff\n*.psd filter=lfs diff=lfs merge=lfs -text\n"
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    place.seed({".gitattributes": rules, "a.psd": pointer, "sub/.gitattributes": b"x.c -diff\n"})
    place.start()
    for name in ("a.raw", "b.gen", "sub/x.c"):
        write(place.tree / name, b"blank \n")
    assert isinstance(place.take(), Change)
    write(place.tree / "a.psd", pointer + b"x\n")
    assert isinstance(place.take(), Change)
    write(place.tree / "a.psd", b"\0content")
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert "Git LFS" in refusal.message
    write(place.tree / "a.psd", pointer)
    write(place.tree / "deep/.gitattributes", b"* -whitespace\n")
    write(place.tree / "deep/n.txt", b"blank \n")
    limits = LIMITS.model_copy(update={"protected_paths": ()})
    refusal = place.take(limits)
    assert isinstance(refusal, Refusal)
    assert refusal.message == "deep/n.txt:1: trailing whitespace"


def test_no_filter_or_line_end_of_the_base_changes_a_byte(tmp_path: Path) -> None:
    place = Place(tmp_path)
    rules = b"* text eol=crlf ident\n*.u working-tree-encoding=UTF-16\n*.f filter=evil\n"
    files = {"a.txt": b"$Id$\n1\n", "b.u": b"text\n", "c.f": b"clean\n"}
    place.seed({".gitattributes": rules, **files})
    place.start()
    assert {name: (place.tree / name).read_bytes() for name in files} == files
    write(place.tree / "b.u", b"TEXT\n")
    change = place.take()
    assert isinstance(change, Change)
    assert place.content(change.sha, "b.u") == b"TEXT\n"


def unreadable_file(tree: Path) -> None:
    write(tree / "locked.txt")
    (tree / "locked.txt").chmod(0)


def unreadable_folder(tree: Path) -> None:
    write(tree / "locked/x.txt")
    (tree / "locked").chmod(0)


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """As an account without root's rights, to which `folder` belongs."""
    if os.geteuid() != 0:
        yield
        return
    for above in (folder, *folder.parents):
        if above.stat().st_uid == 0 and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o711)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("plant", [unreadable_file, unreadable_folder])
def test_what_cannot_be_read_is_no_absence(place: Place, plant: Callable[[Path], None]) -> None:
    plant(place.tree)
    with as_nobody(place.root):
        refusal = place.take()
        assert isinstance(refusal, Refusal)
        assert (refusal.kind, refusal.reason) == ("fixable", Reason.UNREADABLE_FILE)
        assert "locked" in refusal.message
        assert isinstance(place.reader.worktree_is_clean(ITEM), Unseen | bool)
        assert place.reader.worktree_is_clean(ITEM) is not True


def test_an_ignored_unreadable_folder_does_not_matter_and_goes(place: Place) -> None:
    write(place.tree / "venv/x.txt")
    (place.tree / "venv").chmod(0)
    with as_nobody(place.root):
        assert place.reader.worktree_is_clean(ITEM) is True
        place.writer.remove_worktree(ITEM)
    assert not place.tree.exists()


def test_ignored_folders_may_hold_anything(place: Place) -> None:
    write(place.tree / "venv/sub/.git/config", b"x\n")
    os.mkfifo(place.tree / "venv/pipe")
    (place.tree / "venv/python").symlink_to("/usr/bin/python3")
    write(place.tree / "build/con")
    write(place.tree / "n.txt")
    change = place.take()
    assert isinstance(change, Change), change
    assert change.ignored_new == ("build/con", "venv/")
    assert place.names(change.sha).keys() - place.names(place.base).keys() == {"n.txt"}


def test_a_gitignore_of_the_worker_hides_nothing_in_silence(place: Place) -> None:
    write(place.tree / "sub/.gitignore", b"*\n!.gitignore\n")
    write(place.tree / "sub/helper.py")
    change = place.take()
    assert isinstance(change, Change)
    assert change.ignored_new == ("sub/helper.py",)
    assert "sub/.gitignore" in place.names(change.sha)


def test_removed_folders_and_types_that_change(place: Place) -> None:
    (place.tree / "src/a.txt").unlink()
    write(place.tree / "src/a.txt/inner.txt")
    (place.tree / "src/run.sh").unlink()
    (place.tree / "src/run.sh").symlink_to("a.txt")
    (place.tree / "build/kept.txt").unlink()
    (place.tree / "build").rmdir()
    (place.tree / "build").write_text("now a file\n")
    change = place.take()
    assert isinstance(change, Change), change
    after = place.names(change.sha)
    assert after["src/a.txt/inner.txt"] == "100644"
    assert after["src/run.sh"] == "120000"
    assert after["build"] == "100644"
    assert "src/a.txt" not in after


def evil(tree: Path) -> str:
    """A program that tells when it runs."""
    program = tree / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {tree.parent}/RAN\ncat\n")
    program.chmod(0o755)
    return str(program)


CONFIGS = [
    "[core]\nfsmonitor={e}\nhooksPath={h}\nsshCommand={e}\nattributesFile={a}\ngitProxy={e}\n",
    '[filter "x"]\nclean={e}\nsmudge={e}\nprocess={e}\nrequired=true\n[diff]\nexternal={e}\n',
    '[diff "x"]\ncommand={e}\ntextconv={e}\n[gpg]\nprogram={e}\n[commit]\ngpgSign=true\n',
    '[url "ext::{e}"]\ninsteadOf=file:\n[protocol "ext"]\nallow=always\n',
    "[credential]\nhelper=!{e}\n[core]\naskPass={e}\nworktree=/etc\n",
]


@pytest.mark.parametrize("config", CONFIGS, ids=["core", "filter", "diff", "url", "credential"])
def test_no_configuration_that_the_tree_can_reach_is_obeyed(place: Place, config: str) -> None:
    """A gitdir of its own behind the pointer: nothing runs, and the tampering is said."""
    program = evil(place.tree)
    hooks = place.tree / "hooks"
    for hook in ("pre-commit", "pre-push", "post-index-change", "reference-transaction"):
        write(hooks / hook, f"#!/bin/sh\n{program}\n".encode())
        (hooks / hook).chmod(0o755)
    write(place.tree / "attributes", b"* filter=x diff=x\n")
    planted = place.tree / "gitdir"
    place.git("init", "-q", "--bare", str(planted), cwd=place.tree)
    text = config.format(e=program, h=hooks, a=place.tree / "attributes")
    write(planted / "config", (planted / "config").read_bytes() + text.encode())
    (place.tree / ".git").unlink()
    (place.tree / ".git").write_text(f"gitdir: {planted}\n")
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.reason) == ("ambiguous", Reason.WORKTREE_TAMPERED)
    assert place.reader.worktree_is_clean(ITEM) is False
    assert place.writer.fetch(ITEM, base="main") is None
    (place.tree / ".git").write_text(f"gitdir: {place.bare}/worktrees/issue-7\n")
    refusal = place.take()  # the gitdir itself is content now
    assert isinstance(refusal, Refusal)
    assert refusal.reason == Reason.NESTED_REPOSITORY
    assert not (place.tree.parent / "RAN").exists()


def pointer_folder(place: Place) -> None:
    (place.tree / ".git").unlink()
    (place.tree / ".git").mkdir()


def pointer_link(place: Place) -> None:
    (place.tree / ".git").unlink()
    (place.tree / ".git").symlink_to(place.bare / "worktrees/issue-7")


def pointer_fifo(place: Place) -> None:
    (place.tree / ".git").unlink()
    os.mkfifo(place.tree / ".git")


def pointer_longer(place: Place) -> None:
    (place.tree / ".git").chmod(0o644)
    with (place.tree / ".git").open("a") as file:
        file.write("more\n")


def tree_moved(place: Place) -> None:
    place.tree.rename(place.tree.with_name("away"))
    place.tree.symlink_to("away")


def tree_file(place: Place) -> None:
    place.tree.rename(place.tree.with_name("away"))
    place.tree.write_text("not a folder\n")


def head_elsewhere(place: Place) -> None:
    (place.bare / "worktrees/issue-7/HEAD").write_text("ref: refs/heads/main\n")


TAMPERED = [
    pytest.param(pointer_folder, ".git replaced", id=".git is a folder"),
    pytest.param(pointer_link, ".git replaced", id=".git is a link"),
    pytest.param(pointer_fifo, ".git replaced", id=".git is a fifo"),
    pytest.param(pointer_longer, ".git replaced", id=".git is longer"),
    pytest.param(lambda place: (place.tree / ".git").unlink(), ".git is missing", id="no .git"),
    pytest.param(tree_moved, "not a folder", id="tree is a link"),
    pytest.param(tree_file, "not a folder", id="tree is a file"),
    pytest.param(head_elsewhere, "branch changed to main", id="another branch"),
]


@pytest.mark.parametrize(("tamper", "detail"), TAMPERED)
def test_a_tampered_worktree_is_recognised(
    place: Place, tamper: Callable[[Place], None], detail: str
) -> None:
    tamper(place)
    local = place.reader.local(ITEM)
    assert not isinstance(local, Unseen)
    assert local.worktree.state == "tampered"
    assert detail in local.worktree.detail
    refusal = place.take()
    assert isinstance(refusal, Refusal)
    assert refusal.reason == Reason.WORKTREE_TAMPERED
    with pytest.raises(RepositoryError):
        place.writer.remove_worktree(ITEM)
    with pytest.raises(RepositoryError):
        place.writer.create_worktree(ITEM, at=place.base)


def test_removal_follows_no_link(place: Place) -> None:
    outside = place.folder / "outside"
    write(outside / "precious.txt")
    write(place.tree / "build/x.txt")
    (place.tree / "venv").symlink_to(outside)
    (place.tree / "build/out").symlink_to(outside)
    os.link(outside / "precious.txt", place.tree / "build/hard.txt")
    place.writer.remove_worktree(ITEM)
    assert not place.tree.exists()
    assert (outside / "precious.txt").read_bytes() == b"x\n"
    assert list((place.bare / "worktrees").iterdir()) == []


def test_removal_ends_a_very_deep_folder(place: Place) -> None:
    here = os.open(place.tree, os.O_RDONLY)
    for _ in range(1500):
        with suppress(FileExistsError):
            os.mkdir("build", dir_fd=here)
        inner = os.open("build", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert place.reader.worktree_is_clean(ITEM) is True
    place.writer.remove_worktree(ITEM)
    assert not place.tree.exists()


def test_a_link_planted_for_our_own_folders_is_not_followed(place: Place) -> None:
    outside = place.folder / "outside"
    outside.mkdir()
    other = IssueId.parse("octo/app#8")
    (place.tree.parent / ".issue-8.new").symlink_to(outside)
    (place.tree.parent / "issue-8").symlink_to(outside)
    with pytest.raises(RepositoryError):
        place.writer.create_worktree(other, at=place.base)
    (place.tree.parent / "issue-8").unlink()
    with pytest.raises(RepositoryError):
        place.writer.create_worktree(other, at=place.base)
    assert list(outside.iterdir()) == []


def test_a_diff_hides_nothing_and_shows_no_garbage(place: Place) -> None:
    write(place.tree / ".gitattributes", b"* -diff\n")
    write(place.tree / "code.py", b"import os\n")
    write(place.tree / "image.png", b"\x89PNG\0\1\2\3")
    write(place.tree / "euc.txt", "漢字かな\n".encode("euc_jp"))
    write(place.tree / "tricky.txt", b"Binary files a/x and b/y differ\n@@ -1 +1 @@\ndiff --git\n")
    change = place.take(LIMITS.model_copy(update={"protected_paths": ()}))
    assert isinstance(change, Change), change
    text, cut = place.writer.diff(
        ITEM.repository, base=place.base, head=change.sha, limit=1_000_000
    )
    assert not cut
    assert "+import os\n" in text
    assert "Binary file changed: no file before, 8 bytes after\n" in text
    assert "+漢字かな\n" in text
    assert "+Binary files a/x and b/y differ\n+@@ -1 +1 @@\n" in text
    assert "\0" not in text


NAMES = st.sampled_from(
    ["a", "b", "日本", "か\u3099", "x y", "n.log", "build", "src", "a.txt", "run.sh"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
EDITS = st.lists(
    st.tuples(
        PATHS,
        st.sampled_from(["write", "remove", "execute", "link", "ignore"]),
        st.binary(max_size=12).map(lambda data: data.replace(b"\r", b"").replace(b"\0", b"")),
    ),
    min_size=1,
    max_size=12,
)
FREE = LIMITS.model_copy(update={"protected_paths": (), "secrets": ()})


def edit(target: Path, what: str, content: bytes) -> None:
    """One thing a worker may do; what cannot be done there is left undone."""
    with suppress(OSError):
        if what == "remove":
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        elif what == "execute":
            target.chmod(0o755)
        elif what == "link":
            target.symlink_to("README.md")
        elif what == "ignore":
            write(target.parent / ".gitignore", b"*.log\n/b\nsrc/\n!a\n")
        else:
            write(target, content)


@settings(max_examples=25)
@given(edits=EDITS)
def test_an_import_is_what_git_add_would_have_made(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str, bytes]]
) -> None:
    """Any usual edits: the commit's tree is the one that plain `git add -A` makes of the folder."""
    place = Place(tmp_path_factory.mktemp("p"))
    place.seed(FILES)
    place.start()
    for path, what, content in edits:
        # Lines that the whitespace check lets through: this is about trees.
        edit(place.tree / path, what, b"x" + content.hex().encode() + b"\n")
    made = place.take(FREE)
    plain = place.folder / "plain.git"
    place.git("clone", "-q", "--bare", str(place.remote), str(plain))
    argv = [f"--git-dir={plain}", f"--work-tree={place.tree}"]
    place.git(*argv, "read-tree", place.base)
    place.git(*argv, "add", "-A", ".")
    theirs = place.git(*argv, "ls-files", "-s", "-z").replace(" 0\t", "\t")
    sha = place.base
    if isinstance(made, Change):
        sha = made.sha
    elif made.reason == Reason.LINK_OUTSIDE:
        reject()  # a link that leads nowhere in the tree: not for this comparison
    else:
        assert made.reason == Reason.EMPTY_CHANGE, made
    ours = place.git("ls-tree", "-r", "-z", sha, cwd=place.bare).replace(" blob ", " ")
    assert ours == theirs
