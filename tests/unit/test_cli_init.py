"""`toban init`: writes a configuration that loads, or nothing."""

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.cli.template import Answers, toml_string, written
from controller.config import load_config
from controller.demo.standin import Standin
from tests.cli import REPO, TOBAN, TOKEN, Desk, furnished

ANSWERS = Answers(
    owner="octo",
    repositories=("octo/app", "other/x"),
    token_file=Path('/etc/toban/"鍵"'),
    root="~/根",
    api_url="https://api.github.com",
    git_url="https://github.com",
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk without a configuration."""
    desk = Desk(tmp_path)
    desk.config.unlink()
    return desk


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "forge") as standin:
        furnished(standin)
        yield standin


def _load(text: str, folder: Path) -> dict[str, object]:
    place = folder / "config.toml"
    place.write_text(text, encoding="utf-8")
    place.chmod(0o600)
    config = load_config(place, {"HOME": str(folder)})
    return config.model_dump(exclude={"path", "home", "warnings"})


def test_what_is_commented_out_is_the_default(tmp_path: Path) -> None:
    text = written(ANSWERS)
    # The two examples of a repository's own settings and of an assignee are no defaults.
    switched_on = re.sub(r"(?m)^#(?=\[|[a-z_]+ = )", "", text)
    assert switched_on != text
    plain, full = _load(text, tmp_path), _load(switched_on, tmp_path)
    assert full["repository"]
    for name in set(plain) - {"repository", "github"}:
        assert full[name] == plain[name], name


@pytest.mark.parametrize("text", ['a"b', "\\", "\x7f\x00\n", "日本語", ""])
def test_a_string_survives(text: str) -> None:
    import tomllib

    assert tomllib.loads(f"x = {toml_string(text)}") == {"x": text}


def test_flags_alone(desk: Desk) -> None:
    done = desk.toban(
        *("init", "--non-interactive", "--repo", REPO, "--repo", "octo/b"),
        *("--token-file", str(desk.token), "--root", str(desk.root)),
        *("--api-url", desk.url, "--git-url", desk.url),
    )
    assert done.code == 0
    assert f"{desk.config}: written; it loads." in done.out
    assert "could not connect" in done.err
    assert desk.config.stat().st_mode & 0o777 == 0o600
    config = load_config(desk.config, {"HOME": str(desk.home)})
    assert config.github is not None
    assert config.github.repositories == (REPO, "octo/b")
    assert config.github.token_file == desk.token
    assert config.paths.root == desk.root
    assert not desk.root.exists()


def test_the_usual_place_is_the_users_own(desk: Desk) -> None:
    done = desk.toban("init", "--non-interactive", "--owner", "octo", TOBAN_CONFIG="")
    assert done.code == 0
    place = desk.home / ".config" / "toban" / "config.toml"
    assert place.exists()
    assert place.parent.stat().st_mode & 0o777 == 0o700


def test_an_old_one_is_never_lost(desk: Desk) -> None:
    words = ("init", "--non-interactive", "--owner", "octo")
    desk.config.write_text("mine", encoding="utf-8")
    done = desk.toban(*words)
    assert (done.code, done.out) == (1, "")
    assert "--force" in done.err
    assert desk.config.read_text(encoding="utf-8") == "mine"
    assert desk.toban(*words, "--force").code == 0
    assert desk.config.with_name("config.toml.old").read_text(encoding="utf-8") == "mine"


def test_what_would_not_load_is_never_left(desk: Desk) -> None:
    before = desk.files()
    done = desk.toban("init", "--non-interactive", "--owner", "no owner", "--api-url", "http://a.b")
    assert (done.code, done.out) == (1, "")
    assert f"{desk.config}: github.owner" in done.err
    assert "github.api_url" in done.err
    assert desk.files() == before


class Terminal:
    """A person at a terminal: answers in advance, then everything that was shown."""

    def __init__(self, desk: Desk, *words: str) -> None:
        self._main, self._other = pty.openpty()
        self._process = subprocess.Popen(
            [str(TOBAN), *words],
            cwd=desk.folder,
            env=desk.environment(TERM="dumb"),
            stdin=self._other,
            stdout=self._other,
            stderr=self._other,
        )
        os.close(self._other)

    def answer(self, *lines: str) -> tuple[int, str]:
        """One answer after each question; exit code and all that was shown."""
        shown = ""
        for line in lines:
            while not shown.endswith((": ", "? ")):
                shown += self._read()
            os.write(self._main, f"{line}\n".encode())
            shown += "\n"
        while chunk := self._read():
            shown += chunk
        os.close(self._main)
        return self._process.wait(), shown

    def _read(self) -> str:
        try:
            return os.read(self._main, 65_536).decode(errors="replace")
        except OSError:  # how Linux says that the other side is closed
            return ""


def test_a_person_is_asked_and_the_token_never_shown(desk: Desk, forge: Standin) -> None:
    desk.token.unlink()
    place = desk.folder / "鍵"
    urls = ("--api-url", forge.url, "--git-url", forge.url)
    code, shown = Terminal(desk, "init", *urls).answer(
        "", REPO, str(desk.root), str(place), TOKEN, "y"
    )
    assert code == 0, shown
    assert TOKEN not in shown
    assert "The credential is octo's." in shown
    assert place.read_text(encoding="ascii") == f"{TOKEN}\n"
    assert place.stat().st_mode & 0o777 == 0o600
    assert f"{REPO}: written" in shown
    assert desk.toban("doctor", "--json").json()["checks"][-1]["status"] == "ok"


def test_a_question_that_is_broken_off_changes_nothing(desk: Desk) -> None:
    before = desk.files()
    code, shown = Terminal(desk, "init").answer("octo", "\x04")
    assert code == 1
    assert "nothing was changed" in shown
    assert desk.files() == before
