"""Writing through raw HTTP: redirects, refusals, odd answers and what may stand in a message."""

import functools
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from controller.adapters.github.cache import EtagCache
from controller.adapters.github.http import Api
from controller.adapters.github.pause import Pause
from controller.adapters.github.writer import MAX_BODY, MAX_TITLE, GitHubWriter, capped
from controller.domain.forge import Person
from controller.domain.ids import IssueId, Repository
from controller.domain.values import Unseen
from controller.errors import ForgeError, ForgeLimitedError, ForgeUnknownError
from controller.ports.forge import LabelText, PullText
from tests.fakes.raw_server import CLOSED, Asked, RawServer, Script, Sent, answer

TOKEN = "ghp_canaryCANARYcanary0123456789abcdef"
APP = Repository(owner="octo", name="app")
ITEM = IssueId(repository=APP, number=1)
ME = Person(id=5, login="host")

type Writing = Callable[[Script], tuple[RawServer, GitHubWriter]]
type Act = Callable[[GitHubWriter], object]

ACTS: dict[str, Act] = {
    "label": lambda w: w.set_label(ITEM, label="agent:working", remove=()),
    "comment": lambda w: w.comment(APP, 1, body="m\nx", marker="m"),
    "pull": lambda w: w.open_pull(ITEM, base="main", text=PullText(title="t", body="b")),
    "assign": lambda w: w.assign(ITEM, login="octo"),
    "labels": lambda w: w.ensure_labels(
        APP, (LabelText(name="agent:ready", color="0e8a16", description="d"),)
    ),
}
acts = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())


@pytest.fixture
def writing() -> Iterator[Writing]:
    opened: list[tuple[RawServer, Api, GitHubWriter]] = []

    def start(script: Script) -> tuple[RawServer, GitHubWriter]:
        server = RawServer(script).__enter__()
        api = Api(
            api_url=server.url,
            credential=lambda: TOKEN,
            pause=Pause(),
            cache=EtagCache(),
            timeout=5,
            sleep=lambda _seconds: None,
        )
        writer = GitHubWriter(api, identity=lambda: ME, seconds_between_writes=0)
        opened.append((server, api, writer))
        return server, writer

    yield start
    for server, api, writer in opened:
        writer.close()
        api.close()
        server.__exit__(None, None, None)


def reads(asked: Asked, write: Sent) -> Sent:
    """Empty lists and an issue without anything for reads, `write` for writes."""
    if asked.method != "GET":
        return write
    if asked.target.endswith("/issues/1"):
        return answer({"labels": [], "assignees": []})
    return answer([])


def writes(server: RawServer) -> list[str]:
    return [f"{asked.method} {asked.target}" for asked in server.asked if asked.method != "GET"]


@acts
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(writing: Writing, act: Act, status: int) -> None:
    def script(asked: Asked) -> Sent:
        if asked.target == "/repos/octo/app":
            return answer({"full_name": "octo/new", "default_branch": "main"})
        where = {"Location": f"{server.url}/repositories/1/moved"}
        return reads(asked, answer({"message": "Moved Permanently"}, status, where))

    server, writer = writing(script)
    with pytest.raises(ForgeError, match="nothing was written: the repository is octo/new"):
        act(writer)
    assert len(writes(server)) == 1
    assert not any("moved" in line for line in server.lines)


@acts
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_a_refusal_is_an_error_and_not_repeated(writing: Writing, act: Act, status: int) -> None:
    body = {
        "message": "Validation Failed",
        "errors": [{"resource": "Issue", "field": "x", "code": "invalid"}, "and more"],
    }
    server, writer = writing(lambda asked: reads(asked, answer(body, status)))
    with pytest.raises(ForgeError, match=r"Validation Failed; Issue x invalid; and more") as told:
        act(writer)
    assert not isinstance(told.value, ForgeUnknownError | ForgeLimitedError)
    assert len(writes(server)) == 1


