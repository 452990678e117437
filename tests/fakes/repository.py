"""Bare repositories and worktrees in memory, beside the forge in memory (`forge_world`).

Passes the contract suite of `controller.ports.repository` like the real adapter. Files are text by
path; a checkout is really written, as callers look at it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from controller.adapters.git.ignore import Patterns
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
from controller.errors import RepositoryError, UnpushedError
from tests.fakes.forge_world import Tree, World

TOKEN_SHAPE = "ghp_"


@dataclass
class _Disk:
    """What this machine has of one repository."""

    commits: set[str] = field(default_factory=set)
    refs: dict[str, str] = field(default_factory=dict)
    worktrees: dict[int, dict[str, str]] = field(default_factory=dict)
    tampered: dict[int, str] = field(default_factory=dict)


class RepositoryFake:
    """Reader and writer of one machine, acting on the forge as `login`."""

    def __init__(self, world: World, *, login: str = "toban-host") -> None:
        self._world = world
        self._login = login
        self._disks: dict[str, _Disk] = {}
        self._items: dict[str, IssueId] = {}

    # What the AI, or anybody else on this machine, does in a worktree

    def edit(self, item: IssueId, path: str, text: str | None) -> None:
        """Write a file of the worktree; None removes it."""
        files = self._disk(item.repository).worktrees[item.number]
        if text is None:
            del files[path]
        else:
            files[path] = text

    def files(self, item: IssueId) -> Mapping[str, str]:
        """Every file of the worktree."""
        return self._disk(item.repository).worktrees[item.number]

    def tamper(self, item: IssueId, detail: str) -> None:
        """Make the worktree something else than ours."""
        self._disk(item.repository).tampered[item.number] = detail

    # Reader

    def local(self, item: IssueId) -> Seen[LocalRepository]:
        disk = self._disks.get(item.repository.key)
        refs = disk.refs if disk else {}
        return LocalRepository(
            exists=disk is not None,
            base=refs.get(_note(item, "base")),
            fetched_head=refs.get(_note(item, "head")),
            worktree=self._worktree(item),
        )

    def is_ancestor(self, repository: Repository, old: Sha, new: Sha) -> bool | None:
        disk = self._disks.get(repository.key)
        if disk is None or not {old, new} <= disk.commits:
            return None
        return old in self._world.ancestors(new)

    def worktree_is_clean(self, item: IssueId) -> Seen[bool]:
        tree = self._worktree(item)
        if tree.state == "absent":
            return Unseen(source=str(item), reason="no worktree", code=Reason.GIT_UNSEEN)
        return tree.state == "ours" and not self._difference(item, self._commit(tree.head))

    def items_on_disk(self) -> tuple[IssueId, ...]:
        return tuple(
            item
            for _, item in sorted(self._items.items())
            if item.number in self._disk(item.repository).worktrees
        )

    # Writer

    def fetch(self, item: IssueId, *, base: str) -> Unseen | None:
        disk = self._disk(item.repository)
        source = f"git fetch {item.repository}"
        if str(item.repository).lower() in self._world.old_names:
            return Unseen(source=source, reason="moved", code=Reason.REPOSITORY_MOVED)
        try:
            repo = self._world.repo(str(item.repository))
        except KeyError:
            return Unseen(source=source, reason="not there", code=Reason.REPOSITORY_NOT_FOUND)
        if repo.role(self._login) == "none":
            return Unseen(source=source, reason="not there", code=Reason.REPOSITORY_NOT_FOUND)
        if base not in repo.branches:
            return Unseen(source=source, reason="no branch", code=Reason.BASE_BRANCH_MISSING)
        disk.refs[_note(item, "base")] = repo.branches[base]
        disk.commits |= self._world.ancestors(repo.branches[base]).keys()
        if item.branch in repo.branches:
            disk.refs[_note(item, "head")] = repo.branches[item.branch]
            disk.commits |= self._world.ancestors(repo.branches[item.branch]).keys()
        else:
            disk.refs.pop(_note(item, "head"), None)
        return None

    def create_worktree(self, item: IssueId, *, at: Sha, pushed: tuple[Sha, ...] = ()) -> Worktree:
        disk, tree = self._disk(item.repository), self._worktree(item)
        tip = disk.refs.get(item.branch)
        if tree.state == "tampered":
            raise RepositoryError(f"worktree of {item}: {tree.detail}")
        left = tree.state == "absent" and tip in pushed
        leads = tip is None or left or tip in self._world.ancestors(at)
        if at not in disk.commits or not leads:
            raise UnpushedError(f"{item.branch} stands at {tip}, which does not lead to {at}")
        files = dict(self._commit(at))
        if tree.state == "ours" and tip != at:
            old = self._commit(tip)
            if self._difference(item, old):
                raise RepositoryError("the worktree holds work of its own")
            files |= {p: text for p, text in self.files(item).items() if p not in old}
        if tree.state == "absent" or tip != at:
            disk.worktrees[item.number] = files
        disk.refs[item.branch] = at
        self._items[item.key] = item
        return self._worktree(item)

    def import_change(
        self, item: IssueId, *, parent: Sha, base: Sha, limits: ImportLimits, text: CommitText
    ) -> Change | Refusal:
        tree = self._worktree(item)
        if tree.state != "ours" or tree.head != parent:
            detail = tree.detail or f"the local branch stands at {tree.head}"
            return Refusal(kind="ambiguous", reason=Reason.WORKTREE_TAMPERED, message=detail)
        before = self._commit(parent)
        changed = self._difference(item, before)
        if refusal := _judge(before, changed, limits):
            return refusal
        after = {p: t for p, t in {**before, **changed}.items() if t is not None}
        sha = self._write(parent, after, text)
        self._disk(item.repository).commits.add(sha)
        self._disk(item.repository).refs[_note(item, "import")] = sha
        lines = [_counts(before.get(path, ""), text or "") for path, text in changed.items()]
        return Change(
            sha=sha,
            parent=parent,
            files=len(changed),
            added_lines=sum(added for added, _ in lines),
            removed_lines=sum(removed for _, removed in lines),
            sensitive=tuple(_covered(limits.sensitive_paths, changed)),
            ignored_new=tuple(
                path for path in sorted(self.files(item)) if self._is_ignored(item, path, before)
            ),
        )

    def advance(self, item: IssueId, *, sha: Sha, parent: Sha) -> None:
        disk, tree = self._disk(item.repository), self._worktree(item)
        if tree.head == sha:
            return
        if tree.state != "ours" or tree.head != parent:
            raise RepositoryError(f"the local branch stands at {tree.head}, expected {parent}")
        if sha not in disk.commits or self._world.trees[sha].parents != (parent,):
            raise RepositoryError(f"{sha} is no child of {parent}")
        disk.refs[item.branch] = sha

    def push(self, item: IssueId, *, sha: Sha, expected: Sha | None) -> Refusal | Unseen | None:
        try:
            repo = self._world.repo(str(item.repository))
        except KeyError:
            source = f"git ls-remote {item.repository}"
            return Unseen(source=source, reason="not there", code=Reason.REPOSITORY_NOT_FOUND)
        tip = repo.branches.get(item.branch)
        if tip != sha:
            if tip != expected or (tip is not None and tip not in self._world.ancestors(sha)):
                message = f"{item.branch} stands at {tip}, expected {expected}"
                return Refusal(kind="ambiguous", reason=Reason.BRANCH_DIVERGED, message=message)
            self._world.set_branch(str(item.repository), item.branch, sha, by=self._login)
        self._disk(item.repository).refs[_note(item, "head")] = sha
        return None

    def checkout(self, repository: Repository, *, sha: Sha, into: Path) -> None:
        if into.exists() or sha not in self._disk(repository).commits:
            raise RepositoryError(f"no checkout of {sha} in {into}")
        _lay_out(into, self._commit(sha))
        (into / ".git").write_text("gitdir: in memory\n")

    def remove_checkout(self, repository: Repository, place: Path) -> None:
        _take_away(place)

    def diff(self, repository: Repository, *, base: Sha, head: Sha, limit: int) -> tuple[str, bool]:
        old, new = self._commit(base), self._commit(head)
        parts = [
            f"diff --git a/{path} b/{path}\n"
            + "".join(f"-{line}\n" for line in old.get(path, "").splitlines())
            + "".join(f"+{line}\n" for line in new.get(path, "").splitlines())
            for path in sorted({*old, *new})
            if old.get(path) != new.get(path)
        ]
        data = "".join(parts).encode()
        return data[:limit].decode(errors="ignore"), len(data) > limit

    def read_file(self, repository: Repository, *, sha: Sha, path: str) -> str | None:
        return self._commit(sha).get(path)

    def remove_worktree(self, item: IssueId) -> None:
        tree = self._worktree(item)
        if tree.state == "absent":
            return
        if self.worktree_is_clean(item) is not True:
            raise RepositoryError(f"worktree of {item} stays: {tree.detail or 'not clean'}")
        del self._disk(item.repository).worktrees[item.number]

    # Inside

    def _disk(self, repository: Repository) -> _Disk:
        return self._disks.setdefault(repository.key, _Disk())

    def _worktree(self, item: IssueId) -> Worktree:
        disk = self._disks.get(item.repository.key)
        if disk is None or item.number not in disk.worktrees:
            return Worktree(state="absent")
        detail = disk.tampered.get(item.number, "")
        head = disk.refs.get(item.branch)
        return Worktree(state="tampered" if detail else "ours", detail=detail, head=head)

    def _commit(self, sha: Sha | None) -> Mapping[str, str]:
        if sha is None or sha not in self._world.trees:
            raise RepositoryError(f"commit {sha} is missing")
        return self._world.trees[sha].files

    def _write(self, parent: str, files: Mapping[str, str], text: CommitText) -> str:
        content = repr((parent, sorted(files.items()), text))
        sha = hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()
        self._world.trees[sha] = Tree((parent,), text.message, files)
        return sha

    def _difference(self, item: IssueId, before: Mapping[str, str]) -> dict[str, str | None]:
        now = {
            path: text
            for path, text in self.files(item).items()
            if not self._is_ignored(item, path, before)
        }
        return {
            path: now.get(path)
            for path in sorted({*before, *now})
            if before.get(path) != now.get(path)
        }

    def _is_ignored(self, item: IssueId, path: str, before: Mapping[str, str]) -> bool:
        rules = Patterns(self.files(item).get(".gitignore", "").split("\n"))
        return path not in before and rules.covers(path)


def _note(item: IssueId, what: str) -> str:
    return f"refs/toban/issue-{item.number}/{what}"


def _covered(patterns: tuple[str, ...], changed: Mapping[str, str | None]) -> list[str]:
    rules = Patterns(patterns, ignore_case=True)
    return [path for path in changed if rules.covers(path)]


def _judge(
    before: Mapping[str, str], changed: Mapping[str, str | None], limits: ImportLimits
) -> Refusal | None:
    """The first problem, in the order in which the real adapter meets it."""
    sizes = {path: len((text or "").encode()) for path, text in changed.items()}
    added = "\n".join(
        line
        for path, text in changed.items()
        for line in (text or "").splitlines()
        if line not in before.get(path, "").splitlines()
    )
    findings = {
        Reason.TOO_MANY_FILES: len(changed) > limits.max_changed_files,
        Reason.FILE_TOO_LARGE: max(sizes.values(), default=0) > limits.max_file_bytes,
        Reason.CHANGE_TOO_LARGE: sum(sizes.values()) > limits.max_total_bytes,
        Reason.EMPTY_CHANGE: not changed,
        Reason.HOST_SECRET_IN_CHANGE: any(
            secret in (text or "") for secret in limits.secrets for text in changed.values()
        ),
        Reason.PROTECTED_PATH: bool(_covered(limits.protected_paths, changed)),
        Reason.SECRET_IN_CHANGE: TOKEN_SHAPE in added,
        Reason.WHITESPACE_ERROR: any(line != line.rstrip() for line in added.split("\n")),
    }
    for reason, is_so in findings.items():
        if is_so:
            return Refusal(
                kind="ambiguous" if reason is Reason.HOST_SECRET_IN_CHANGE else "fixable",
                reason=reason,
                message=f"{', '.join(changed)}: {reason}",
            )
    return None


def _counts(old: str, new: str) -> tuple[int, int]:
    before, after = old.splitlines(), new.splitlines()
    return (
        sum(line not in before for line in after),
        sum(line not in after for line in before),
    )


def _lay_out(into: Path, files: Mapping[str, str]) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text, encoding="utf-8", newline="")


def _take_away(place: Path) -> None:
    if not place.is_dir():
        return
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
    place.rmdir()
