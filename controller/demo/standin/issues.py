"""What can happen to an issue (or to a pull request as an issue), with its traces.

Called by the API routes and by `World`, with the state's lock held. Every change leaves what GitHub
leaves: an event, a new ``updated_at``, an entry among the edits. Permissions are up to the callers.
"""

from collections.abc import Iterable

from controller.demo.standin.accounts import Role
from controller.demo.standin.state import COMMENT_IDS, EVENT_IDS, Refusal, State, custom, invalid
from controller.demo.standin.values import (
    BODY_LIMIT,
    Comment,
    Edit,
    Event,
    Issue,
    Json,
    Label,
    Reason,
    Repo,
    unique,
)


def record(
    state: State,
    issue: Issue,
    event: str,
    by: str,
    *,
    commit_id: str | None = None,
    **detail: object,
) -> Event:
    """Append an event and touch the issue."""
    made = Event(
        id=state.next_id(EVENT_IDS),
        event=event,
        actor=state.user(by).login,
        created_at=state.now(),
        order=state.next_id(),
        commit_id=commit_id,
        detail=dict(detail),
    )
    issue.events.append(made)
    issue.updated_at = made.created_at
    return made


def create(
    state: State,
    repo: Repo,
    *,
    by: str,
    title: str,
    body: str | None = None,
    labels: Iterable[str] = (),
    assignees: Iterable[str] = (),
) -> Issue:
    """A new issue; its labels are also recorded as ``labeled`` events."""
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    check_body("Issue", body)
    people = list(assignees)
    for login in people:
        if not assignable(repo, None, login):
            raise invalid("Issue", "assignees", "invalid", value=login)
    issue = Issue(
        id=state.next_id(),
        number=repo.next_number,
        title=title,
        body=body,
        user=state.user(by).login,
        created_at=state.now(),
        updated_at=state.now(),
    )
    repo.next_number += 1
    repo.issues[issue.number] = issue
    add_labels(state, repo, issue, by, labels)
    assign(state, repo, issue, by, people)
    return issue


def check_body(resource: str, body: str | None) -> None:
    """Refuse a body that is too long."""
    if body is None or len(body) <= BODY_LIMIT:
        return
    if resource == "IssueComment":
        message = f"Body is too long (maximum is {BODY_LIMIT} characters)"
        raise invalid(resource, "data", "unprocessable", message=message)
    message = f"body is too long (maximum is {BODY_LIMIT} characters)"
    raise invalid(resource, "body", "custom", message=message)


def retitle(state: State, issue: Issue, by: str, title: str) -> None:
    """Give the issue another title."""
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    if title != issue.title:
        record(state, issue, "renamed", by, rename={"from": issue.title, "to": title})
        issue.title = title


def rewrite(state: State, issue: Issue, by: str, body: str | None) -> None:
    """Edit the body. The first edit also records the text as it was created."""
    check_body("Issue", body)
    if body == issue.body:
        return
    _edited(state, issue.edits, by, issue.user, issue.created_at, issue.body, body)
    issue.body = body
    issue.updated_at = state.now()


def _edited(  # noqa: PLR0917 - both versions with their authors
    state: State,
    edits: list[Edit],
    by: str,
    author: str,
    created_at: int,
    old: str | None,
    new: str | None,
) -> None:
    if not edits:
        edits.append(Edit(id=state.next_id(), at=created_at, editor=author, body=old or ""))
    editor = state.user(by).login
    edits.append(Edit(id=state.next_id(), at=state.now(), editor=editor, body=new or ""))


def close(
    state: State,
    issue: Issue,
    by: str,
    *,
    reason: Reason | None = None,
    commit_id: str | None = None,
) -> None:
    """Close; a closed issue is left alone apart from its reason."""
    if reason is None and issue.pull is None:
        reason = issue.state_reason if issue.state == "closed" else "completed"
    if issue.state == "open":
        record(state, issue, "closed", by, commit_id=commit_id, state_reason=reason)
        issue.state = "closed"
        issue.closed_at = state.now()
        issue.closed_by = state.user(by).login
    issue.state_reason = reason


def reopen(state: State, issue: Issue, by: str) -> None:
    """Open again; an open issue is left alone."""
    if issue.state == "open":
        return
    if issue.pull is not None and issue.pull.merged_at is not None:
        raise invalid("PullRequest", "state", "invalid")
    issue.state = "open"
    issue.state_reason = None if issue.pull else "reopened"
    issue.closed_at = issue.closed_by = None
    record(state, issue, "reopened", by, state_reason=None)


# Labels


