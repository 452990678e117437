"""`toban demo` as a process: four endings, nothing left behind, and `--keep` to play with."""

import base64
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.demo.endings import endings
from controller.demo.model import ScriptedModel
from controller.demo.stage import TOKENS, Stage
from controller.demo.story import OWNER, REPOSITORY, script, stories

PROJECT = Path(__file__).parents[2]
DEMO = (sys.executable, "-m", "controller", "demo")
ALONE = ("unshare", "--user", "--map-root-user", "--net", "sh", "-c")
LOOPBACK = """\
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1))
"""
"""SIOCSIFFLAGS, IFF_UP: what `ip link set lo up` does."""
ENDINGS = (
    "ok  #1 human:review: pull request #5, 1 commit, review: approve",
    "ok  #2 human:review: pull request #6, 2 commits, review: rework, approve",
    "ok  #3 agent:blocked: pull request #7, 3 commits, review: rework, rework, rework",
    "ok  #4 agent:blocked: no branch, no pull request, Codex never started",
    "ok  nothing merged, nothing forced, main untouched, no token shown to the model",
    "ok  every command ended well, and `toban plan` has nothing left to do",
)


def _environment(folder: Path) -> dict[str, str]:
    """A user's, with what must not lead the demo astray."""
    astray = {
        "TOBAN_CONFIG": str(folder / "none.toml"),
        "TOBAN_GITHUB_TOKEN": "astray",
        "GIT_DIR": str(folder / "none.git"),
        "HTTPS_PROXY": "http://proxy.invalid:1",
        "HTTP_PROXY": "http://proxy.invalid:1",
    }
    return os.environ | {"PYTHONPATH": str(PROJECT), "TMPDIR": str(folder)} | astray


@contextmanager
def _started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*DEMO, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=_environment(folder),
        cwd=folder,
    ) as demo:
        try:
            yield demo
        finally:
            if demo.poll() is None:
                demo.terminate()


def _until(demo: subprocess.Popen[str], text: str) -> str:
    """What it printed up to the line with `text`."""
    assert demo.stdout is not None
    said = ""
    for line in demo.stdout:
        said += line
        if text in line:
            return said
    raise AssertionError(f"it ended without {text!r}:\n{said}")


