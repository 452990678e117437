"""A forge in memory: all forge ports, under the same contract suite as the real adapter.

Simulations and tests of the runtime hand it in through the ports. `ForgeFake` is its world (what
people do there) and gives the ports for one account.
"""

from datetime import datetime

from controller.domain.forge import (
    Comment,
    Commit,
    Comparison,
    Event,
    Issue,
    Permission,
    Person,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import ForgeError
from controller.ports.forge import LabelText, Listing, PullText
from tests.fakes import forge_world as world


class ForgeFake(world.World):
    """The world, and the ports as `login` sees it."""

    def finder(
        self, login: str, *, owner: str | None = None, repositories: tuple[Repository, ...] = ()
    ) -> "FinderFake":
        return FinderFake(self, login, owner, repositories)

    def reader(self, login: str) -> "ReaderFake":
        return ReaderFake(self, login)

    def writer(self, login: str) -> "WriterFake":
        return WriterFake(self, login)


class _View:
    """What `login` may see."""

    def __init__(self, forge: world.World, login: str) -> None:
        self._forge = forge
        self._login = login

    def _repo(self, repository: Repository) -> Seen[world.Repo]:
        now = self._forge.old_names.get(repository.key)
        source = f"GET /repos/{repository}"
        try:
            repo = self._forge.repo(now or str(repository))
        except KeyError:
            repo = None
        if repo is None or not repo.may(self._login, "read"):
            return Unseen(source=source, reason="not found", code=Reason.REPOSITORY_NOT_FOUND)
        if now is not None:
            return Unseen(source=source, reason=f"is {now} now", code=Reason.REPOSITORY_MOVED)
        return repo

    def _issue(self, repository: Repository, number: int) -> Seen[world.Issue]:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            return repo
        if number not in repo.issues:
            source = f"GET /repos/{repository}/issues/{number}"
            return Unseen(source=source, reason="not found", code=Reason.ISSUE_NOT_FOUND)
        return repo.issues[number]

    def _pull(self, repository: Repository, number: int) -> Seen[world.Pull]:
        issue = self._issue(repository, number)
        if isinstance(issue, Unseen):
            return issue
        if issue.pull is None:
            return Unseen(source=f"GET {repository} pull {number}", reason="not found")
        return issue.pull


class FinderFake(_View):
    """Lists work."""

    def __init__(
        self,
        forge: world.World,
        login: str,
        owner: str | None,
        repositories: tuple[Repository, ...],
    ) -> None:
        super().__init__(forge, login)
        self._owner = owner
        self._repositories = repositories

    def identity(self) -> Seen[Person]:
        return self._forge.users[self._login.lower()]

    def find(self, labels: tuple[str, ...]) -> Listing:
        wanted = {_fold(label) for label in labels}
        repos: dict[str, world.Repo] = {}
        unseen: list[Unseen] = []
        for repo in self._forge.repos:
            # GitHub's owner-wide list shows repositories of which the account is a member.
            member = self._login.lower() in {repo.owner.lower(), *repo.collaborators}
            if member and repo.owner.lower() == (self._owner or "").lower():
                repos[repo.full_name.lower()] = repo
        for repository in self._repositories:
            seen = self._repo(repository)
            if isinstance(seen, Unseen):
                unseen.append(seen)
            else:
                repos[repository.key] = seen
        found = [
            _issue(repo, issue)
            for repo in repos.values()
            for issue in repo.issues.values()
            if issue.is_open and issue.pull is None and wanted & set(map(_fold, issue.labels))
        ]
        found.sort(key=lambda i: (i.created_at, i.item.repository.key, i.item.number))
        return Listing(issues=tuple(found), unseen=tuple(unseen))

    def open_pulls(self, repository: Repository) -> Seen[tuple[PullRequest, ...]]:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            return repo
        return tuple(
            _pull(repo, issue, pull)
            for issue, pull in repo.pulls()
            if issue.is_open and pull.head.startswith("agent/issue-")
        )


class ReaderFake(_View):
    """Reads one item and its pull request."""

    def issue(self, item: IssueId) -> Seen[Issue]:
        issue = self._issue(item.repository, item.number)
        if isinstance(issue, Unseen):
            return issue
        if issue.pull is not None:
            reason = f"{item} is a pull request, not an issue"
            return Unseen(source=f"GET {item}", reason=reason, code=Reason.ISSUE_NOT_FOUND)
        return _issue(self._forge.repo(str(item.repository)), issue)

    def timeline(self, item: IssueId) -> Seen[tuple[Event, ...]]:
        issue = self._issue(item.repository, item.number)
        if isinstance(issue, Unseen):
            return issue
        said = (
            Event(id=c.id, kind="commented", actor=c.author, at=c.created_at)
            for c in issue.comments
        )
        return tuple(sorted((*issue.events, *said), key=lambda event: event.at))

    def comments(self, repository: Repository, number: int) -> Seen[tuple[Comment, ...]]:
        issue = self._issue(repository, number)
        return issue if isinstance(issue, Unseen) else tuple(issue.comments)

    def last_body_edit(
        self, issue: Issue, events: tuple[Event, ...], comments: tuple[Comment, ...]
    ) -> Seen[datetime | None]:
        found = self._issue(issue.item.repository, issue.item.number)
        return found if isinstance(found, Unseen) else found.body_edited_at

    def permission(self, repository: Repository, login: str) -> Seen[Permission]:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            return repo
        return repo.role(login) if login.lower() in self._forge.users else "none"

    def repository(self, repository: Repository) -> Seen[RepositoryInfo]:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            return repo
        return RepositoryInfo(
            repository=Repository.parse(repo.full_name),
            default_branch=repo.default_branch,
            archived=repo.archived,
        )

    def branch_tip(self, repository: Repository, branch: str) -> Seen[Sha | None]:
        repo = self._repo(repository)
        return repo if isinstance(repo, Unseen) else repo.branches.get(branch)

    def pulls(self, item: IssueId) -> Seen[tuple[PullRequest, ...]]:
        repo = self._repo(item.repository)
        if isinstance(repo, Unseen):
            return repo
        return tuple(_pull(repo, i, pull) for i, pull in repo.pulls() if pull.head == item.branch)

    def commits(self, repository: Repository, number: int) -> Seen[tuple[Commit, ...]]:
        pull = self._pull(repository, number)
        if isinstance(pull, Unseen):
            return pull
        below = self._forge.ancestors(pull.base_sha)
        own = [sha for sha in self._forge.ancestors(pull.head_sha) if sha not in below]
        return tuple(self._commit(sha) for sha in reversed(own))

    def compare(self, repository: Repository, base: str, head: str) -> Seen[Comparison]:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            return repo
        known = self._forge.trees
        one, other = (
            repo.branches.get(name, name if name in known else "") for name in (base, head)
        )
        source = f"GET compare {base}...{head}"
        if not one or not other:
            return Unseen(source=source, reason="not found")
        mine, theirs = self._forge.ancestors(one), self._forge.ancestors(other)
        common = self._forge.merge_base(one, other)
        if common is None:
            return Unseen(source=source, reason="no common ancestor")
        return Comparison(
            merge_base=common,
            ahead=len(theirs.keys() - mine.keys()),
            behind=len(mine.keys() - theirs.keys()),
        )

    def mergeable(self, repository: Repository, number: int) -> Seen[bool | None]:
        pull = self._pull(repository, number)
        if isinstance(pull, Unseen):
            return pull
        asked, pull.known = pull.known, (pull.base_sha, pull.head_sha)
        return self._forge.merges(pull) if asked == pull.known else None

    def _commit(self, sha: str) -> Commit:
        tree = self._forge.trees[sha]
        return Commit(sha=sha, parents=tree.parents, message=tree.message)


class WriterFake(_View):
    """Writes at once and always with an answer; faults are injected by wrapping it."""

    def set_label(self, item: IssueId, *, label: str, remove: tuple[str, ...]) -> None:
        repo, issue = self._writable(item.repository, item.number, "triage")
        self._forge.add_label(repo.full_name, item.number, label, by=self._login)
        old = {_fold(name) for name in remove} - {_fold(label)}
        for name in [name for name in issue.labels if _fold(name) in old]:
            self._forge.remove_label(repo.full_name, item.number, name, by=self._login)

    def comment(self, repository: Repository, number: int, *, body: str, marker: str) -> Comment:
        repo, issue = self._writable(repository, number, "read")
        for comment in issue.comments:
            if comment.author == self._me and comment.unedited and _first(comment.body) == marker:
                return comment
        text = body if _first(body) == marker else f"{marker}\n{body}"
        return self._forge.comment(repo.full_name, number, text, by=self._login)

    def open_pull(self, item: IssueId, *, base: str, text: PullText) -> PullRequest:
        repo, _ = self._writable(item.repository, item.number, "write")
        for issue, pull in repo.pulls():
            if issue.is_open and pull.head == item.branch:
                if issue.user != self._me:
                    raise ForgeError(f"the open pull request #{issue.number} is not ours")
                return _pull(repo, issue, pull)
        head, onto = repo.branches.get(item.branch), repo.branches.get(base)
        if head is None or onto is None or head in self._forge.ancestors(onto):
            raise ForgeError(f"no commits between {base} and {item.branch}")
        made = self._forge.open_pull(
            repo.full_name,
            head=item.branch,
            base=base,
            title=text.title,
            body=text.body,
            by=self._login,
        )
        if made.pull is None:
            raise ForgeError("not a pull request")
        return _pull(repo, made, made.pull)

    def assign(self, item: IssueId, *, login: str) -> bool:
        repo, issue = self._writable(item.repository, item.number, "write")
        self._forge.assign(repo.full_name, item.number, login, by=self._login)
        return login.lower() in map(str.lower, issue.assignees)

    def ensure_labels(
        self, repository: Repository, labels: tuple[LabelText, ...]
    ) -> tuple[str, ...]:
        repo = self._home(repository, "write")
        changed: list[str] = []
        for label in labels:
            known = repo.labels.get(label.name.lower())
            wanted = label if known is None else label.model_copy(update={"name": known.name})
            if known != wanted:
                repo.labels[label.name.lower()] = wanted
                changed.append(label.name)
        return tuple(changed)

    @property
    def _me(self) -> Person:
        return self._forge.users[self._login.lower()]

    def _home(self, repository: Repository, least: Permission) -> world.Repo:
        repo = self._repo(repository)
        if isinstance(repo, Unseen):
            raise ForgeError(f"{repo.source}: {repo.reason}")
        if not repo.may(self._login, least):
            raise ForgeError(f"{self._login} may not write to {repository}")
        return repo

    def _writable(
        self, repository: Repository, number: int, least: Permission
    ) -> tuple[world.Repo, world.Issue]:
        repo = self._home(repository, least)
        issue = self._issue(repository, number)
        if isinstance(issue, Unseen):
            raise ForgeError(f"{issue.source}: {issue.reason}")
        return repo, issue


def _fold(name: str) -> str:
    return name.lower() if name.isascii() else name


def _first(body: str) -> str:
    return body.split("\n", 1)[0]


def _issue(repo: world.Repo, issue: world.Issue) -> Issue:
    return Issue(
        item=IssueId(repository=Repository.parse(repo.full_name), number=issue.number),
        title=issue.title,
        body=issue.body,
        labels=tuple(issue.labels),
        is_open=issue.is_open,
        author=issue.user,
        created_at=issue.created_at,
        updated_at=issue.updated_at,
    )


def _pull(repo: world.Repo, issue: world.Issue, pull: world.Pull) -> PullRequest:
    return PullRequest(
        number=issue.number,
        is_open=issue.is_open,
        merged=pull.merged,
        author=issue.user,
        head=pull.head_sha,
        base_branch=pull.base,
        created_at=issue.created_at,
        closed_at=issue.closed_at,
        updated_at=issue.updated_at,
        url=f"https://forge.example/{repo.full_name}/pull/{issue.number}",
        base_tip=pull.base_sha,
        head_branch=pull.head,
    )