def define_label(
    state: State,
    repo: Repo,
    name: str,
    *,
    color: str = "ededed",
    description: str | None = None,
) -> Label:
    """A new label of the repository; Refusal 422 when the name exists in any case."""
    if not name.strip():
        raise invalid("Label", "name", "missing_field")
    if repo.label(name) is not None:
        raise invalid("Label", "name", "already_exists")
    if len(color) != 6 or set(color.lower()) - set("0123456789abcdef"):  # noqa: PLR2004 - RRGGBB
        raise invalid("Label", "color", "invalid")
    label = Label(id=state.next_id(), name=name, color=color, description=description)
    repo.labels.append(label)
    return label


def edit_label(
    repo: Repo, label: Label, name: str | None, color: str | None, description: str | None
) -> None:
    """Change a label everywhere it is used."""
    if name is not None and name.lower() != label.name.lower() and repo.label(name) is not None:
        raise invalid("Label", "name", "already_exists")
    label.name = label.name if name is None else name
    label.color = label.color if color is None else color
    label.description = label.description if description is None else description


def drop_label(state: State, repo: Repo, label: Label, by: str) -> None:
    """Delete a label from the repository and from every issue."""
    for issue in repo.issues.values():
        if label in issue.labels:
            remove_label(state, issue, by, label.name)
    repo.labels.remove(label)


def add_labels(state: State, repo: Repo, issue: Issue, by: str, names: Iterable[str]) -> None:
    """Put labels on; unknown names are created, a known name keeps its stored spelling."""
    for name in unique(names):
        label = repo.label(name) or define_label(state, repo, name)
        if label not in issue.labels:
            issue.labels.append(label)
            record(state, issue, "labeled", by, label=_shown(label))


def remove_label(state: State, issue: Issue, by: str, name: str) -> None:
    """Take a label off; Refusal 404 when it is not on."""
    for label in issue.labels:
        if label.name.lower() == name.lower():
            issue.labels.remove(label)
            record(state, issue, "unlabeled", by, label=_shown(label))
            return
    raise Refusal(404, "Label does not exist")


def replace_labels(state: State, repo: Repo, issue: Issue, by: str, names: Iterable[str]) -> None:
    """Make the labels exactly these."""
    wanted = unique(names)
    for label in list(issue.labels):
        if label.name.lower() not in {name.lower() for name in wanted}:
            remove_label(state, issue, by, label.name)
    add_labels(state, repo, issue, by, wanted)


def _shown(label: Label) -> Json:
    return {"name": label.name, "color": label.color}


# Assignees


def assignable(repo: Repo, issue: Issue | None, login: str) -> bool:
    """Whether `login` may be assigned: a member of the repository, or has commented here."""
    if login.lower() == repo.owner.lower() or login.lower() in repo.collaborators:
        return repo.role(login) > Role.NONE
    commented = [] if issue is None else issue.comments
    return any(comment.user.lower() == login.lower() for comment in commented)


def assign(state: State, repo: Repo, issue: Issue, by: str, logins: Iterable[str]) -> None:
    """Assign whom it is possible to assign; the others are dropped without a word."""
    for login in unique(logins):
        known = login.lower() in {name.lower() for name in issue.assignees}
        if not known and assignable(repo, issue, login):
            user = state.user(login).login
            issue.assignees.append(user)
            record(state, issue, "assigned", by, assignee=user)


def unassign(state: State, issue: Issue, by: str, logins: Iterable[str]) -> None:
    """Take assignees off; who is not assigned is ignored."""
    wanted = {login.lower() for login in logins}
    for user in [name for name in issue.assignees if name.lower() in wanted]:
        issue.assignees.remove(user)
        record(state, issue, "unassigned", by, assignee=user)


# Comments


def comment(state: State, issue: Issue, by: str, body: str) -> Comment:
    """A new comment."""
    check_comment(body)
    made = Comment(
        id=state.next_id(COMMENT_IDS),
        number=issue.number,
        user=state.user(by).login,
        body=body,
        created_at=state.now(),
        updated_at=state.now(),
        order=state.next_id(),
    )
    issue.comments.append(made)
    issue.updated_at = made.created_at
    return made


def edit_comment(state: State, issue: Issue, comment: Comment, by: str, body: str) -> None:
    """Change a comment's text."""
    check_comment(body)
    _edited(state, comment.edits, by, comment.user, comment.created_at, comment.body, body)
    comment.body = body
    comment.updated_at = issue.updated_at = state.now()


def delete_comment(state: State, issue: Issue, comment: Comment) -> None:
    """Remove a comment; like GitHub's it leaves no trace in the timeline."""
    issue.comments.remove(comment)
    issue.updated_at = state.now()


def check_comment(body: str) -> None:
    """Refuse an empty or too long comment."""
    if not body.strip():
        raise custom("IssueComment", "Body cannot be blank")
    check_body("IssueComment", body)