@acts
@pytest.mark.parametrize(
    "lost",
    [
        CLOSED,
        answer(b"{", 201),
        answer(b"", 201),
        answer(b"[" * 100_000, 201),
        answer({"odd": 1}, 201),
        answer({"message": "x"}, 502),
        answer(b"<html>", 500),
        Sent(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", hang_up=True),
    ],
    ids=["closed", "cut", "empty", "deep", "odd", "502", "html", "short"],
)
def test_an_answer_that_says_nothing_is_looked_up(
    writing: Writing, act: Act, lost: Sent, request: pytest.FixtureRequest
) -> None:
    server, writer = writing(lambda asked: reads(asked, lost))
    before = len(writes(server))
    try:
        act(writer)
    except ForgeUnknownError:
        read_after = [asked.method for asked in server.asked][-1]
        assert read_after == "GET", "looked up, and only then unknown"
    except ForgeError as error:
        pytest.fail(f"{request.node.name}: {error!r} claims that nothing changed")
    assert len(writes(server)) == before + 1


@acts
def test_nobody_there_is_no_lost_answer(act: Act) -> None:
    with RawServer(lambda _: CLOSED) as dead:
        port = dead.port
    with RawServer(lambda asked: reads(asked, CLOSED)) as server:
        api = Api(
            api_url=server.url,
            credential=lambda: TOKEN,
            pause=Pause(),
            cache=EtagCache(),
            sleep=lambda _seconds: None,
        )
        api.api_url = f"http://127.0.0.1:{port}"
        writer = GitHubWriter(api, identity=lambda: ME, seconds_between_writes=0)
        with pytest.raises(ForgeError, match="could not connect to 127") as told:
            act(writer)
        assert not isinstance(told.value, ForgeUnknownError)
        writer.close()
        api.close()


@acts
@pytest.mark.parametrize("status", [301, 401, 403, 404, 422, 429, 500])
def test_a_server_that_echoes_the_token_gets_it_into_no_message(
    writing: Writing, act: Act, status: int
) -> None:
    def echo(asked: Asked) -> Sent:
        said = asked.headers["authorization"]
        bodies = {"message": said, "errors": [{"message": said, "code": said}], "name": said}
        return reads(asked, answer(bodies, status, {"Location": "/x"}))

    _, writer = writing(echo)
    with pytest.raises(ForgeError) as told:
        act(writer)
    assert TOKEN not in str(told.value)


@acts
def test_not_even_a_traceback_shows_the_token(writing: Writing, act: Act) -> None:
    _, writer = writing(lambda asked: reads(asked, answer({"message": "no"}, 422)))
    with pytest.raises(ForgeError) as told:
        act(writer)
    assert TOKEN not in "".join(traceback.format_exception(told.value))


@acts
def test_no_write_without_its_look_up(act: Act, writing: Writing) -> None:
    server, writer = writing(lambda _: answer({}, 500))
    with pytest.raises(ForgeError):
        act(writer)
    assert len(writes(server)) <= 1


def test_who_we_are_is_needed_first() -> None:
    api = Api(
        api_url="http://127.0.0.1:1", credential=lambda: TOKEN, pause=Pause(), cache=EtagCache()
    )
    until = datetime.now(UTC) + timedelta(minutes=1)
    for unseen, error in (
        (Unseen(source="GET /user", reason="no"), ForgeError),
        (Unseen(source="GET /user", reason="no", until=until), ForgeLimitedError),
    ):
        writer = GitHubWriter(api, identity=functools.partial(Unseen.model_copy, unseen))
        with pytest.raises(error, match="GET /user: no"):
            writer.comment(APP, 1, body="b", marker="m")


@pytest.mark.parametrize("token", ["", "a\nb", "日本"])
def test_what_is_no_token_is_never_sent(token: str) -> None:
    api = Api(
        api_url="http://127.0.0.1:1", credential=lambda: token, pause=Pause(), cache=EtagCache()
    )
    with pytest.raises(ForgeError, match="no token has"):
        GitHubWriter(api, identity=lambda: ME).assign(ITEM, login="octo")


@pytest.mark.parametrize("marker", ["", " ", "a\nb", "a\rb"])
def test_a_marker_is_one_line(writing: Writing, marker: str) -> None:
    server, writer = writing(lambda _: answer([]))
    with pytest.raises(ForgeError, match="one line"):
        writer.comment(APP, 1, body="b", marker=marker)
    assert server.asked == []


class TestTexts:
    def test_a_short_text_stays(self) -> None:
        assert capped("日" * MAX_BODY, MAX_BODY) == "日" * MAX_BODY

    def test_a_long_text_is_cut_and_says_so(self) -> None:
        cut = capped("日" * 70_000, MAX_BODY)
        assert len(cut) == MAX_BODY
        assert cut.endswith("*(cut by toban: the text has 70000 characters)*")
        title = capped("題" * 300, MAX_TITLE)
        assert (len(title), title[-1]) == (MAX_TITLE, "…")

    def test_what_no_encoding_can_store_is_replaced(self) -> None:
        assert capped("a\ud800b", MAX_BODY) == "a?b"

    def test_what_is_posted(self, writing: Writing) -> None:
        server, writer = writing(lambda asked: reads(asked, answer({"message": "no"}, 422)))
        with pytest.raises(ForgeError):
            writer.comment(APP, 1, body="x" * 70_000, marker="m")
        posted = next(asked for asked in server.asked if asked.method == "POST")
        assert b'{"body": "m\\nxxx' in posted.body
        assert b"cut by toban" in posted.body
        assert posted.headers["x-github-api-version"] == "2022-11-28"
        assert posted.headers["user-agent"].startswith("toban/")


def test_a_dropped_label_is_said(writing: Writing) -> None:
    server, writer = writing(lambda asked: reads(asked, answer([{"name": "bug"}])))
    with pytest.raises(ForgeError, match="dropped the label agent:working"):
        writer.set_label(ITEM, label="agent:working", remove=("agent:ready",))
    assert writes(server) == ["POST /repos/octo/app/issues/1/labels"], "the old one stays on"


def test_a_label_that_somebody_else_took_off_meanwhile_is_off(writing: Writing) -> None:
    both = [{"name": "agent:working"}, {"name": "agent:ready"}]

    def script(asked: Asked) -> Sent:
        if asked.method == "DELETE":
            return answer({"message": "Label does not exist"}, 404)
        return answer(both)

    server, writer = writing(script)
    writer.set_label(ITEM, label="agent:working", remove=("agent:ready",))
    assert writes(server) == [
        "POST /repos/octo/app/issues/1/labels",
        "DELETE /repos/octo/app/issues/1/labels/agent%3Aready",
    ]
