"""API: comments, events and the timeline of issues and pull requests."""

from controller.demo.standin import issues, pulls, shapes, shapes_git, shapes_pulls
from controller.demo.standin.accounts import Role
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.state import Refusal, not_found, stamp
from controller.demo.standin.values import Comment, Event, Issue, Json, Review

routes = Routes()
_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{number:int}"


def _area(issue: Issue) -> str:
    return "issues" if issue.pull is None else "pull_requests"


@routes("GET", _ISSUE + "/comments")
def comments(call: Call) -> Reply:
    """The comments of an issue, oldest first."""
    issue = call.issue()
    since = call.query.get("since", "")
    listed = [it for it in issue.comments if stamp(it.updated_at) >= since]
    return call.page(listed, lambda it: shapes.comment(call.state, call.repo, issue, it))


@routes("POST", _ISSUE + "/comments")
def comment(call: Call) -> Reply:
    """A new comment; reading is enough of a right."""
    issue = call.issue()
    by = call.need(Role.READ, _area(issue))
    body = call.text("body", "IssueComment")
    made = issues.comment(call.state, issue, by, body)
    shown = shapes.comment(call.state, call.repo, issue, made)
    return Reply(status=201, body=shown, headers={"Location": shown["url"]})


@routes("GET", _REPO + "/issues/comments")
def all_comments(call: Call) -> Reply:
    """The comments of all issues of a repository."""
    call.look("issues")
    since = call.query.get("since", "")
    found = [
        (issue, made)
        for issue in call.repo.issues.values()
        for made in issue.comments
        if stamp(made.updated_at) >= since
    ]
    newest = call.query.get("direction") == "desc"
    found.sort(key=lambda it: it[1].id, reverse=newest)
    return call.page(found, lambda it: shapes.comment(call.state, call.repo, *it))


def _comment(call: Call) -> tuple[Issue, Comment]:
    found = call.repo.comment(call.params["id"])
    if found is None:
        raise not_found()
    call.look(_area(found[0]))
    return found


@routes("GET", _REPO + "/issues/comments/{id:int}")
def get(call: Call) -> Reply:
    """One comment."""
    return Reply(body=shapes.comment(call.state, call.repo, *_comment(call)))


def _own(call: Call, issue: Issue, made: Comment) -> str:
    by = call.need(Role.READ, _area(issue))
    if by.lower() != made.user.lower() and call.role < Role.WRITE:
        raise Refusal(403, "Must have push access to edit comments of others.")
    return by


@routes("PATCH", _REPO + "/issues/comments/{id:int}")
def edit(call: Call) -> Reply:
    """Change a comment: one's own, or any with the right to push."""
    issue, made = _comment(call)
    by = _own(call, issue, made)
    issues.edit_comment(call.state, issue, made, by, call.text("body", "IssueComment"))
    return Reply(body=shapes.comment(call.state, call.repo, issue, made))


@routes("DELETE", _REPO + "/issues/comments/{id:int}")
def delete(call: Call) -> Reply:
    """Delete a comment: one's own, or any with the right to push."""
    issue, made = _comment(call)
    _own(call, issue, made)
    issues.delete_comment(call.state, issue, made)
    return Reply(status=204)


@routes("GET", _ISSUE + "/events")
def events(call: Call) -> Reply:
    """What happened to an issue, oldest first; comments are not among it."""
    issue = call.issue()
    return call.page(issue.events, lambda it: shapes.event(call.state, call.repo, it))


@routes("GET", _REPO + "/issues/events")
def all_events(call: Call) -> Reply:
    """What happened to all issues of a repository, newest first."""
    call.look("issues")
    pairs = [(issue, it) for issue in call.repo.issues.values() for it in issue.events]
    pairs.sort(key=lambda pair: pair[1].id, reverse=True)

    def shape(pair: tuple[Issue, Event]) -> Json:
        issue, made = pair
        shown = shapes.event(call.state, call.repo, made)
        return {**shown, "issue": shapes.issue(call.state, call.repo, issue)}

    return call.page(pairs, shape)


@routes("GET", _ISSUE + "/timeline")
def timeline(call: Call) -> Reply:
    """Events, comments, commits and reviews of an issue, oldest first."""
    issue, state, repo = call.issue(), call.state, call.repo
    entries: list[tuple[int, int, Json]] = [
        (made.created_at, made.order, shapes.event(state, repo, made)) for made in issue.events
    ]
    for made in issue.comments:
        shown = shapes.comment(state, repo, issue, made)
        shown |= {"event": "commented", "actor": shown["user"]}
        entries.append((made.created_at, made.order, shown))
    if issue.pull is not None:
        commits = pulls.extent(state, repo, issue.pull)[0]
        entries += [(issue.created_at, 0, shapes_git.committed(state, repo, it)) for it in commits]
        entries += [
            (it.submitted_at, it.order, _reviewed(call, issue, it)) for it in issue.pull.reviews
        ]
    entries.sort(key=lambda entry: entry[:2])
    return call.page(entries, lambda entry: entry[2])


def _reviewed(call: Call, issue: Issue, made: Review) -> Json:
    shown = shapes_pulls.review(call.state, call.repo, issue, made)
    return {**shown, "event": "reviewed", "state": made.state.lower()}