@pytest.mark.needs("sandbox", "netns")
def test_the_demo_reaches_its_four_endings_without_a_network(tmp_path: Path) -> None:
    environment = _environment(tmp_path) | {"LOOPBACK": LOOPBACK, "PYTHON": sys.executable}

    done = subprocess.run(
        [*ALONE, '"$PYTHON" -c "$LOOPBACK" && exec "$PYTHON" -m controller demo'],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert [ending for ending in ENDINGS if ending not in done.stdout] == []
    for expected in (
        "$ toban plan\n",
        'Claim  octo/teatime#1 "Green tea is missing"',
        "$ toban run-once\n",
        "日本語の説明書がほしい",
        '+MINUTES = {"black": 4, "green": 2, "herbal": 7}',
        "Review: approve: Green tea is there and has its test.",
        "octo/teatime#3  blocked       Stalled    BudgetSpent",
        "All four ended as they had to",
        "toban demo --keep",
    ):
        assert expected in done.stdout
    assert "\x1b" not in done.stdout, "nobody watches: no colours"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("netns")
def test_without_a_sandbox_nothing_runs_and_it_says_what_helps(tmp_path: Path) -> None:
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$PYTHON" -m controller demo'

    done = subprocess.run(
        [*ALONE, forbid],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=_environment(tmp_path) | {"PYTHON": sys.executable},
        cwd=tmp_path,
        check=False,
    )

    assert done.returncode == 1
    assert "Codex's sandbox does not work on this machine, so nothing is run." in done.stdout
    assert "sudo sysctl -w user.max_user_namespaces=15000" in done.stdout
    assert "$ toban" not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("sandbox")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_nothing_is_left(tmp_path: Path, number: signal.Signals) -> None:
    with _started(tmp_path) as demo:
        _until(demo, "octo/teatime#1 CreateWorktree")
        demo.send_signal(number)
        rest, _ = demo.communicate()

    assert demo.returncode == 1
    assert rest.endswith("Stopped; nothing is left behind.\n"), rest
    assert list(tmp_path.iterdir()) == []


class _Kept:
    """A demo that waits, used with what it printed and nothing else."""

    def __init__(self, said: str) -> None:
        self.url = _found(r"^(http://127\.0\.0\.1:\d+) answers until", said)
        self.config = Path(_found(r"^  configuration +(.+)$", said))
        self.token = _found(r"^  token of octo +(\S+)", said)
        self.clone = _found(r"git clone (\S+)", said)

    def api(self, path: str, data: object = None) -> Any:
        """Ask or tell the API as the owner."""
        body = None if data is None else json.dumps(data)
        token = f"Bearer {self.token}"
        return json.loads(self._ask(f"/repos/{REPOSITORY}/{path}", token, body))

    def page(self, path: str) -> str:
        """Look at a page as a browser does."""
        basic = base64.b64encode(f"octo:{self.token}".encode()).decode()
        return self._ask(f"/{REPOSITORY}{path}", f"Basic {basic}", None)

    def _ask(self, path: str, authorization: str, body: str | None) -> str:
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"))
        with closing(connection):
            headers = {"Authorization": authorization, "User-Agent": "test"}
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        assert answer.status < 300, text
        return text

    def toban(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of toban's commands as it is told there."""
        kept = {name: it for name, it in os.environ.items() if not name.startswith("TOBAN_")}
        return subprocess.run(
            [sys.executable, "-m", "controller", *arguments, "--config", str(self.config)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=kept | {"PYTHONPATH": str(PROJECT)},
            check=False,
        )


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    assert match is not None, f"{pattern} is not in\n{text}"
    return match[1]


@pytest.mark.needs("sandbox", "git")
def test_keep_leaves_it_running_to_play_with(tmp_path: Path) -> None:
    place, mine = tmp_path / "demo", tmp_path / "mine"
    place.mkdir()
    with _started(place, "--keep") as demo:
        said = _until(demo, "/merge")
        assert [ending for ending in ENDINGS if ending not in said] == []
        kept = _Kept(said)

        _look(kept, mine)
        _ask_for_something_new(kept)

        demo.send_signal(signal.SIGTERM)
        rest, _ = demo.communicate()

    assert demo.returncode == 0
    assert f"Everything lies in {kept.config.parent}" in rest
    assert kept.config.parent.parent == place
    assert kept.config.is_file()


def _look(kept: _Kept, mine: Path) -> None:
    """Branch by git, pull request and comments by HTTP."""
    git = ["git", "-c", "core.quotePath=false"]
    subprocess.run([*git, "clone", "--quiet", kept.clone, str(mine)], check=True)
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", "origin/agent/issue-2"],
        cwd=mine,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert "説明書/使い方.md" in listed.stdout.splitlines()
    pull = kept.api("pulls/6")
    assert (pull["head"]["ref"], pull["state"], pull["commits"]) == ("agent/issue-2", "open", 2)
    comments = [comment["body"] for comment in kept.api("issues/6/comments")]
    assert ["**Review: rework**" in body for body in comments] == [True, False]
    assert "表にハーブティー（7分）がない。" in comments[0]
    assert "日本語の説明書がほしい" in kept.page("")
    assert "+| ハーブティー | 7 |" in kept.page("/pull/6.diff")


def _ask_for_something_new(kept: _Kept) -> None:
    new = {"title": "メモを書いて", "body": "一行でよい。", "labels": ["agent:ready"]}
    number = kept.api("issues", new)["number"]
    assert kept.toban("plan").returncode == 2
    done = kept.toban("run-once")
    assert done.returncode == 0, done.stdout + done.stderr
    labels = [label["name"] for label in kept.api(f"issues/{number}")["labels"]]
    assert labels == ["human:review"]
    assert kept.toban("explain", f"{REPOSITORY}#3").returncode == 0


def test_the_demo_does_not_take_its_own_word_for_it(tmp_path: Path) -> None:
    told = stories()
    with Stage(tmp_path, ScriptedModel(script(told))) as stage:
        stage.build(told)
        untouched = endings(stage, told)
        assert [bool(ending.wrong) for ending in untouched] == [True, True, True, True, False]
        assert "it has no pull request" in untouched[0].wrong

        world = stage.world
        world.push_commit(REPOSITORY, "agent/issue-1", {"x": "y"}, by=OWNER)
        pull = world.open_pull(REPOSITORY, head="agent/issue-1", by=OWNER)
        world.push_commit(REPOSITORY, "agent/issue-1", {"x": "z"}, by=OWNER, amend=True)
        world.merge(REPOSITORY, pull.number)
        broken = endings(stage, told)[-1].wrong
        assert "refs/heads/agent/issue-1 was forced or deleted" in broken
        assert f"pull request #{pull.number} was merged" in broken


def test_the_stage_keeps_the_users_credentials_off(tmp_path: Path) -> None:
    with Stage(tmp_path, ScriptedModel(script(stories()))) as stage:
        assert stage.token.stat().st_mode & 0o077 == 0
        text = stage.config.read_text("utf-8")
    assert [token for token in TOKENS.values() if token in text] == []
