"""API: the caller, users, repositories, collaborators, labels of a repository, limits."""

from controller.demo.standin import issues, shapes, shapes_repo
from controller.demo.standin.accounts import Role
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.state import Refusal, not_found
from controller.demo.standin.values import Json, Label, Repo

routes = Routes()
_REPO = "/repos/{owner}/{repo}"


@routes("GET", "/user", users_only=True)
def me(call: Call) -> Reply:
    """The caller."""
    user = call.state.user(call.me.login)
    return Reply(body=shapes_repo.profile(call.state, user, own=True))


@routes("GET", "/users/{login}")
def user(call: Call) -> Reply:
    """Anybody."""
    found = call.state.user(call.params["login"])
    return Reply(body=shapes_repo.profile(call.state, found, own=False))


def _repos(call: Call, repos: list[Repo]) -> Reply:
    keys = {
        "full_name": lambda it: it.full_name.lower(),
        "created": lambda it: (it.created_at, it.id),
        "updated": lambda it: (it.pushed_at, it.id),
        "pushed": lambda it: (it.pushed_at, it.id),
    }
    sort = call.query.get("sort", "full_name")
    key = keys.get(sort, keys["full_name"])
    downward = call.query.get("direction", "asc" if sort == "full_name" else "desc") == "desc"
    ordered = sorted(repos, key=key, reverse=downward)
    return call.page(ordered, lambda it: shapes_repo.repository(call.state, it, call.login))


@routes("GET", "/user/repos", users_only=True)
def my_repos(call: Call) -> Reply:
    """The repositories in which the caller has a role of its own."""
    mine = call.me.login.lower()
    wanted = call.query.get("affiliation", "owner,collaborator,organization_member").split(",")
    visibility = call.query.get("visibility", "all")
    if call.query.get("type") == "owner":
        wanted = ["owner"]
    return _repos(
        call,
        [
            repo
            for repo in call.state.member_repos(call.me)
            if ("owner" if repo.owner.lower() == mine else "collaborator") in wanted
            and visibility in {"all", "private" if repo.private else "public"}
        ],
    )


@routes("GET", "/users/{login}/repos")
def repos_of(call: Call) -> Reply:
    """The public repositories that a user owns."""
    owner = call.state.user(call.params["login"]).login
    repos = [it for it in call.state.repos.values() if it.owner == owner and not it.private]
    return _repos(call, repos)


@routes("GET", "/installation/repositories")
def installed(call: Call) -> Reply:
    """The repositories of an installation token."""
    if call.me.kind != "installation":
        raise Refusal(403, "You must authenticate with an installation access token in order to "
                           "list repositories for an installation.")  # fmt: skip
    repos = call.state.member_repos(call.me)
    rows, headers = call.slice(repos)
    body: Json = {
        "total_count": len(repos),
        "repository_selection": "all" if call.me.repositories is None else "selected",
        "repositories": [shapes_repo.repository(call.state, it, call.login) for it in rows],
    }
    return Reply(body=body, headers=headers)


@routes("GET", _REPO)
def repo(call: Call) -> Reply:
    """One repository."""
    return Reply(body=shapes_repo.repository(call.state, call.repo, call.login, full=True))


@routes("GET", "/rate_limit")
def rate_limit(call: Call) -> Reply:
    """How much of the limits is left; asking costs nothing."""
    limit, used, reset = call.state.allowance(call.login)
    core = {"limit": limit, "used": used, "remaining": max(limit - used, 0), "reset": reset}
    search = {"limit": 30, "used": 0, "remaining": 30, "reset": reset}
    return Reply(
        body={"resources": {"core": core, "search": search, "graphql": core}, "rate": core}
    )


# Collaborators and assignable people


def _members(repo: Repo) -> list[str]:
    return [repo.owner.lower(), *(login for login in repo.collaborators if login != repo.owner)]


