"""Deviations from GitHub's description that are right, each with the reason why.

Read by `tests.openapi.judged` and the tour of all operations; the latter fails when a waiver covers
nothing any more. The numbers W1 to W6 follow the comparison of the description with recordings of
the real GitHub.
"""

from tests.openapi.checker import Waiver

_REPO = r"/repos/\{owner\}/\{repo\}"

WAIVERS: tuple[Waiver, ...] = (
    Waiver(  # W1
        operation=rf"(POST|PUT) {_REPO}/issues/\{{issue_number\}}/labels",
        message=r"request: \$ \[.*\] is not valid under any of the given schemas",
        reason="a bare list of names, as PyGithub sends it; the description's own text allows it "
        "and recordings show 200",
    ),
    Waiver(  # W2
        operation=rf"GET (/rate_limit|/users/.*|{_REPO}(/.*)?|/app)",
        message="response: status 304 is not described",
        reason="the real GitHub answers conditional requests so on every GET; the description "
        "lists it for a few only",
    ),
    Waiver(  # W3
        operation=rf"GET {_REPO}/(collaborators/\{{username\}}|pulls/\{{pull_number\}}/merge)",
        message="response 404: a body where none is described",
        reason="recordings show the usual error body",
    ),
    Waiver(  # W3
        operation=rf"DELETE {_REPO}/git/refs/\{{ref\}}",
        message="response 422: a body where none is described",
        reason="recordings show the usual error body",
    ),
    Waiver(  # W4
        operation=".*",
        message=r"response: status (301|307|400|401|403|404) is not described",
        reason="GitHub's pages on errors, redirects and permissions name them for every operation; "
        "the description lists them for some only",
    ),
    Waiver(
        operation="GET /app/installations",
        message=r"response 200: \$\[\]\.account '(created_at|name|slug|updated_at)' is a required "
        "property",
        reason="the list wants the account to be a user and an enterprise at once; for a single "
        "installation the description has it as either",
    ),
    Waiver(  # W5
        operation="POST /graphql",
        message="no such operation in the description",
        reason="not a REST operation; checked by GitHub's own GraphQL schema instead",
    ),
)
