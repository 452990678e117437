"""Plain web pages of repositories, issues and pull requests, for people who follow a link.

Called by `front` through Starlette. Shows everything without a login, as the control plane does;
all text from outside is escaped, and the page may run and load nothing.
"""

from collections.abc import Callable, Iterator
from html import escape

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from controller.demo.standin import pulls
from controller.demo.standin.api import Adapter, encoded, refused
from controller.demo.standin.state import Refusal, State, stamp
from controller.demo.standin.values import Event, Issue, Pull, Repo

_HEADERS = {"Content-Security-Policy": "default-src 'none'"}


class Pages:
    """The pages of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[Route]:
        """Starlette routes."""
        base = "/{owner}/{repo}"
        return [
            Route(base, self._adapter(self._repository)),
            Route(base + "/issues/{number:int}", self._adapter(self._issue)),
            Route(base + "/pull/{number:int}", self._adapter(self._issue)),
            Route(base + "/pull/{number:int}.diff", self._adapter(self._diff)),
        ]

    def _adapter(self, page: Callable[[Repo, Request], Response]) -> Adapter:
        def locked(request: Request) -> Response:
            with self._state.lock:
                try:
                    params = request.path_params
                    return page(self._state.repo(f"{params['owner']}/{params['repo']}"), request)
                except Refusal as refusal:
                    content, media = encoded(refused(refusal))
                    return Response(content, refusal.status, media_type=media)

        async def adapter(request: Request) -> Response:
            return await run_in_threadpool(locked, request)

        return adapter

    def _repository(self, repo: Repo, _request: Request) -> Response:
        pulls.refresh(self._state, repo)
        rows = "".join(
            f'<li><a href="/{escape(_path(repo, issue))}">#{issue.number}</a> '
            f"{escape(issue.title)} ({escape(_summary(issue))})</li>"
            for issue in repo.issues.values()
        )
        heads = self._state.git(repo).refs()
        branches = "".join(
            f"<li>{escape(name.removeprefix('refs/heads/'))} <code>{sha}</code></li>"
            for name, sha in heads.items()
        )
        clone = escape(f"{self._state.base_url}/{repo.full_name}.git")
        body = (
            f"<p><code>git clone {clone}</code></p><h2>Issues and pull requests</h2>"
            f"<ul>{rows}</ul><h2>Branches</h2><ul>{branches}</ul>"
        )
        return _page(repo.full_name, body)

    def _issue(self, repo: Repo, request: Request) -> Response:
        pulls.refresh(self._state, repo)
        issue = self._find(repo, request)
        parts = [
            f'<p><a href="/{escape(repo.full_name)}">{escape(repo.full_name)}</a></p>',
            f"<p>{escape(_summary(issue))}</p>",
            f"<p>opened by {escape(issue.user)} at {stamp(issue.created_at)}</p>",
            f"<pre>{escape(issue.body or '')}</pre>",
        ]
        if issue.pull is not None:
            parts += self._pull(repo, issue, issue.pull)
        parts += [text for _, _, text in sorted(_history(issue))]
        return _page(f"{issue.title} #{issue.number}", "".join(parts))

    def _pull(self, repo: Repo, issue: Issue, pull: Pull) -> list[str]:
        commits, files = pulls.extent(self._state, repo, pull)
        changed = "".join(
            f"<li>{escape(it.path)} +{it.additions} -{it.deletions}</li>" for it in files
        )
        made = "".join(
            f"<li><code>{it.sha[:10]}</code> {escape(it.message.partition(chr(10))[0])}</li>"
            for it in commits
        )
        return [
            f"<p>{escape(pull.head)} into {escape(pull.base)}, head <code>{pull.head_sha}</code>, ",
            f'<a href="/{escape(_path(repo, issue))}.diff">diff</a></p>',
            f"<ul>{made}</ul><ul>{changed}</ul>",
        ]

    def _diff(self, repo: Repo, request: Request) -> Response:
        issue = self._find(repo, request)
        if issue.pull is None:
            raise Refusal(404, "Not Found")
        git = self._state.git(repo)
        start = git.merge_base(issue.pull.base_sha, issue.pull.head_sha) or git.empty_tree()
        return PlainTextResponse(git.diff_text(start, issue.pull.head_sha), headers=_HEADERS)

    @staticmethod
    def _find(repo: Repo, request: Request) -> Issue:
        issue = repo.issues.get(request.path_params["number"])
        if issue is None:
            raise Refusal(404, "Not Found")
        return issue


def _page(title: str, body: str) -> Response:
    shown = escape(title)
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{shown}</title>'
        f"<h1>{shown}</h1>{body}</html>\n",
        headers=_HEADERS,
    )


def _path(repo: Repo, issue: Issue) -> str:
    return f"{repo.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}"


def _summary(issue: Issue) -> str:
    merged = issue.pull is not None and issue.pull.merged_at is not None
    words: list[str] = ["merged" if merged else issue.state]
    words += [label.name for label in issue.labels]
    words += [f"@{login}" for login in issue.assignees]
    return ", ".join(words)


def _history(issue: Issue) -> Iterator[tuple[int, int, str]]:
    """Comments, reviews and events with their place in time."""
    for made in issue.comments:
        text = f"<h3>{escape(made.user)} at {stamp(made.created_at)}</h3>"
        yield made.created_at, made.order, f"{text}<pre>{escape(made.body)}</pre>"
    for review in issue.pull.reviews if issue.pull else ():
        text = f"<h3>{escape(review.user)}: {escape(review.state)}</h3>"
        yield review.submitted_at, review.order, f"{text}<pre>{escape(review.body)}</pre>"
    for event in issue.events:
        line = f"{event.actor} {event.event}{_detail(event)}, {stamp(event.created_at)}"
        yield event.created_at, event.order, f"<p>{escape(line)}</p>"


def _detail(event: Event) -> str:
    detail = event.detail
    if "label" in detail:
        return f" {detail['label']['name']}"
    if "rename" in detail:
        return f" {detail['rename']['from']!r} to {detail['rename']['to']!r}"
    return f" {detail['assignee']}" if "assignee" in detail else ""
