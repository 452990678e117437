"""Where things lie below `root`, and what stands there: bare repositories, refs, worktrees.

Used by reader and writer. Everything here is plain file work without a git process; what git
reads of it (repository layout, worktree registration) is the documented format of
gitrepository-layout(5). Nothing below `worktrees/` is ever reached through a symbolic link.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.repository import Worktree
from controller.errors import RepositoryError

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tsymlinks = true
\tautocrlf = false
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_REF = re.compile(r"[0-9a-f]{40}")
_POINTER_BYTES = 4096


class Layout:
    """Paths below one `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().resolve()

    def bare(self, repository: Repository) -> Path:
        """The trusted bare repository."""
        return self.root / "repos" / repository.owner / f"{repository.name}.git"

    def tree(self, item: IssueId) -> Path:
        """The item's worktree."""
        return self.root / "worktrees" / item.folder

    def registration(self, item: IssueId) -> Path:
        """What git calls the worktree's own gitdir: HEAD, index, the way back."""
        return self.bare(item.repository) / "worktrees" / f"issue-{item.number}"

    @contextmanager
    def open_tree(self, item: IssueId) -> Iterator[int]:
        """A descriptor of the worktree's folder, each step below `root` without links."""
        with open_below(self.root, ("worktrees", *item.folder.split("/"))) as directory:
            yield directory

    def ensure_bare(self, repository: Repository) -> Path:
        """Make the bare repository if it is missing; whole, or not there at all."""
        bare = self.bare(repository)
        if (bare / "HEAD").is_file():
            return bare
        bare.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = bare.with_name(f".{bare.name}.new")
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/toban", "worktrees"):
            (draft / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.chmod(0o700)
        write_whole(draft / "config", CONFIG.encode())
        write_whole(draft / "HEAD", b"ref: refs/heads/toban-has-no-branch-here\n")
        draft.rename(bare)
        return bare

    def worktree(self, item: IssueId) -> Worktree:
        """What stands at the item's worktree path."""
        head = read_ref(self.bare(item.repository), f"refs/heads/{item.branch}")
        try:
            with self.open_tree(item) as directory:
                wrong = self._pointer_problem(item, directory)
        except FileNotFoundError:
            return Worktree(state="absent")
        except OSError as error:
            return Worktree(state="tampered", detail=f"not a folder: {error.strerror}", head=head)
        wrong = wrong or self._head_problem(item)
        if not wrong and head is None:
            wrong = f"the local branch {item.branch} is gone"
        return Worktree(state="tampered" if wrong else "ours", detail=wrong, head=head)

    def _pointer_problem(self, item: IssueId, directory: int) -> str:
        try:
            found = os.lstat(".git", dir_fd=directory)
        except FileNotFoundError:
            return ".git is missing"
        if not stat.S_ISREG(found.st_mode):
            return ".git replaced: it is no file any more"
        if read_below(directory, ".git", _POINTER_BYTES) != pointer(self.registration(item)):
            return ".git replaced: it leads elsewhere"
        return ""

    def _head_problem(self, item: IssueId) -> str:
        registration = self.registration(item)
        try:
            back = (registration / "gitdir").read_bytes()
            head = (registration / "HEAD").read_text("utf-8", errors="replace").strip()
        except OSError:
            return "its registration in the bare repository is gone"
        if back != f"{self.tree(item)}/.git\n".encode():
            return "its registration belongs to another folder"
        if head == f"ref: refs/heads/{item.branch}":
            return ""
        branch = head.removeprefix("ref: refs/heads/")
        return "detached HEAD" if branch == head else f"branch changed to {branch}"


def pointer(registration: Path) -> bytes:
    """The bytes of a worktree's `.git` file."""
    return f"gitdir: {registration}\n".encode()


def read_ref(bare: Path, name: str) -> Sha | None:
    """Value of a ref, None when it does not exist. Raises RepositoryError when it is unreadable."""
    try:
        text = (bare / name).read_text("utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return _packed_ref(bare, name)
    except OSError as error:
        raise RepositoryError(f"{name} of {bare.name} cannot be read: {error.strerror}") from error
    if not _REF.fullmatch(text):
        raise RepositoryError(f"{name} of {bare.name} is broken: expected 40 hexadecimal digits")
    return text


def _packed_ref(bare: Path, name: str) -> Sha | None:
    try:
        lines = (bare / "packed-refs").read_text("utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RepositoryError(f"packed-refs of {bare.name} cannot be read") from error
    for line in lines:
        value, _, ref = line.partition(" ")
        if ref == name and _REF.fullmatch(value):
            return value
    return None


@contextmanager
def open_below(root: Path, names: tuple[str, ...]) -> Iterator[int]:
    """A descriptor of the folder `root/names...`; a link on the way is an OSError."""
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            inner = os.open(name, DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def read_below(directory: int, name: str | bytes, limit: int) -> bytes:
    """At most `limit` bytes of a regular file in an open folder, never through a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    handle = os.open(name, flags, dir_fd=directory)
    with os.fdopen(handle, "rb", buffering=0) as file:
        return file.read(limit) or b"" if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file of ours so that it is there whole or as before; `durable`: after a power cut."""
    draft = path.with_name(f".{path.name}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    draft.rename(path)
