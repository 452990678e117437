"""Reader and writer of git: the two ports of `controller.ports.repository` on one hardened runner.

Made by bootstrap; `plan` is handed the reader alone. Nothing here forces, resets, cleans, stashes,
merges or collects garbage, and no git process ever works inside a worktree.
"""

import re
from collections.abc import Callable
from pathlib import Path

from controller.adapters.git import remote
from controller.adapters.git.difftext import read_diff
from controller.adapters.git.importing import Imported, import_tree, unrefreshed, walk_item
from controller.adapters.git.index import LINK, SUBMODULE, write_index
from controller.adapters.git.layout import Layout, read_ref
from controller.adapters.git.locks import clear_stale_locks
from controller.adapters.git.objects import is_ancestor, parents_of, read_blobs, read_tree
from controller.adapters.git.registration import move_branch
from controller.adapters.git.runner import GitRunner
from controller.adapters.git.worktrees import (
    CLEAN,
    check_out,
    forward,
    lay_out,
    remove_checkout,
    take_away,
    translated,
)
from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.reasons import Reason
from controller.domain.repository import (
    Change,
    CommitText,
    ImportLimits,
    LocalRepository,
    Refusal,
    Worktree,
)
from controller.domain.values import Seen, Unseen
from controller.errors import RepositoryError

TIMEOUT_S = 600.0
FILE_BYTES = 256 * 1024
"""Most that `read_file` returns."""
_FOLDER = re.compile(r"issue-([1-9][0-9]{0,9})")


