"""Git plumbing on one bare repository of the stand-in.

Called by `places`, `pulls` and the git routes for everything that GitHub too derives from git:
heads, merge bases, files, commits, mergeability. Never keeps a working tree and never reads
configuration of the user who runs it. Answers about fixed commits are remembered, since they cannot
change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controller.demo.standin.gitcall import GitError, git
from controller.demo.standin.gitdiff import FileChange, changes

_CONFIG = """
[http]
\treceivepack = true
[gc]
\tauto = 0
[receive]
\tautogc = false
\thideRefs = refs/pull
[uploadpack]
\tallowFilter = true
\tallowReachableSHA1InWant = true
"""
_FIELDS = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"


@dataclass(frozen=True, kw_only=True)
class Person:
    """Author or committer."""

    name: str
    email: str
    date: str


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit as the API shows it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


class BareRepo:
    """One bare repository."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, ...], tuple[int, bytes]] = {}

    @classmethod
    def create(cls, path: Path, default_branch: str) -> "BareRepo":
        """A new empty repository whose HEAD names `default_branch`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        first = f"--initial-branch={default_branch}"
        git("init", "-q", "--bare", "--template=", first, "--", str(path))
        with (path / "config").open("a", encoding="utf-8") as config:
            config.write(_CONFIG)
        return cls(path)

    def moved(self, path: Path) -> None:
        """Move the repository on disk."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = self.path.rename(path)

    def run(self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> tuple[int, bytes]:
        """Run git here."""
        return git(f"--git-dir={self.path}", *args, stdin=stdin, ok=ok)

    def text(self, *args: str) -> str:
        """Output of a git command, stripped."""
        return self.run(*args)[1].decode(errors="replace").strip()

    def _fixed(self, *args: str, ok: tuple[int, ...] = (0,)) -> tuple[int, bytes]:
        """Like `run`, for answers that depend on commit ids alone."""
        if args not in self._known:
            self._known[args] = self.run(*args, ok=ok)
        return self._known[args]

    # References

    def refs(self, prefix: str = "refs/heads/") -> dict[str, str]:
        """Full name to object id, for every reference below `prefix`."""
        listed = self.text("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.split(" ", 1) for line in listed.splitlines())
        return {name: sha for sha, name in pairs}

    def head(self, branch: str) -> str | None:
        """The commit at the tip of `branch`, or None."""
        return self.resolve(f"refs/heads/{branch}")

    def resolve(self, name: str) -> str | None:
        """The commit that a reference, branch, tag or id names, or None."""
        if not name or name.startswith("-"):
            return None
        code, out = self.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}",
            ok=(0, 1, 128),
        )  # fmt: skip
        return out.decode().strip() if code == 0 else None

    def revision(self, name: str) -> str | None:
        """Like `resolve`, a branch first, as the API's `ref` parameters do."""
        return self.head(name) or self.resolve(name)

    def valid_ref(self, ref: str) -> bool:
        """Whether git accepts the full reference name."""
        return ref.startswith("refs/") and git("check-ref-format", ref, ok=(0, 1))[0] == 0

    def update_ref(self, ref: str, new: str | None, old: str | None = None) -> None:
        """Create, move or (new None) delete a reference; `old` must match where given."""
        if new is None:
            self.run("update-ref", "-d", ref, *([old] if old else []))
        else:
            self.run("update-ref", ref, new, *([old] if old else []))

    # Commits

    def commit_files(
        self,
        ref: str,
        files: Mapping[str, str | bytes | None],
        *,
        parent: str | None,
        name: str,
        email: str,
        when: int,
        message: str,
    ) -> str:
        """Write one commit on top of `parent` to `ref` (moved by force); None deletes a file."""
        who = f"{name} <{email}> {when} +0000"
        stream = [f"commit {ref}\nauthor {who}\ncommitter {who}\n".encode(), _data(message)]
        if parent is not None:
            stream.append(f"from {parent}\n".encode())
        for path, content in files.items():
            if content is None:
                stream.append(f"D {_quoted(path)}\n".encode())
            else:
                stream += [f"M 100644 inline {_quoted(path)}\n".encode(), _data(content)]
        if parent is None:
            stream.insert(0, f"reset {ref}\n".encode())
        self.run("fast-import", "--quiet", "--force", "--date-format=raw", stdin=b"".join(stream))
        return self.text("rev-parse", "--verify", ref)

    def merge_commit(self, *, base: str, head: str, who: Person, message: str, squash: bool) -> str:
        """A merge (or squash) commit object of head into base; GitError when they conflict."""
        tree = self.merged_tree(base, head)
        if tree is None:
            text = f"{base} and {head} conflict"
            raise GitError(text)
        parents = [base] if squash else [base, head]
        chain = [part for parent in parents for part in ("-p", parent)]
        _, out = git(
            f"--git-dir={self.path}", "commit-tree", tree, *chain,
            stdin=message.encode(), env=_identity(who),
        )  # fmt: skip
        return out.decode().strip()

    def merged_tree(self, base: str, head: str) -> str | None:
        """The tree that merging would give, or None for a conflict."""
        code, out = self._fixed("merge-tree", "--write-tree", base, head, ok=(0, 1))
        return out.split(b"\n", 1)[0].decode() if code == 0 else None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `old` is reachable from `new`."""
        return self._fixed("merge-base", "--is-ancestor", old, new, ok=(0, 1))[0] == 0

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, or None."""
        code, out = self._fixed("merge-base", one, other, ok=(0, 1))
        return out.decode().strip() if code == 0 else None

    def ahead_behind(self, base: str, head: str) -> tuple[int, int]:
        """How many commits `head` is ahead of and behind `base`."""
        _, out = self._fixed("rev-list", "--left-right", "--count", f"{base}...{head}")
        behind, ahead = out.split()
        return int(ahead), int(behind)

    def commits(self, *what: str) -> list[Commit]:
        """The commits that ``git log`` lists for ids and options; newest first."""
        _, out = self._fixed("log", "-z", f"--format={_FIELDS}", *what, "--")
        return _parsed(out.decode(errors="replace"))

    def history(self, sha: str, path: str | None) -> list[Commit]:
        """The commits that lead to `sha`, newest first, or those of them that touch `path`."""
        _, out = self._fixed(
            "log", "-z", f"--format={_FIELDS}", sha, "--", *([path] if path else [])
        )
        return _parsed(out.decode(errors="replace"))

    def commit(self, sha: str) -> Commit:
        """One commit."""
        return self.commits("--no-walk", sha)[0]

    # Differences

    def diff_text(self, base: str, head: str) -> str:
        """The unified diff between two commits."""
        return self._fixed("diff", "-M", "--no-color", base, head)[1].decode(errors="replace")

    def patch_text(self, base: str, head: str) -> str:
        """The commits between as a mail box of patches."""
        _, out = self._fixed("format-patch", "--stdout", f"{base}..{head}")
        return out.decode(errors="replace")

    def changes(self, base: str, head: str) -> list[FileChange]:
        """Every changed file between two commits, with its patch."""
        _, raw = self._fixed("diff", "-M", "--raw", "--no-abbrev", "--numstat", "-z", base, head)
        return changes(raw.decode(errors="surrogateescape"), self.diff_text(base, head))

    def empty_tree(self) -> str:
        """The id of the empty tree, to compare a root commit with."""
        return self.run("hash-object", "-t", "tree", "-w", "--stdin")[1].decode().strip()

    # Content

    def entry(self, sha: str, path: str) -> tuple[str, str, str] | None:
        """(mode, type, object id) of `path` in a commit, or None."""
        _, out = self._fixed("ls-tree", "-z", sha, "--", path.rstrip("/"))
        lines = [line for line in out.decode(errors="replace").split("\0") if line]
        if not lines:
            return None
        mode, kind, blob = lines[0].split("\t", 1)[0].split(" ")
        return mode, kind, blob

    def listing(self, tree: str) -> list[tuple[str, str, str, int, str]]:
        """(mode, type, object id, size, name) of every entry of a tree object."""
        _, out = self._fixed("ls-tree", "-z", "-l", tree)
        entries = []
        for line in out.decode(errors="replace").split("\0"):
            if line:
                facts, name = line.split("\t", 1)
                mode, kind, blob, size = facts.split()
                entries.append((mode, kind, blob, 0 if size == "-" else int(size), name))
        return entries

    def files(self, sha: str) -> dict[str, str]:
        """Path and text of every file of a commit."""
        _, out = self._fixed("ls-tree", "-r", "-z", sha)
        found = {}
        for line in out.decode(errors="replace").split("\0"):
            if line:
                facts, path = line.split("\t", 1)
                found[path] = self.blob(facts.split(" ")[2]).decode(errors="replace")
        return found

    def blob(self, blob: str) -> bytes:
        """The content of a blob."""
        return self._fixed("cat-file", "blob", blob)[1]


def _identity(who: Person) -> dict[str, str]:
    return {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", who.name), ("EMAIL", who.email), ("DATE", who.date))
    }


def _data(content: str | bytes) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return b"data %d\n%s\n" % (len(raw), raw)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _parsed(log: str) -> list[Commit]:
    fields = log.split("\0")
    width = _FIELDS.count("%x00") + 1
    rows = (fields[at : at + width] for at in range(0, len(fields) - width + 1, width))
    return [
        Commit(
            sha=row[0],
            tree=row[1],
            parents=tuple(row[2].split()),
            author=Person(name=row[3], email=row[4], date=row[5]),
            committer=Person(name=row[6], email=row[7], date=row[8]),
            message=row[9].rstrip("\n"),
        )
        for row in rows
    ]
