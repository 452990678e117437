"""What a forge holds, in memory: accounts, repositories, issues, branches with their commits.

The world behind `tests.fakes.forge`. Its methods are what people do on the forge; they have the
names and meanings of the stand-in's control plane, so that one suite can drive both.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Literal

from controller.domain.forge import RANK, Comment, Event, Permission, Person
from controller.ports.forge import LabelText

type Files = Mapping[str, str | None]


@dataclass(frozen=True)
class Tree:
    """A commit with the whole content of its tree."""

    parents: tuple[str, ...]
    message: str
    files: Mapping[str, str]


@dataclass
class Pull:
    head: str
    base: str
    head_sha: str
    base_sha: str
    merged: bool = False
    known: tuple[str, str] | None = None
    """Base and head whose mergeability was asked once already."""


@dataclass
class Issue:
    """An issue, or a pull request when `pull` is set."""

    number: int
    title: str
    body: str
    user: Person
    created_at: datetime
    updated_at: datetime
    is_open: bool = True
    closed_at: datetime | None = None
    body_edited_at: datetime | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    pull: Pull | None = None


@dataclass
class Repo:
    owner: str
    name: str
    default_branch: str
    private: bool
    archived: bool = False
    collaborators: dict[str, Permission] = field(default_factory=dict)
    labels: dict[str, LabelText] = field(default_factory=dict)
    """By lower-case name."""
    issues: dict[int, Issue] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def role(self, login: str) -> Permission:
        if login.lower() == self.owner.lower():
            return "admin"
        return self.collaborators.get(login.lower(), "none" if self.private else "read")

    def may(self, login: str, least: Permission) -> bool:
        return RANK[self.role(login)] >= RANK[least]

    def pulls(self) -> Iterator[tuple[Issue, Pull]]:
        return ((i, i.pull) for i in self.issues.values() if i.pull is not None)


class World:
    """Everything that happens on the forge beside toban. Permissions are not checked here."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 5, 9, tzinfo=UTC)
        self._ids = count(1001)
        self.users: dict[str, Person] = {}
        self.repos: list[Repo] = []
        self.old_names: dict[str, str] = {}
        self.trees: dict[str, Tree] = {}

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    # Accounts and repositories

    def add_user(self, login: str, *, kind: str = "User") -> Person:
        person = Person(id=next(self._ids), login=login, is_bot=kind == "Bot")
        self.users[login.lower()] = person
        return person

    def add_repo(
        self,
        repo: str,
        *,
        files: Files | None = None,
        default_branch: str = "main",
        private: bool = False,
        collaborators: Mapping[str, Permission] | None = None,
    ) -> Repo:
        owner, _, name = repo.partition("/")
        made = Repo(self.users[owner.lower()].login, name, default_branch, private)
        self.repos.append(made)
        for login, role in (collaborators or {}).items():
            self.set_role(repo, login, role)
        first = {"README.md": f"# {name}\n"} if files is None else files
        if first:
            self.push_commit(repo, default_branch, first, by=owner, message="Initial commit")
        return made

    def repo(self, repo: str) -> Repo:
        """The repository of that present name. KeyError when there is none."""
        for made in self.repos:
            if made.full_name.lower() == repo.lower():
                return made
        raise KeyError(repo)

    def set_role(self, repo: str, login: str, role: Permission) -> None:
        self.repo(repo).collaborators[login.lower()] = role

    def rename_repo(self, repo: str, name: str) -> None:
        made = self.repo(repo)
        made.name = name
        self.old_names = {
            **{old: made.full_name if new == repo else new for old, new in self.old_names.items()},
            repo.lower(): made.full_name,
        }
        self.old_names.pop(made.full_name.lower(), None)

    # Branches

    def push_commit(
        self,
        repo: str,
        branch: str,
        files: Files,
        *,
        by: str,
        message: str = "Change",
        base: str | None = None,
    ) -> str:
        """Commit `files` (None deletes); a new branch starts from `base` or the default branch."""
        made = self.repo(repo)
        parent = made.branches.get(branch)
        if parent is None:
            start = base or made.default_branch
            parent = made.branches.get(start, start if start in self.trees else None)
        before = dict(self.trees[parent].files) if parent else {}
        after = {**before, **files}
        tree = {path: text for path, text in after.items() if text is not None}
        sha = self.commit((parent,) if parent else (), message, tree, by=by)
        self.set_branch(repo, branch, sha, by=by)
        return sha

    def commit(
        self, parents: tuple[str, ...], message: str, files: Mapping[str, str], *, by: str
    ) -> str:
        """A commit that no branch holds yet."""
        content = repr((parents, message, sorted(files.items()), by, self._now))
        sha = hashlib.sha1(content.encode(), usedforsecurity=False).hexdigest()
        self.trees[sha] = Tree(parents, message, dict(files))
        return sha

    def set_branch(self, repo: str, branch: str, sha: str, *, by: str) -> None:
        """Move or create a branch, by force if need be."""
        made = self.repo(repo)
        made.branches[branch] = sha
        for issue, pull in made.pulls():
            if issue.is_open and pull.head == branch:
                pull.head_sha = sha
                issue.updated_at = self._now
            if issue.is_open and pull.base == branch:
                pull.base_sha = sha

    def delete_branch(self, repo: str, branch: str, *, by: str) -> None:
        made = self.repo(repo)
        del made.branches[branch]
        for issue, pull in made.pulls():
            if issue.is_open and pull.head == branch:
                self.close(repo, issue.number, by=by)

    def head(self, repo: str, branch: str) -> str | None:
        return self.repo(repo).branches.get(branch)

    def ancestors(self, sha: str) -> dict[str, None]:
        """`sha` and everything below it, nearest first."""
        found: dict[str, None] = {}
        todo = [sha]
        while todo:
            at = todo.pop(0)
            if at not in found:
                found[at] = None
                todo.extend(self.trees[at].parents)
        return found

    def merge_base(self, one: str, other: str) -> str | None:
        mine = self.ancestors(one)
        return next((sha for sha in self.ancestors(other) if sha in mine), None)

    # Issues

    def create_issue(
        self,
        repo: str,
        title: str,
        body: str | None = None,
        *,
        by: str | None = None,
        labels: Iterable[str] = (),
    ) -> Issue:
        made = self.repo(repo)
        author = self.users[(by or made.owner).lower()]
        number = len(made.issues) + 1
        issue = Issue(number, title, body or "", author, self._now, self._now)
        made.issues[number] = issue
        for label in labels:
            self.add_label(repo, number, label, by=by)
        return issue

    def issue(self, repo: str, number: int) -> Issue:
        return self.repo(repo).issues[number]

    def labels(self, repo: str, number: int) -> list[str]:
        return sorted(self.issue(repo, number).labels)

    def comments(self, repo: str, number: int) -> list[Comment]:
        return list(self.issue(repo, number).comments)

    def edit_issue(
        self,
        repo: str,
        number: int,
        *,
        by: str | None = None,
        title: str | None = None,
        body: str | None = None,
    ) -> None:
        issue = self.issue(repo, number)
        if title is not None and title != issue.title:
            issue.title = title
            self._record(repo, issue, "renamed", by)
        if body is not None and body != issue.body:
            issue.body = body
            issue.body_edited_at = issue.updated_at = self._now

    def add_label(self, repo: str, number: int, label: str, *, by: str | None = None) -> None:
        made = self.repo(repo)
        text = LabelText(name=label, color="ededed", description="")
        name = made.labels.setdefault(label.lower(), text).name
        issue = made.issues[number]
        if name not in issue.labels:
            issue.labels.append(name)
            self._record(repo, issue, "labeled", by, label=name)

    def remove_label(self, repo: str, number: int, label: str, *, by: str | None = None) -> None:
        issue = self.issue(repo, number)
        name = next(name for name in issue.labels if name.lower() == label.lower())
        issue.labels.remove(name)
        self._record(repo, issue, "unlabeled", by, label=name)

    def assign(self, repo: str, number: int, login: str, *, by: str | None = None) -> None:
        """Assign, if the account is somebody of this repository; else drop it silently."""
        made, issue = self.repo(repo), self.issue(repo, number)
        member = login.lower() == made.owner.lower() or login.lower() in made.collaborators
        if member and login.lower() not in map(str.lower, issue.assignees):
            issue.assignees.append(login)
            self._record(repo, issue, "assigned", by)

    def close(self, repo: str, number: int, *, by: str | None = None) -> None:
        issue = self.issue(repo, number)
        if issue.is_open:
            issue.is_open, issue.closed_at = False, self._now
            self._record(repo, issue, "closed", by)

    def reopen(self, repo: str, number: int, *, by: str | None = None) -> None:
        issue = self.issue(repo, number)
        if not issue.is_open:
            issue.is_open, issue.closed_at = True, None
            self._record(repo, issue, "reopened", by)

    def comment(self, repo: str, number: int, body: str, *, by: str | None = None) -> Comment:
        made = self.repo(repo)
        posted = Comment(
            id=3_000_000_000 + next(self._ids),
            author=self.users[(by or made.owner).lower()],
            body=body,
            created_at=self._now,
            updated_at=self._now,
        )
        issue = made.issues[number]
        issue.comments.append(posted)
        issue.updated_at = self._now
        return posted

    def edit_comment(self, repo: str, comment: int, body: str, *, by: str | None = None) -> None:
        for issue in self.repo(repo).issues.values():
            for at, posted in enumerate(issue.comments):
                if posted.id == comment:
                    changed = {"body": body, "updated_at": self._now}
                    issue.comments[at] = posted.model_copy(update=changed)
                    issue.updated_at = self._now

    def _record(
        self, repo: str, issue: Issue, kind: str, by: str | None, label: str | None = None
    ) -> None:
        actor = self.users[(by or self.repo(repo).owner).lower()]
        number = 20_000_000_000 + next(self._ids)
        issue.events.append(Event(id=number, kind=kind, actor=actor, at=self._now, label=label))
        issue.updated_at = self._now

    # Pull requests

    def open_pull(
        self,
        repo: str,
        *,
        head: str,
        title: str = "A change",
        base: str | None = None,
        body: str | None = None,
        by: str | None = None,
    ) -> Issue:
        made = self.repo(repo)
        onto = base or made.default_branch
        pull = Pull(head, onto, made.branches[head], made.branches[onto])
        issue = self.create_issue(repo, title, body, by=by)
        issue.pull = pull
        return issue

    def retarget(self, repo: str, number: int, base: str) -> None:
        made, issue = self.repo(repo), self.issue(repo, number)
        if issue.pull is not None:
            issue.pull = replace(issue.pull, base=base, base_sha=made.branches[base])
            self._record(repo, issue, "base_ref_changed", None)

    def merge(
        self, repo: str, number: int, *, by: str | None = None, method: Literal["merge"] = "merge"
    ) -> str:
        """Merge as a human would; gives the merge commit."""
        made, issue = self.repo(repo), self.issue(repo, number)
        pull = issue.pull
        if pull is None or not issue.is_open or not self.merges(pull):
            raise ValueError(f"#{number} cannot be merged")
        who = by or made.owner
        files = {**self.trees[pull.base_sha].files, **self.trees[pull.head_sha].files}
        parents = (pull.base_sha, pull.head_sha)
        sha = self.commit(parents, f"Merge pull request #{number}", files, by=who)
        pull.merged = True
        self._record(repo, issue, "merged", by)
        self.close(repo, number, by=by)
        self.set_branch(repo, pull.base, sha, by=who)
        return sha

    def merges(self, pull: Pull) -> bool:
        """Whether no file was changed differently on both sides."""
        base = self.merge_base(pull.base_sha, pull.head_sha)
        if base is None:
            return False
        old, ours, theirs = (self.trees[s].files for s in (base, pull.base_sha, pull.head_sha))
        return not any(
            old.get(path) != ours.get(path) != theirs.get(path) != old.get(path)
            for path in {*old, *ours, *theirs}
        )
