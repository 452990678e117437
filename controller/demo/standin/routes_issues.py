"""API: lists of issues, single issues, labels and assignees."""

from collections.abc import Iterable
from datetime import datetime

from controller.demo.standin import issues, pulls, shapes
from controller.demo.standin.accounts import Role
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.state import Refusal, invalid
from controller.demo.standin.values import Issue, Reason, Repo

routes = Routes()
_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{number:int}"
_REASONS: tuple[Reason, ...] = ("completed", "not_planned", "duplicate", "reopened")


def _area(issue: Issue) -> str:
    return "issues" if issue.pull is None else "pull_requests"


# Lists


@routes("GET", "/issues", users_only=True)
def everywhere(call: Call) -> Reply:
    """Issues and pull requests across the repositories in which the caller has a role."""
    return _across(call, call.state.member_repos(call.me))


@routes("GET", "/user/issues", users_only=True)
def own(call: Call) -> Reply:
    """The same, without repositories of organisations."""
    users = call.state.users
    repos = call.state.member_repos(call.me)
    return _across(call, [it for it in repos if users[it.owner.lower()].kind != "Organization"])


def _across(call: Call, repos: list[Repo]) -> Reply:
    me = call.me.login
    wanted = call.query.get("filter", "assigned")
    for repo in repos:
        pulls.refresh(call.state, repo)
    found = [
        (repo, issue)
        for repo in repos
        for issue in _selected(call, repo.issues.values())
        if _concerns(me, issue, wanted)
    ]
    found = _ordered(call, found)
    return call.page(found, lambda it: shapes.issue(call.state, it[0], it[1], viewer=me))


def _concerns(me: str, issue: Issue, wanted: str) -> bool:
    match wanted:
        case "all" | "repos":
            return True
        case "assigned":
            return me in issue.assignees
        case "created":
            return issue.user == me
        case "mentioned":
            return f"@{me}" in (issue.body or "")
        case "subscribed":
            return me == issue.user or me in issue.assignees
        case _:
            raise invalid("Issue", "filter", "invalid")


@routes("GET", _REPO + "/issues")
def in_repository(call: Call) -> Reply:
    """Issues and pull requests of one repository."""
    call.look("issues")
    pulls.refresh(call.state, call.repo)
    chosen = _selected(call, call.repo.issues.values())
    assignee, creator = call.query.get("assignee"), call.query.get("creator")
    if assignee is not None:
        chosen = [it for it in chosen if _assigned(it, assignee)]
    if creator is not None:
        chosen = [it for it in chosen if it.user.lower() == creator.lower()]
    found = _ordered(call, [(call.repo, issue) for issue in chosen])
    return call.page(found, lambda it: shapes.issue(call.state, it[0], it[1]))


def _assigned(issue: Issue, assignee: str) -> bool:
    match assignee:
        case "*":
            return bool(issue.assignees)
        case "none":
            return not issue.assignees
        case _:
            return assignee.lower() in {login.lower() for login in issue.assignees}


def _selected(call: Call, found: Iterable[Issue]) -> list[Issue]:
    """What the state, the labels (all of them) and the time of the last change let through."""
    state = call.query.get("state", "open")
    labels = [name for name in call.query.get("labels", "").split(",") if name]
    since = _moment(call.query.get("since"))
    if state not in {"open", "closed", "all"}:
        raise invalid("Issue", "state", "invalid")
    return [
        issue
        for issue in found
        if state in {issue.state, "all"}
        and all(issue.has_label(name) for name in labels)
        and issue.updated_at >= since
    ]


def _moment(text: str | None) -> float:
    if not text:
        return 0
    try:
        return datetime.fromisoformat(text.replace(" ", "+")).timestamp()
    except ValueError:
        raise invalid("Issue", "since", "invalid") from None


def _ordered(call: Call, found: list[tuple[Repo, Issue]]) -> list[tuple[Repo, Issue]]:
    keys = {
        "created": lambda it: (it[1].created_at, it[1].id),
        "updated": lambda it: (it[1].updated_at, it[1].id),
        "comments": lambda it: (len(it[1].comments), it[1].id),
    }
    key = keys.get(call.query.get("sort", "created"))
    if key is None:
        raise invalid("Issue", "sort", "invalid")
    return sorted(found, key=key, reverse=call.query.get("direction", "desc") != "asc")


# Single issues


@routes("POST", _REPO + "/issues")
def create(call: Call) -> Reply:
    """A new issue; labels and assignees of callers without triage are dropped silently."""
    by = call.need(Role.READ, "issues")
    trusted = call.role >= Role.TRIAGE
    made = issues.create(
        call.state,
        call.repo,
        by=by,
        title=call.text("title", "Issue"),
        body=call.text("body", "Issue", default=""),
        labels=call.names("labels") if trusted else (),
        assignees=call.names("assignees") if trusted else (),
    )
    shown = shapes.issue(call.state, call.repo, made)
    return Reply(status=201, body=shown, headers={"Location": shown["url"]})


