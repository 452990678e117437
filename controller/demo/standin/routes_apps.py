"""API: what a GitHub App asks with its own signature, above all for an installation token."""

from controller.demo.standin import apps, shapes_repo
from controller.demo.standin.accounts import App, Installation
from controller.demo.standin.call import Call, Reply, Routes
from controller.demo.standin.state import Refusal, not_found, stamp
from controller.demo.standin.values import Json

routes = Routes()
_ONE = "/app/installations/{number:int}"


def _app(call: Call, app: App) -> Json:
    base = call.state.base_url
    return {
        "id": app.id,
        "slug": app.slug,
        "node_id": shapes_repo.node_id("App", app.id),
        "owner": shapes_repo.person(call.state, app.owner),
        "name": app.slug,
        "description": "",
        "external_url": f"{base}/apps/{app.slug}",
        "html_url": f"{base}/apps/{app.slug}",
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "permissions": app.permissions,
        "events": [],
        "installations_count": len(_installed(call, app)),
    }


def _installed(call: Call, app: App) -> list[Installation]:
    return [it for it in call.state.installations.values() if it.app_id == app.id]


def _installation(call: Call, app: App, shown: Installation) -> Json:
    base = call.state.base_url
    account = shapes_repo.person(call.state, shown.account)
    return {
        "id": shown.id,
        "account": account,
        "repository_selection": "all" if shown.repositories is None else "selected",
        "access_tokens_url": f"{base}/app/installations/{shown.id}/access_tokens",
        "repositories_url": f"{base}/installation/repositories",
        "html_url": f"{base}/settings/installations/{shown.id}",
        "app_id": app.id,
        "app_slug": app.slug,
        "target_id": account["id"],
        "target_type": account["type"],
        "permissions": app.permissions,
        "events": [],
        "created_at": stamp(shown.created_at),
        "updated_at": stamp(shown.created_at),
        "single_file_name": None,
        "suspended_by": None,
        "suspended_at": None,
    }


@routes("GET", "/app", by_app=True)
def me(call: Call) -> Reply:
    """The App."""
    return Reply(body=_app(call, call.app))


@routes("GET", "/app/installations", by_app=True)
def installations(call: Call) -> Reply:
    """Where the App is installed."""
    rows = _installed(call, call.app)
    return call.page(rows, lambda it: _installation(call, call.app, it))


@routes("GET", _ONE, by_app=True)
def one(call: Call) -> Reply:
    """One installation."""
    found = apps.installation(call.state, call.app, call.params["number"])
    return Reply(body=_installation(call, call.app, found))


@routes("POST", _ONE + "/access_tokens", by_app=True)
def access_token(call: Call) -> Reply:
    """A token of the installation, good for an hour."""
    found = apps.installation(call.state, call.app, call.params["number"])
    wanted = call.body.get("permissions") or {} if isinstance(call.body, dict) else {}
    if not isinstance(wanted, dict):
        raise Refusal(422, "Invalid request.\n\nFor 'properties/permissions', not an object.")
    made = apps.mint(call.state, call.app, found, call.names("repositories"), wanted)
    body: Json = {
        "token": made.token.value,
        "expires_at": stamp(made.token.expires_at or 0),
        "permissions": made.permissions,
        "repository_selection": "all" if made.token.repositories is None else "selected",
    }
    return Reply(status=201, body=body)


@routes("GET", "/repos/{owner}/{repo}/installation", by_app=True)
def of_repository(call: Call) -> Reply:
    """The installation that covers a repository."""
    for found in _installed(call, call.app):
        covers = found.repositories is None or call.repo.full_name in found.repositories
        if found.account == call.repo.owner and covers:
            return Reply(body=_installation(call, call.app, found))
    raise not_found()
