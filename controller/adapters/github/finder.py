"""Where there is work: who we are, the open issues with our labels, the open pull requests.

The first thing that each tick asks, before anything else is loaded: one conditional request a label
for everything of an owner, one a repository for the rest. Implements `ports.forge.WorkFinder`.
Never writes.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from urllib.parse import quote

from controller.adapters.github import decode
from controller.adapters.github.answers import absent
from controller.adapters.github.http import Api
from controller.adapters.github.shape import Node, ShapeError
from controller.domain.forge import Issue, Person, PullRequest
from controller.domain.ids import Repository
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.ports.forge import Listing

_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_OLDEST_FIRST = {"sort": "created", "direction": "asc"}


def fold(name: str) -> str:
    """A label's name as GitHub compares it: without the case of ASCII letters, nothing else.

    A full-width colon or a Kelvin sign is another character and never matches.
    """
    return name.translate(_LOWER)


class GitHubFinder:
    """Lists work.

    With a token: everything of `owner` that it sees, and `repositories` beside that. As a GitHub
    App (`app_login` gives its login `slug[bot]`): every repository of the installation that belongs
    to `owner`, and `repositories`; such tokens may not ask for the owner-wide list.
    """

    def __init__(
        self,
        api: Api,
        *,
        owner: str | None = None,
        repositories: tuple[Repository, ...] = (),
        app_login: Callable[[], Seen[str]] | None = None,
    ) -> None:
        self._api = api
        self._owner = owner
        self._repositories = repositories
        self._app_login = app_login
        self._me: Person | None = None

    def identity(self) -> Seen[Person]:
        """Who we are; asked once in a process."""
        if self._me is not None:
            return self._me
        login = None if self._app_login is None else self._app_login()
        if isinstance(login, Unseen):
            return login
        path = "/user" if login is None else f"/users/{quote(login, safe='')}"
        reply = self._api.get(path)
        if isinstance(reply, Unseen):
            return reply
        if not reply.found:
            return absent(f"GET {path}", reply, Reason.FORGE_UNSEEN)
        try:
            self._me = decode.person(Node(reply.json))
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))
        return self._me

    def find(self, labels: tuple[str, ...]) -> Listing:
        """Open issues with at least one of `labels`, each once, oldest first."""
        wanted = {fold(label) for label in labels}
        gathered = _Gathered(wanted)
        singles = {r.key: r for r in self._repositories}
        if self._owner is not None and self._app_login is None:
            self._find_owned(self._owner, labels, gathered)
            mine = f"{self._owner.lower()}/"
            singles = {key: r for key, r in singles.items() if not key.startswith(mine)}
        elif self._owner is not None:
            singles = self._installed(self._owner, gathered) | singles
        for repository in singles.values():
            self._find_in(repository, gathered)
        return gathered.listing()

    def open_pulls(self, repository: Repository) -> Seen[tuple[PullRequest, ...]]:
        """Open pull requests from branches `agent/issue-*` of the repository itself."""
        path = f"/repos/{repository}/pulls"
        nodes = self._api.pages(
            path, {"state": "open", **_OLDEST_FIRST}, missing=Reason.REPOSITORY_NOT_FOUND
        )
        if isinstance(nodes, Unseen):
            return nodes
        try:
            return tuple(decode.pull(node) for node in nodes if _is_ours(node, repository))
        except ShapeError as error:
            return Unseen(source=f"GET {path}", reason=str(error))

    def _find_owned(self, owner: str, labels: Iterable[str], gathered: "_Gathered") -> None:
        for label in labels:
            source = f"GET /issues?labels={label}"
            nodes = self._api.pages(
                "/issues",
                {"filter": "all", "state": "open", "labels": label, **_OLDEST_FIRST},
                missing=Reason.FORGE_UNSEEN,
            )
            if isinstance(nodes, Unseen):
                gathered.unseen.append(nodes.model_copy(update={"source": source}))
                continue
            for node in nodes:
                gathered.take(source, node, owner=owner.lower())

    def _find_in(self, repository: Repository, gathered: "_Gathered") -> None:
        path = f"/repos/{repository}/issues"
        nodes = self._api.pages(
            path, {"state": "open", **_OLDEST_FIRST}, missing=Reason.REPOSITORY_NOT_FOUND
        )
        if isinstance(nodes, Unseen):
            gathered.unseen.append(nodes)
            return
        for node in nodes:
            gathered.take(f"GET {path}", node)

    def _installed(self, owner: str, gathered: "_Gathered") -> dict[str, Repository]:
        path = "/installation/repositories"
        nodes = self._api.pages(path, {}, missing=Reason.FORGE_UNSEEN, under="repositories")
        if isinstance(nodes, Unseen):
            gathered.unseen.append(nodes)
            return {}
        found: dict[str, Repository] = {}
        for node in nodes:
            try:
                repository = decode.full_name(node["full_name"])
            except ShapeError as error:
                gathered.unseen.append(Unseen(source=f"GET {path}", reason=str(error)))
                continue
            if repository.owner.lower() == owner.lower():
                found[repository.key] = repository
        return found


class _Gathered:
    """Issues of several lists, each once in its newest state, and what could not be read."""

    def __init__(self, wanted: set[str]) -> None:
        self._wanted = wanted
        self._issues: dict[str, Issue] = {}
        self.unseen: list[Unseen] = []

    def take(self, source: str, node: Node, *, owner: str | None = None) -> None:
        """Keep an entry if it is an open issue of `owner` (lower case) with one of our labels.

        One odd entry is told as unseen and hides no other.
        """
        try:
            if decode.is_pull(node):
                return
            repository = decode.repository_of_issue(node)
            if owner is not None and repository.owner.lower() != owner:
                return
            issue = decode.issue(node, repository)
        except ShapeError as error:
            self.unseen.append(Unseen(source=source, reason=str(error)))
            return
        if not issue.is_open or self._wanted.isdisjoint(map(fold, issue.labels)):
            return
        known = self._issues.get(issue.item.key)
        if known is None or known.updated_at < issue.updated_at:
            self._issues[issue.item.key] = issue

    def listing(self) -> Listing:
        issues = sorted(self._issues.values(), key=_age)
        return Listing(issues=tuple(issues), unseen=tuple(self.unseen))


def _age(issue: Issue) -> tuple[datetime, str, int]:
    return issue.created_at, issue.item.repository.key, issue.item.number


def _is_ours(node: Node, repository: Repository) -> bool:
    home, branch = decode.head_of_pull(node)
    number = branch.removeprefix("agent/issue-")
    return home == repository.key and number != branch and number.isascii() and number.isdigit()
