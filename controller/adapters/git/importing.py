"""The import: a worktree's bytes become one checked commit in the bare repository; no branch moves.

Called by the writer once the worker's processes are gone. The walk reads, `fast-import` writes the
changed blobs, and every check looks at the commit that came of it. Deterministic: an equal tree
with an equal text gives an equal sha.
"""

from dataclasses import dataclass
from pathlib import Path

from controller.adapters.git import checks
from controller.adapters.git.found import Caps, Problem, Walked
from controller.adapters.git.index import SUBMODULE, UNKNOWN, Entry
from controller.adapters.git.layout import Layout, read_ref
from controller.adapters.git.names import shown
from controller.adapters.git.objects import Tree, read_sizes, read_tree
from controller.adapters.git.patch import read_difference
from controller.adapters.git.runner import GitRunner
from controller.adapters.git.walk import walk
from controller.domain.ids import IssueId, Sha
from controller.domain.reasons import Reason
from controller.domain.repository import Change, CommitText, ImportLimits, Refusal
from controller.errors import RepositoryError

_ZERO = "0" * 40
_AMBIGUOUS = frozenset({Reason.HOST_SECRET_IN_CHANGE, Reason.WORKTREE_TAMPERED})


@dataclass(frozen=True, slots=True)
class Imported:
    """A change and what the index needs to know of the tree it came from."""

    change: Change
    entries: list[tuple[bytes, Entry, bytes]]


def import_tree(
    runner: GitRunner,
    layout: Layout,
    item: IssueId,
    *,
    parent: Sha,
    base: Sha,
    limits: ImportLimits,
    text: CommitText,
) -> Imported | Refusal:
    """See RepositoryWriter.import_change."""
    state = layout.worktree(item)
    if state.state != "ours":
        what = state.detail or "the worktree is gone"
        return refuse([Problem(Reason.WORKTREE_TAMPERED, what)])
    if state.head != parent:
        what = f"the local branch stands at {state.head}, expected {parent}"
        return refuse([Problem(Reason.WORKTREE_TAMPERED, what)])
    bare = layout.bare(item.repository)
    before = read_tree(runner, bare, parent)
    caps = Caps(limits.max_changed_files, limits.max_file_bytes, limits.max_total_bytes)
    walked = walk_item(runner, layout, item, tree=before, caps=caps)
    if walked.problems:
        return refuse(walked.problems)
    if not walked.changed and not walked.removed:
        hint = f"; left out by .gitignore: {', '.join(walked.ignored)}" if walked.ignored else ""
        return refuse([Problem(Reason.EMPTY_CHANGE, f"nothing was changed{hint}")])
    sha = _write_commit(runner, bare, item, walked, parent=parent, text=text)
    difference = read_difference(runner, bare, parent, sha)
    if difference.paths != walked.changed.keys() | set(walked.removed):
        raise RepositoryError(f"{sha} differs from the tree that was imported; nothing was moved")
    base_tree = before if base == parent else read_tree(runner, bare, base)
    commit = checks.Commit(sha, parent, before, base_tree, walked.changed, difference)
    if problem := checks.host_secret(commit, limits):
        return refuse([problem])
    if found := checks.problems(runner, bare, commit, limits):
        return refuse(found)
    change = Change(
        sha=sha,
        parent=parent,
        files=len(difference.files),
        added_lines=difference.added,
        removed_lines=difference.removed,
        sensitive=tuple(map(shown, checks.matching(limits.sensitive_paths, difference.paths))),
        ignored_new=tuple(walked.ignored),
    )
    return Imported(change, merged(before, walked))


def walk_item(
    runner: GitRunner, layout: Layout, item: IssueId, *, tree: Tree, caps: Caps
) -> Walked:
    """Walk the item's worktree against the files of a commit."""
    bare = layout.bare(item.repository)

    def size_of(sha: str) -> int | None:
        return read_sizes(runner, bare, [sha]).get(sha)

    with layout.open_tree(item) as root:
        return walk(root, tree, caps=caps, size_of=size_of)


def merged(before: Tree, walked: Walked) -> list[tuple[bytes, Entry, bytes]]:
    """The tree as it is now, in git's order: path, entry, stat words."""
    entries = [
        (path, entry, walked.same[path]) for path, entry in before.items() if path in walked.same
    ]
    if walked.changed:
        entries += [
            (path, Entry(content.mode, content.sha), walked.words[path])
            for path, content in walked.changed.items()
        ]
        entries.sort()
    return entries


def unrefreshed(tree: Tree, walked: Walked) -> list[tuple[bytes, Entry, bytes]]:
    """The files of `tree`, with stat data where the walk found the same content."""
    return [(path, entry, walked.same.get(path, UNKNOWN)) for path, entry in tree.items()]


def refuse(found: list[Problem]) -> Refusal:
    """A refusal that names every problem; the most serious kind and the first reason decide."""
    grave = [problem for problem in found if problem.reason in _AMBIGUOUS]
    first = (grave or found)[0]
    return Refusal(
        kind="ambiguous" if grave else "fixable",
        reason=first.reason,
        message="\n".join(problem.text for problem in grave or found),
    )


def _write_commit(
    runner: GitRunner,
    bare: Path,
    item: IssueId,
    walked: Walked,
    *,
    parent: Sha,
    text: CommitText,
) -> Sha:
    ref = f"refs/toban/issue-{item.number}/import"
    # fast-import moves a ref only forwards; an earlier import with another content goes first.
    if read_ref(bare, ref) not in {None, parent}:
        runner.run(bare, "update-ref", "-d", ref)
    who = f"{_person(text.author_name)} <{_person(text.author_email)}> {text.at} +0000"
    parts = [
        f"commit {ref}\nmark :1\nauthor {who}\ncommitter {who}\n".encode(),
        _data(text.message.encode()),
        f"from {parent}\n".encode(),
    ]
    parts += [b"D %s\n" % _quoted(path) for path in walked.removed]
    parts += [
        b"M %o inline %s\n%s" % (content.mode, _quoted(path), _data(content.data))
        for path, content in sorted(walked.changed.items())
        if content.mode != SUBMODULE
    ]
    parts.append(b"\nget-mark :1\ndone\n")
    argv = ("fast-import", "--quiet", "--done", "--date-format=raw")
    sha = runner.run(bare, *argv, stdin=b"".join(parts)).out.decode().strip()
    if read_ref(bare, ref) != sha or sha == _ZERO:
        raise RepositoryError("git did not keep the imported commit")
    return sha


def _person(name: str) -> str:
    if not name.isprintable() or set(name) & set("<>"):
        raise RepositoryError(f"git.author_name or author_email: {name!r} holds < > or a line end")
    return name


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: bytes) -> bytes:
    """A path as fast-import reads it back byte for byte."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"%s"' % escaped