class GitRepositories:
    """Both ports below one root.

    Args:
        root: `paths.root`; `repos/` and `worktrees/` lie below it.
        git_url: `github.git_url`.
        credential: the token of now, asked before each network command; None = without one.
        timeout_s: longest time of one git process, seconds.
        allow_file: lets `git_url` be `file://...`.
        on_spawn: told each command line of git before it starts.
    """

    def __init__(
        self,
        root: Path,
        git_url: str,
        credential: Callable[[], str | None],
        timeout_s: float = TIMEOUT_S,
        *,
        allow_file: bool = False,
        on_spawn: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        runner = GitRunner(
            git_url=git_url,
            credential=credential,
            timeout_s=timeout_s,
            allow_file=allow_file,
            on_spawn=on_spawn,
        )
        layout = Layout(root)
        self.reader = GitReader(runner, layout)
        self.writer = GitWriter(runner, layout)


class GitReader:
    """`RepositoryReader` on disk."""

    def __init__(self, runner: GitRunner, layout: Layout) -> None:
        self._runner = runner
        self._layout = layout

    def local(self, item: IssueId) -> Seen[LocalRepository]:
        """See RepositoryReader. Reads files only; no process starts."""
        bare = self._layout.bare(item.repository)
        refs = f"refs/toban/issue-{item.number}"
        try:
            return LocalRepository(
                exists=(bare / "HEAD").is_file(),
                base=read_ref(bare, f"{refs}/base"),
                fetched_head=read_ref(bare, f"{refs}/head"),
                worktree=self._layout.worktree(item),
            )
        except (RepositoryError, OSError) as error:
            return _unseen(item, str(error))

    def is_ancestor(self, repository: Repository, old: Sha, new: Sha) -> bool | None:
        """See RepositoryReader."""
        bare = self._layout.bare(repository)
        if not (bare / "HEAD").is_file():
            return None
        return is_ancestor(self._runner, bare, old, new)

    def worktree_is_clean(self, item: IssueId) -> Seen[bool]:
        """See RepositoryReader. A tampered worktree is not clean, an absent one is Unseen."""
        try:
            state = self._layout.worktree(item)
            if state.state != "ours" or state.head is None:
                return _unseen(item, "there is no worktree") if state.state == "absent" else False
            tree = read_tree(self._runner, self._layout.bare(item.repository), state.head)
            walked = walk_item(self._runner, self._layout, item, tree=tree, caps=CLEAN)
        except (RepositoryError, OSError) as error:
            return _unseen(item, str(error))
        for problem in walked.problems:
            if problem.reason is Reason.UNREADABLE_FILE:
                return _unseen(item, problem.text)
        return walked.is_clean

    def items_on_disk(self) -> tuple[IssueId, ...]:
        """See RepositoryReader. Folders that are no item of ours are passed over."""
        found = []
        for folder in sorted(self._layout.root.glob("worktrees/*/*/issue-*")):
            number = _FOLDER.fullmatch(folder.name)
            try:
                repository = Repository(owner=folder.parts[-3], name=folder.parts[-2])
            except ValueError:
                continue
            if number is not None and folder.is_dir() and not folder.is_symlink():
                found.append(IssueId(repository=repository, number=int(number[1])))
        return tuple(found)


class GitWriter:
    """`RepositoryWriter` on disk and over HTTP."""

    def __init__(self, runner: GitRunner, layout: Layout) -> None:
        self._runner = runner
        self._layout = layout
        self._imported: dict[str, Imported] = {}

    def fetch(self, item: IssueId, *, base: str) -> Unseen | None:
        """See RepositoryWriter."""
        try:
            with translated(f"making the bare repository of {item.repository}"):
                bare = self._layout.ensure_bare(item.repository)
            clear_stale_locks(bare)
        except RepositoryError as error:
            return _unseen(item, str(error))
        return remote.fetch(self._runner, bare, item, base)

    def create_worktree(self, item: IssueId, *, at: Sha, pushed: tuple[Sha, ...] = ()) -> Worktree:
        """See RepositoryWriter. A clean worktree behind `at` is brought forward in place."""
        with translated(f"worktree of {item}"):
            state = self._layout.worktree(item)
            if state.state == "tampered":
                raise RepositoryError(f"worktree of {item}: {state.detail}")
            if state.head is None:
                lay_out(self._runner, self._layout, item, at, pushed=pushed)
            elif state.head != at:
                forward(self._runner, self._layout, item, old=state.head, at=at)
            return self._layout.worktree(item)

    def import_change(
        self, item: IssueId, *, parent: Sha, base: Sha, limits: ImportLimits, text: CommitText
    ) -> Change | Refusal:
        """See RepositoryWriter."""
        with translated(f"import of {item}"):
            clear_stale_locks(self._layout.bare(item.repository))
            result = import_tree(
                self._runner,
                self._layout,
                item,
                parent=parent,
                base=base,
                limits=limits,
                text=text,
            )
        if isinstance(result, Refusal):
            return result
        self._imported = {item.key: result}
        return result.change

    def advance(self, item: IssueId, *, sha: Sha, parent: Sha) -> None:
        """See RepositoryWriter."""
        bare = self._layout.bare(item.repository)
        state = self._layout.worktree(item)
        if state.head == sha:
            return
        if state.state != "ours" or state.head != parent:
            what = state.detail or f"the local branch stands at {state.head}, expected {parent}"
            raise RepositoryError(f"worktree of {item}: {what}")
        if parents_of(self._runner, bare, sha) != (parent,):
            raise RepositoryError(f"{sha} is no child of {parent}")
        imported = self._imported.pop(item.key, None)
        with translated(f"index of {item}"):
            if imported is not None and imported.change.sha == sha:
                rows = imported.entries
            else:
                tree = read_tree(self._runner, bare, sha)
                rows = unrefreshed(
                    tree, walk_item(self._runner, self._layout, item, tree=tree, caps=CLEAN)
                )
            # The index first: a tick killed here imports and advances again.
            write_index(self._layout.registration(item) / "index", rows)
        move_branch(self._runner, bare, item, to=sha, old=parent)

    def push(self, item: IssueId, *, sha: Sha, expected: Sha | None) -> Refusal | Unseen | None:
        """See RepositoryWriter."""
        bare = self._layout.bare(item.repository)
        return remote.push(self._runner, bare, item, sha=sha, expected=expected)

    def checkout(self, repository: Repository, *, sha: Sha, into: Path) -> None:
        """See RepositoryWriter.

        The pointer leads to a detached registration that is dropped at a later checkout once
        `into` is gone; until then `git log` and `git diff` work there.
        """
        with translated(f"checkout of {repository} to {into}"):
            check_out(self._runner, self._layout, repository, sha, into)

    def remove_checkout(self, repository: Repository, place: Path) -> None:
        """See RepositoryWriter."""
        with translated(f"removing the checkout {place}"):
            remove_checkout(self._layout, repository, place)

    def diff(self, repository: Repository, *, base: Sha, head: Sha, limit: int) -> tuple[str, bool]:
        """See RepositoryWriter. Foreign text: what prints it makes it safe."""
        bare = self._layout.bare(repository)
        return read_diff(self._runner, bare, base=base, head=head, limit=limit)

    def read_file(self, repository: Repository, *, sha: Sha, path: str) -> str | None:
        """See RepositoryWriter. A link or submodule is no file; a longer file is cut."""
        bare = self._layout.bare(repository)
        if not path or "\0" in path:
            return None
        out = self._runner.run(bare, "ls-tree", "-z", "--full-tree", sha, "--", path).out
        mode, _, rest = out.partition(b" ")
        kind, _, rest = rest.partition(b" ")
        name = rest[:40].decode()
        if kind != b"blob" or int(mode, 8) in {LINK, SUBMODULE}:
            return None
        for blob in read_blobs(self._runner, bare, [name]):
            return next(blob.chunks(), b"")[:FILE_BYTES].decode("utf-8", "replace")
        return None

    def remove_worktree(self, item: IssueId) -> None:
        """See RepositoryWriter."""
        state = self._layout.worktree(item)
        if state.state == "absent":
            return
        clean = GitReader(self._runner, self._layout).worktree_is_clean(item)
        if clean is not True:
            reason = clean.reason if isinstance(clean, Unseen) else state.detail or "not clean"
            raise RepositoryError(f"worktree of {item} stays: {reason}")
        with translated(f"removing the worktree of {item}"):
            take_away(self._layout, item)


def _unseen(item: IssueId, reason: str) -> Unseen:
    return Unseen(source=f"worktree of {item}", reason=reason, code=Reason.GIT_UNSEEN)