@routes("GET", _REPO + "/collaborators")
def collaborators(call: Call) -> Reply:
    """Everybody with a role of its own; only for those who may push."""
    call.look("metadata")
    if call.me.login and call.role < Role.WRITE:
        raise Refusal(403, "Must have push access to view repository collaborators.")

    def shape(login: str) -> Json:
        role = call.repo.role(login)
        return {
            **shapes_repo.person(call.state, login),
            "permissions": shapes_repo.permissions(role),
            "role_name": role.word,
        }

    return call.page(_members(call.repo), shape)


@routes("GET", _REPO + "/collaborators/{login}")
def is_collaborator(call: Call) -> Reply:
    """204 for a collaborator, 404 otherwise."""
    if call.me.login and call.role < Role.WRITE:
        raise Refusal(403, "Must have push access to view repository collaborators.")
    if call.params["login"].lower() not in _members(call.repo):
        raise not_found()
    return Reply(status=204)


@routes("GET", _REPO + "/collaborators/{login}/permission")
def permission(call: Call) -> Reply:
    """What a user may do here: the legacy permission and the role."""
    call.look("metadata")
    if call.me.login and call.role < Role.READ:
        raise not_found()
    login = call.state.user(call.params["login"]).login
    role = call.repo.role(login)
    return Reply(
        body={
            "permission": role.permission,
            "role_name": role.word,
            "user": {
                **shapes_repo.person(call.state, login),
                "permissions": shapes_repo.permissions(role),
                "role_name": role.word,
            },
        }
    )


@routes("GET", _REPO + "/assignees")
def assignees(call: Call) -> Reply:
    """Everybody who may be assigned anywhere in the repository."""
    return call.page(_members(call.repo), lambda it: shapes_repo.person(call.state, it))


@routes("GET", _REPO + "/assignees/{login}")
def is_assignable(call: Call) -> Reply:
    """204 for somebody who may be assigned, 404 otherwise."""
    if not issues.assignable(call.repo, None, call.params["login"]):
        raise not_found()
    return Reply(status=204)


# Labels of the repository


def _label(call: Call) -> Label:
    found = call.repo.label(call.params["name"])
    if found is None:
        raise not_found()
    return found


def _shown(call: Call, label: Label) -> Json:
    return shapes.label(call.state, call.repo, label)


@routes("GET", _REPO + "/labels")
def labels(call: Call) -> Reply:
    """Every label."""
    ordered = sorted(call.repo.labels, key=lambda it: it.name.lower())
    return call.page(ordered, lambda it: _shown(call, it))


@routes("POST", _REPO + "/labels")
def create_label(call: Call) -> Reply:
    """A new label."""
    call.need(Role.TRIAGE, "issues")
    made = issues.define_label(
        call.state,
        call.repo,
        call.text("name", "Label"),
        color=call.text("color", "Label", default="ededed"),
        description=call.text("description", "Label", default="") or None,
    )
    shown = _shown(call, made)
    return Reply(status=201, body=shown, headers={"Location": shown["url"]})


@routes("GET", _REPO + "/labels/{name:path}")
def label(call: Call) -> Reply:
    """One label, whatever the case of its name."""
    return Reply(body=_shown(call, _label(call)))


@routes("PATCH", _REPO + "/labels/{name:path}")
def edit_label(call: Call) -> Reply:
    """Change name, colour or description."""
    call.need(Role.TRIAGE, "issues")
    found = _label(call)

    def given(name: str) -> str | None:
        return call.text(name, "Label") if call.given(name) else None

    issues.edit_label(call.repo, found, given("new_name"), given("color"), given("description"))
    return Reply(body=_shown(call, found))


@routes("DELETE", _REPO + "/labels/{name:path}")
def delete_label(call: Call) -> Reply:
    """Delete a label, from every issue too."""
    by = call.need(Role.WRITE, "issues")
    issues.drop_label(call.state, call.repo, _label(call), by)
    return Reply(status=204)