@routes("GET", _ISSUE)
def get(call: Call) -> Reply:
    """One issue or pull request."""
    issue = call.issue()
    return Reply(body=shapes.issue(call.state, call.repo, issue))


@routes("PATCH", _ISSUE)
def change(call: Call) -> Reply:
    """Title, body, state, labels, assignees; each only where it is given."""
    issue, state = call.issue(), call.state
    by = call.need(Role.READ, _area(issue))
    if call.role < Role.TRIAGE and by.lower() != issue.user.lower():
        raise Refusal(403, f"Must have triage access to {call.repo.full_name}.")
    if call.given("title"):
        issues.retitle(state, issue, by, call.text("title", "Issue"))
    if "body" in (call.body or {}):
        issues.rewrite(state, issue, by, call.text("body", "Issue", default=""))
    if call.role >= Role.TRIAGE:
        _change_marks(call, issue, by)
    match call.text("state", "Issue", default="") if call.given("state") else "":
        case "closed":
            issues.close(state, issue, by, reason=_reason(call))
        case "open":
            issues.reopen(state, issue, by)
        case "":
            pass
        case _:
            raise invalid("Issue", "state", "invalid")
    return Reply(body=shapes.issue(state, call.repo, issue))


def _change_marks(call: Call, issue: Issue, by: str) -> None:
    """Labels and assignees of a PATCH, which replaces them."""
    if isinstance(call.body, dict) and call.body.get("labels") is not None:
        issues.replace_labels(call.state, call.repo, issue, by, call.names("labels"))
    if isinstance(call.body, dict) and call.body.get("assignees") is not None:
        wanted = call.names("assignees")
        for login in wanted:
            if not issues.assignable(call.repo, issue, login):
                raise invalid("Issue", "assignees", "invalid", value=login)
        gone = [it for it in issue.assignees if it.lower() not in {n.lower() for n in wanted}]
        issues.unassign(call.state, issue, by, gone)
        issues.assign(call.state, call.repo, issue, by, wanted)


def _reason(call: Call) -> Reason | None:
    word = call.text("state_reason", "Issue", default="") if call.given("state_reason") else ""
    if not word:
        return None
    reason = next((it for it in _REASONS if it == word), None)
    if reason is None:
        raise invalid("Issue", "state_reason", "invalid")
    return reason


# Labels of an issue


def _labels(call: Call, issue: Issue) -> Reply:
    return call.page(issue.labels, lambda it: shapes.label(call.state, call.repo, it))


@routes("GET", _ISSUE + "/labels")
def labels(call: Call) -> Reply:
    """The labels that are on."""
    return _labels(call, call.issue())


@routes("POST", _ISSUE + "/labels")
def add_labels(call: Call) -> Reply:
    """Put labels on beside the others."""
    issue = call.issue()
    by = call.need(Role.TRIAGE, _area(issue))
    issues.add_labels(call.state, call.repo, issue, by, call.names("labels"))
    return _labels(call, issue)


@routes("PUT", _ISSUE + "/labels")
def replace_labels(call: Call) -> Reply:
    """Make the labels exactly these."""
    issue = call.issue()
    by = call.need(Role.TRIAGE, _area(issue))
    issues.replace_labels(call.state, call.repo, issue, by, call.names("labels"))
    return _labels(call, issue)


@routes("DELETE", _ISSUE + "/labels")
def clear_labels(call: Call) -> Reply:
    """Take all labels off."""
    issue = call.issue()
    issues.replace_labels(call.state, call.repo, issue, call.need(Role.TRIAGE, _area(issue)), [])
    return Reply(status=204)


@routes("DELETE", _ISSUE + "/labels/{name:path}")
def remove_label(call: Call) -> Reply:
    """Take one label off."""
    issue = call.issue()
    by = call.need(Role.TRIAGE, _area(issue))
    issues.remove_label(call.state, issue, by, call.params["name"])
    return _labels(call, issue)


# Assignees


@routes("POST", _ISSUE + "/assignees")
def assign(call: Call) -> Reply:
    """Assign up to ten; who can't be assigned, or a caller without push, is silently ignored."""
    issue = call.issue()
    by = call.need(Role.READ, _area(issue))
    if call.role >= Role.WRITE:
        known = [it for it in call.names("assignees") if it.lower() in call.state.users]
        issues.assign(call.state, call.repo, issue, by, known[:10])
    return Reply(status=201, body=shapes.issue(call.state, call.repo, issue))


@routes("DELETE", _ISSUE + "/assignees")
def unassign(call: Call) -> Reply:
    """Take assignees off."""
    issue = call.issue()
    by = call.need(Role.READ, _area(issue))
    if call.role >= Role.WRITE:
        issues.unassign(call.state, issue, by, call.names("assignees"))
    return Reply(body=shapes.issue(call.state, call.repo, issue))
