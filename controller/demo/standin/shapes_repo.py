"""The JSON of people and repositories, as GitHub's API writes it, and the addresses in it.

Called by the routes and by the other shapes, with the state's lock held. Keys that GitHub requires
are all there; what the stand-in has no notion of is null, zero or false.
"""

import base64

from controller.demo.standin.accounts import Role, User
from controller.demo.standin.state import State, stamp
from controller.demo.standin.values import Json, Repo

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPO_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def node_id(kind: str, number: int | str) -> str:
    """An opaque global id."""
    return base64.urlsafe_b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")


def api(state: State, repo: Repo, rest: str = "") -> str:
    """The API address of a repository or of something below it."""
    return f"{state.base_url}/repos/{repo.full_name}{rest}"


def web(state: State, repo: Repo, rest: str = "") -> str:
    """The address a person would open."""
    return f"{state.base_url}/{repo.full_name}{rest}"


def person(state: State, login: str) -> Json:
    """A user as it stands inside other records."""
    user = state.user(login)
    url = f"{state.base_url}/users/{user.login}"
    return {
        "login": user.login,
        "id": user.id,
        "node_id": node_id("User", user.id),
        "avatar_url": f"{state.base_url}/avatars/{user.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{state.base_url}/{user.login}",
        **{key: url + rest for key, rest in _USER_LINKS.items()},
        "type": user.kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def profile(state: State, user: User, *, own: bool) -> Json:
    """A user by itself; `own` adds what only the user sees."""
    repos = [repo for repo in state.repos.values() if repo.owner == user.login]
    private = sum(repo.private for repo in repos)
    shown = {
        **person(state, user.login),
        "name": user.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": user.email if own else None,
        "hireable": None,
        "bio": None,
        "public_repos": len(repos) - private,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": stamp(user.created_at),
        "updated_at": stamp(user.created_at),
    }
    if own:
        shown |= {
            "user_view_type": "private",
            "private_gists": 0,
            "total_private_repos": private,
            "owned_private_repos": private,
            "disk_usage": 0,
            "collaborators": 0,
            "two_factor_authentication": True,
        }
    return shown


def repository(state: State, repo: Repo, viewer: str | None, *, full: bool = False) -> Json:
    """A repository as `viewer` sees it; `full` adds what only the single record has."""
    issues_open = sum(issue.state == "open" for issue in repo.issues.values())
    url, html = api(state, repo), web(state, repo)
    shown: Json = {
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "owner": person(state, repo.owner),
        "html_url": html,
        "description": repo.description,
        "fork": False,
        "url": url,
        **{key: url + rest for key, rest in _REPO_LINKS.items()},
        "git_url": f"git://{html.partition('://')[2]}.git",
        "ssh_url": f"git@{state.base_url.partition('://')[2]}:{repo.full_name}.git",
        "clone_url": f"{html}.git",
        "svn_url": html,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "size": 0,
        "default_branch": repo.default_branch,
        "visibility": "private" if repo.private else "public",
        "created_at": stamp(repo.created_at),
        "updated_at": stamp(repo.pushed_at),
        "pushed_at": stamp(repo.pushed_at),
        **dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers"), 0),
        "watchers_count": 0,
        "open_issues": issues_open,
        "open_issues_count": issues_open,
        **dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "disabled"), False),
        "archived": repo.archived,
        "is_template": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "topics": [],
    }
    if viewer is not None:
        shown["permissions"] = permissions(repo.role(viewer))
    if full:
        shown |= {
            "network_count": 0,
            "subscribers_count": 0,
            "allow_merge_commit": True,
            "allow_squash_merge": True,
            "allow_rebase_merge": False,
        }
    return shown


def permissions(role: Role) -> Json:
    """The five flags of a role."""
    return {
        "admin": role >= Role.ADMIN,
        "maintain": role >= Role.MAINTAIN,
        "push": role >= Role.WRITE,
        "triage": role >= Role.TRIAGE,
        "pull": role >= Role.READ,
    }


def association(repo: Repo, login: str) -> str:
    """How `login` is related to the repository."""
    if login.lower() == repo.owner.lower():
        return "OWNER"
    if login.lower() in repo.collaborators:
        return "COLLABORATOR"
    merged = any(it.user == login and pull.merged_at is not None for it, pull in repo.pulls())
    return "CONTRIBUTOR" if merged else "NONE"
