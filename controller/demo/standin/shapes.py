"""The JSON of issues, labels, comments and events, as GitHub's API writes it.

Called by the routes, with the state's lock held. Keys that GitHub requires are all there; what the
stand-in has no notion of is null, zero or false.
"""

from controller.demo.standin.shapes_repo import api, association, node_id, person, repository, web
from controller.demo.standin.state import State, stamp
from controller.demo.standin.values import Comment, Event, Issue, Json, Label, Repo

_REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket")


def label(state: State, repo: Repo, shown: Label) -> Json:
    """A label."""
    return {
        "id": shown.id,
        "node_id": node_id("Label", shown.id),
        "url": api(state, repo, f"/labels/{shown.name}"),
        "name": shown.name,
        "color": shown.color,
        "default": False,
        "description": shown.description,
    }


def _reactions(url: str) -> Json:
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(_REACTIONS, 0)}


def issue_html(state: State, repo: Repo, issue: Issue) -> str:
    """Where a person looks at an issue or pull request."""
    return web(state, repo, f"/{'pull' if issue.pull else 'issues'}/{issue.number}")


def issue(state: State, repo: Repo, shown: Issue, *, viewer: str | None = None) -> Json:
    """An issue; with `viewer` also its repository, as the lists across repositories have it."""
    url = api(state, repo, f"/issues/{shown.number}")
    html = issue_html(state, repo, shown)
    people = [person(state, login) for login in shown.assignees]
    made: Json = {
        "id": shown.id,
        "node_id": node_id("Issue", shown.id),
        "url": url,
        "repository_url": api(state, repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": html,
        "number": shown.number,
        "state": shown.state,
        "state_reason": shown.state_reason,
        "title": shown.title,
        "body": shown.body,
        "user": person(state, shown.user),
        "labels": [label(state, repo, it) for it in shown.labels],
        "assignee": people[0] if people else None,
        "assignees": people,
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": len(shown.comments),
        "created_at": stamp(shown.created_at),
        "updated_at": stamp(shown.updated_at),
        "closed_at": None if shown.closed_at is None else stamp(shown.closed_at),
        "closed_by": None if shown.closed_by is None else person(state, shown.closed_by),
        "author_association": association(repo, shown.user),
        "reactions": _reactions(url),
        "performed_via_github_app": None,
    }
    if shown.pull is not None:
        merged = shown.pull.merged_at
        made["draft"] = shown.pull.draft
        made["pull_request"] = {
            "url": api(state, repo, f"/pulls/{shown.number}"),
            "html_url": html,
            "diff_url": f"{html}.diff",
            "patch_url": f"{html}.patch",
            "merged_at": None if merged is None else stamp(merged),
        }
    if viewer is not None:
        made["repository"] = repository(state, repo, viewer)
    return made


def comment(state: State, repo: Repo, issue: Issue, shown: Comment) -> Json:
    """A comment."""
    url = api(state, repo, f"/issues/comments/{shown.id}")
    return {
        "id": shown.id,
        "node_id": node_id("IssueComment", shown.id),
        "url": url,
        "html_url": f"{issue_html(state, repo, issue)}#issuecomment-{shown.id}",
        "issue_url": api(state, repo, f"/issues/{issue.number}"),
        "user": person(state, shown.user),
        "created_at": stamp(shown.created_at),
        "updated_at": stamp(shown.updated_at),
        "body": shown.body,
        "author_association": association(repo, shown.user),
        "reactions": _reactions(url),
        "performed_via_github_app": None,
    }


def event(state: State, repo: Repo, shown: Event) -> Json:
    """An event of an issue, as both the events list and the timeline write it."""
    commit = shown.commit_id
    detail = dict(shown.detail)
    if "assignee" in detail:
        detail["assignee"] = person(state, detail["assignee"])
        detail["assigner"] = person(state, shown.actor)
    return {
        "id": shown.id,
        "node_id": node_id("Event", shown.id),
        "url": api(state, repo, f"/issues/events/{shown.id}"),
        "actor": person(state, shown.actor),
        "event": shown.event,
        "commit_id": commit,
        "commit_url": None if commit is None else api(state, repo, f"/commits/{commit}"),
        "created_at": stamp(shown.created_at),
        **detail,
        "performed_via_github_app": None,
    }
