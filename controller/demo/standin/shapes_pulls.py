"""The JSON of pull requests and reviews.

Called by the routes, with the state's lock held.
"""

from controller.demo.standin import pulls
from controller.demo.standin.shapes import issue_html, label
from controller.demo.standin.shapes_repo import api, association, node_id, person, repository
from controller.demo.standin.state import State, stamp
from controller.demo.standin.values import Issue, Json, Pull, Repo, Review


def _side(state: State, repo: Repo, name: str, sha: str, viewer: str | None) -> Json:
    return {
        "label": f"{repo.owner}:{name}",
        "ref": name,
        "sha": sha,
        "user": person(state, repo.owner),
        "repo": repository(state, repo, viewer),
    }


def pull_simple(state: State, repo: Repo, issue: Issue, shown: Pull, viewer: str | None) -> Json:
    """A pull request as lists have it."""
    url = api(state, repo, f"/pulls/{issue.number}")
    issue_url = api(state, repo, f"/issues/{issue.number}")
    html = issue_html(state, repo, issue)
    links = {
        "comments_url": f"{issue_url}/comments",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{api(state, repo)}/pulls/comments{{/number}}",
        "commits_url": f"{url}/commits",
        "statuses_url": api(state, repo, f"/statuses/{shown.head_sha}"),
    }
    people = [person(state, login) for login in issue.assignees]
    return {
        "id": shown.id,
        "node_id": node_id("PullRequest", shown.id),
        "url": url,
        "html_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "issue_url": issue_url,
        **links,
        "number": issue.number,
        "state": issue.state,
        "locked": False,
        "active_lock_reason": None,
        "title": issue.title,
        "body": issue.body,
        "user": person(state, issue.user),
        "labels": [label(state, repo, it) for it in issue.labels],
        "assignee": people[0] if people else None,
        "assignees": people,
        "requested_reviewers": [],
        "requested_teams": [],
        "milestone": None,
        "created_at": stamp(issue.created_at),
        "updated_at": stamp(issue.updated_at),
        "closed_at": None if issue.closed_at is None else stamp(issue.closed_at),
        "merged_at": None if shown.merged_at is None else stamp(shown.merged_at),
        "merge_commit_sha": shown.merge_commit_sha,
        "draft": shown.draft,
        "head": _side(state, repo, shown.head, shown.head_sha, viewer),
        "base": _side(state, repo, shown.base, shown.base_sha, viewer),
        "author_association": association(repo, issue.user),
        "auto_merge": None,
        "_links": {
            "self": {"href": url},
            "html": {"href": html},
            "issue": {"href": issue_url},
            "comments": {"href": links["comments_url"]},
            "review_comments": {"href": links["review_comments_url"]},
            "review_comment": {"href": links["review_comment_url"]},
            "commits": {"href": links["commits_url"]},
            "statuses": {"href": links["statuses_url"]},
        },
    }


def pull(
    state: State,
    repo: Repo,
    issue: Issue,
    shown: Pull,
    viewer: str | None,
    *,
    ask: bool = True,
) -> Json:
    """A pull request by itself. `ask` counts as the question that starts the merge check."""
    commits, files = pulls.extent(state, repo, shown)
    clean = pulls.mergeable(state, repo, issue, shown) if ask else None
    word = {None: "unknown", True: "draft" if shown.draft else "clean", False: "dirty"}[clean]
    return {
        **pull_simple(state, repo, issue, shown, viewer),
        "merged": shown.merged_at is not None,
        "mergeable": clean,
        "rebaseable": clean,
        "mergeable_state": word,
        "merged_by": None if shown.merged_by is None else person(state, shown.merged_by),
        "comments": len(issue.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": len(commits),
        "additions": sum(it.additions for it in files),
        "deletions": sum(it.deletions for it in files),
        "changed_files": len(files),
    }


def review(state: State, repo: Repo, issue: Issue, shown: Review) -> Json:
    """A review."""
    html = f"{issue_html(state, repo, issue)}#pullrequestreview-{shown.id}"
    url = api(state, repo, f"/pulls/{issue.number}")
    return {
        "id": shown.id,
        "node_id": node_id("PullRequestReview", shown.id),
        "user": person(state, shown.user),
        "body": shown.body,
        "state": shown.state,
        "html_url": html,
        "pull_request_url": url,
        "author_association": association(repo, shown.user),
        "_links": {"html": {"href": html}, "pull_request": {"href": url}},
        "submitted_at": stamp(shown.submitted_at),
        "commit_id": shown.commit_id,
    }
