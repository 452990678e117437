"""From GitHub's JSON to facts: every key that is used is named here, with its type.

Called by reader and writer with whole answers. Values are kept as they come (labels, logins and
texts are hostile); a missing key or a wrong type raises ShapeError that says where it stands. Keys
that are not used may have any shape.
"""

from controller.adapters.github.shape import Node
from controller.domain.forge import (
    RANK,
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
from controller.domain.ids import IssueId, Repository

_ROLES: dict[str, Permission] = {
    "none": "none",
    "read": "read",
    "triage": "triage",
    "write": "write",
    "maintain": "maintain",
    "admin": "admin",
}
_BASE_OF_ROLE: dict[Permission, Permission] = {"triage": "read", "maintain": "write"}
"""What the older `permission` field says for the two roles that it does not know."""


def person(node: Node) -> Person:
    """An account."""
    kind = node.maybe("type")
    return Person(
        id=node["id"].number(),
        login=node["login"].text(),
        is_bot=kind is not None and kind.value == "Bot",
    )


def _person_under(node: Node, *keys: str) -> Person | None:
    """The account under the first of `keys` that is there; None for a deleted one."""
    found = next((n for n in map(node.maybe, keys) if n is not None), None)
    return None if found is None else person(found)


def full_name(node: Node) -> Repository:
    """A repository from a string `owner/repo`."""
    try:
        return Repository.parse(node.text())
    except ValueError:
        node.fail("a repository's full name owner/repo")


def is_pull(node: Node) -> bool:
    """Whether an entry of an issue list is a pull request."""
    return node.maybe("pull_request") is not None


def repository_of_issue(node: Node) -> Repository:
    """Where an issue of an owner-wide list lies."""
    inside = node.maybe("repository")
    if inside is not None:
        return full_name(inside["full_name"])
    url = node["repository_url"]
    return full_name(Node("/".join(url.text().split("/")[-2:]), url.path))


def labels(node: Node) -> tuple[str, ...]:
    """Label names of an issue, in the forge's spelling. GitHub allows plain strings there too."""
    found: list[str] = []
    for entry in node.entries():
        name = entry if isinstance(entry.value, str) else entry.maybe("name")
        if name is not None:
            found.append(name.text())
    return tuple(found)


def issue(node: Node, repository: Repository) -> Issue:
    """One issue of `repository`."""
    number = node["number"].number()
    if number < 1:
        node["number"].fail("an integer from 1")
    body = node.maybe("body")
    return Issue(
        item=IssueId(repository=repository, number=number),
        title=node["title"].text(),
        body="" if body is None else body.text(),
        labels=labels(node["labels"]),
        is_open=_is_open(node["state"]),
        author=_person_under(node, "user"),
        created_at=node["created_at"].time(),
        updated_at=node["updated_at"].time(),
    )


def _is_open(node: Node) -> bool:
    if node.value not in ("open", "closed"):
        node.fail("open or closed")
    return node.value == "open"


def assignees(node: Node) -> tuple[str, ...]:
    """Logins of an issue's assignees."""
    return tuple(entry["login"].text() for entry in node["assignees"].entries())


def event(node: Node) -> Event | None:
    """One entry of a timeline; None for one without an id or a time of its own.

    Those are commits and cross-references, which change neither label nor text of the issue.
    """
    kind = node["event"].text()
    if kind in ("labeled", "unlabeled"):
        return Event(
            id=node["id"].number(),
            kind=kind,
            actor=_person_under(node, "actor"),
            at=node["created_at"].time(),
            label=node["label"]["name"].text(),
        )
    number = node.maybe("id")
    at = node.maybe("created_at") or node.maybe("submitted_at")
    if number is None or at is None:
        return None
    return Event(
        id=number.number(), kind=kind, actor=_person_under(node, "actor", "user"), at=at.time()
    )


def comment(node: Node) -> Comment:
    """One comment of a conversation."""
    body = node.maybe("body")
    return Comment(
        id=node["id"].number(),
        author=_person_under(node, "user"),
        body="" if body is None else body.text(),
        created_at=node["created_at"].time(),
        updated_at=node["updated_at"].time(),
    )


def permission(node: Node) -> Permission:
    """The role. `role_name` refines `permission`; where both disagree the lesser one counts.

    `role_name` may be the name of an organisation's own role, which says nothing.
    """
    base = _ROLES.get(node["permission"].text())
    if base is None:
        node["permission"].fail("admin, maintain, write, triage, read or none")
    name = node.maybe("role_name")
    role = None if name is None else _ROLES.get(name.text())
    if role is None or role == base:
        return base
    if _BASE_OF_ROLE.get(role) == base:
        return role
    return min(base, role, key=RANK.__getitem__)


def repository_info(node: Node) -> RepositoryInfo:
    """A repository."""
    archived = node.maybe("archived")
    return RepositoryInfo(
        repository=full_name(node["full_name"]),
        default_branch=node["default_branch"].text(),
        archived=archived is not None and archived.flag(),
    )


def head_of_pull(node: Node) -> tuple[str, str]:
    """Repository key and branch name of a pull request's head; no key when the fork is gone."""
    head = node["head"]
    home = head.maybe("repo")
    key = "" if home is None else home["full_name"].text().lower()
    return key, head["ref"].text()


def pull(node: Node) -> PullRequest:
    """A pull request as a list or a single answer shows it."""
    base = node["base"]
    tip = base.maybe("sha")
    closed = node.maybe("closed_at")
    return PullRequest(
        number=node["number"].number(),
        is_open=_is_open(node["state"]),
        merged=node.maybe("merged_at") is not None,
        author=_person_under(node, "user"),
        head=node["head"]["sha"].sha(),
        base_branch=base["ref"].text(),
        created_at=node["created_at"].time(),
        closed_at=None if closed is None else closed.time(),
        updated_at=node["updated_at"].time(),
        url=node["html_url"].text(),
        base_tip=None if tip is None else tip.sha(),
        head_branch=node["head"]["ref"].text(),
    )


def commit(node: Node) -> Commit:
    """A commit of a pull request."""
    return Commit(
        sha=node["sha"].sha(),
        parents=tuple(parent["sha"].sha() for parent in node["parents"].entries()),
        message=node["commit"]["message"].text(),
    )


def comparison(node: Node) -> Comparison:
    """How a head stands to a base."""
    return Comparison(
        merge_base=node["merge_base_commit"]["sha"].sha(),
        ahead=node["ahead_by"].number(),
        behind=node["behind_by"].number(),
    )


def mergeable(node: Node) -> bool | None:
    """Whether a pull request merges without conflict, None while that is not known yet."""
    known = node.maybe("mergeable")
    return None if known is None else known.flag()
