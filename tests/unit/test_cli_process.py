"""toban as a process: exit codes, one message per error; reading commands write nothing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.adapters.lock import FileLocks
from controller.demo.standin import Fault, Standin
from controller.runtime.saved import load
from controller.workloads.issues.planner import plan
from tests.cli import REPO, TOBAN, TOKEN, Desk, furnished

READING = ["plan", "status", "explain octo/app#1", "plan --json", "status --json", "doctor"]


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "forge") as standin:
        yield standin


@pytest.fixture
def desk(tmp_path: Path, forge: Standin) -> Desk:
    return Desk(tmp_path, url=forge.url)


@pytest.fixture
def alone(tmp_path: Path) -> Desk:
    """A desk whose API answers nobody."""
    return Desk(tmp_path)


class TestUsage:
    """Whatever is wrong with the words themselves exits 64 and changes nothing."""

    @pytest.mark.parametrize(
        "words",
        [
            "",
            "nonsense",
            "plan --nonsense",
            "plan octo/app#1",
            "plan --only everything",
            "plan --item nonsense",
            "plan --item row:",
            "plan --item octo/app#1 --only orders",
            "run-once --item row:1 --only issues",
            "run-once --item",
            "explain",
            "explain octo/app",
            "explain a b",
            "labels octo",
            "init --non-interactive",
            "plan --config",
        ],
    )
    def test_exit_64(self, alone: Desk, words: str) -> None:
        alone.config.rename(alone.folder / "elsewhere.toml")
        before = alone.files()
        done = alone.toban(*words.split())
        assert done.code == 64
        assert done.out == ""
        assert done.err.startswith(("toban: ", "Usage: toban"))
        assert alone.files() == before

    def test_hostile_words_cannot_act(self, alone: Desk) -> None:
        done = alone.toban("explain", "\x1b]0;own\x07\u202e")
        assert done.code == 64
        assert "\x1b" not in done.err
        assert "\u202e" not in done.err

    def test_help_and_version(self, alone: Desk) -> None:
        alone.config.unlink()
        assert alone.toban("--version").out.startswith("toban 0.")
        for words in (["--help"], ["-h"], ["plan", "--help"], ["run-once", "-h"]):
            done = alone.toban(*words)
            assert (done.code, done.err) == (0, "")
            assert "Usage: toban" in done.out

    def test_python_m_controller_is_the_same_program(self, alone: Desk) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "controller", "explain", "nonsense"],
            env=alone.environment(),
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 64
        assert done.stderr == alone.toban("explain", "nonsense").err

    def test_completion_for_the_shell(self, alone: Desk) -> None:
        done = alone.toban(_TOBAN_COMPLETE="complete_bash", COMP_WORDS="toban ru", COMP_CWORD="1")
        assert done.out.split() == ["run-once"]


class TestErrors:
    """One clear message, exit 1, and never a traceback (which `Desk` refuses everywhere)."""

    @pytest.mark.parametrize(
        "words", ["plan", "run-once", "status", "explain octo/app#1", "labels"]
    )
    def test_no_token(self, desk: Desk, words: str) -> None:
        desk.token.unlink()
        done = desk.toban(*words.split())
        assert (done.code, done.out) == (1, "")
        assert done.err.count("\n") == 1
        assert f"github.token_file: {desk.token} cannot be read" in done.err

    def test_a_wrong_key_names_file_key_and_what_was_meant(self, desk: Desk) -> None:
        desk.configure(f'repositry = ["{REPO}"]\nowner = "octo"')
        done = desk.toban("plan")
        assert (done.code, done.out) == (1, "")
        assert f"{desk.config}: github.repositry: unknown key" in done.err
        assert 'did you mean "repositories"?' in done.err

    def test_no_configuration(self, alone: Desk) -> None:
        done = alone.toban("plan", "--config", "nowhere.toml")
        assert done.code == 1
        assert "nowhere.toml" in done.err
        assert "toban init" in done.err

    @pytest.mark.parametrize("words", ["plan", "run-once", "status", "explain octo/app#1"])
    def test_an_api_that_cannot_be_reached(self, alone: Desk, words: str) -> None:
        done = alone.toban(*words.split())
        assert done.code == 1
        assert "could not connect to 127.0.0.1:9" in done.out
        assert "Nothing to do.\n" not in done.out

    @pytest.mark.parametrize("words", ["plan", "run-once", "status", "explain octo/app#1"])
    def test_a_token_that_is_refused(self, desk: Desk, forge: Standin, words: str) -> None:
        furnished(forge)
        forge.world.revoke_token(TOKEN)
        done = desk.toban(*words.split())
        assert done.code == 1
        assert "the token was refused (401)" in done.out
        assert "give toban a valid token" in done.out
        assert TOKEN not in done.out + done.err

    @pytest.mark.parametrize("command", ["plan", "run-once", "status"])
    def test_a_repository_that_vanished(self, desk: Desk, forge: Standin, command: str) -> None:
        furnished(forge)
        desk.configure('repositories = ["octo/gone"]')
        done = desk.toban(command)
        assert done.code == 1
        assert "GET /repos/octo/gone/issues: answered 404" in done.out

    def test_what_can_be_seen_is_planned_all_the_same(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        desk.configure(f'repositories = ["{REPO}", "octo/gone"]')
        done = desk.toban("plan", "--json")
        document = done.json()
        assert done.code == 1
        assert document["complete"] is False
        assert [action["kind"] for action in document["actions"]] == ["Claim"]
        assert [each["source"] for each in document["unseen"]] == ["GET /repos/octo/gone/issues"]

    def test_status_json_says_on_stderr_what_is_unseen(self, alone: Desk) -> None:
        done = alone.toban("status", "--json")
        assert done.code == 1
        assert done.json() == {"schema": 1, "items": []}
        assert "not seen: GET /user: could not connect" in done.err

    def test_an_error_of_our_own_is_one_line_and_a_log_line(self, alone: Desk) -> None:
        program = (
            "import sys, controller.cli.plan as plan\n"
            "del plan.asked_for\n"
            "from controller.cli.run import run\n"
            "sys.exit(run(['plan']))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=alone.environment(),
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        log, sentence = done.stderr.splitlines()
        assert "event=internal_error" in log
        assert "level=error" in log
        assert sentence.startswith("toban: internal error: NameError")

    def test_a_reader_that_goes_away(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        reader, writer = os.pipe()
        os.close(reader)
        try:
            done = subprocess.run(
                [str(TOBAN), "plan", "--json"],
                env=desk.environment(),
                stdout=writer,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(writer)
        assert (done.returncode, done.stderr) == (1, b"")

    def test_a_terminal_without_japanese(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        done = desk.toban("plan", PYTHONIOENCODING="ascii")
        assert done.code == 2
        assert "\\u984c\\u540d" in done.out
        assert "題名" in desk.toban("status", PYTHONIOENCODING="utf-8").out


class TestWanted:
    """What the configuration does not want is refused, and says what is missing."""

    @pytest.mark.parametrize(
        "words",
        ["plan --only orders", "run-once --only orders", "plan --item row:14a", "explain row:14a"],
    )
    def test_orders_without_their_section(self, alone: Desk, words: str) -> None:
        done = alone.toban(*words.split())
        assert (done.code, done.out) == (1, "")
        assert "[orders] is missing" in done.err

    def test_issues_without_their_section(self, alone: Desk) -> None:
        alone.config.write_text("[orders]\n", encoding="utf-8")
        done = alone.toban("plan", "--only", "issues")
        assert (done.code, done.out) == (1, "")
        assert "[github] is missing" in done.err

    @pytest.mark.parametrize("words", ["plan --item", "run-once --item", "explain"])
    def test_a_repository_that_nobody_watches(self, alone: Desk, words: str) -> None:
        done = alone.toban(*words.split(), "octo/other#1")
        assert (done.code, done.out) == (1, "")
        assert "octo/other is neither in github.repositories nor of github.owner" in done.err

    def test_an_issue_that_does_not_exist(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        done = desk.toban("explain", "octo/app#99")
        assert (done.code, done.out) == (1, "")
        assert "octo/app#99: no such issue" in done.err

    @pytest.mark.needs("root")
    def test_the_root_of_another_user(self, alone: Desk) -> None:
        alone.root.mkdir()
        os.chown(alone.root, 65534, 65534)
        done = alone.toban("run-once", "--only", "issues")
        assert (done.code, done.out) == (1, "")
        assert "sudo -u nobody toban run-once --only issues" in done.err
        assert list(alone.root.iterdir()) == []
        doctor = alone.toban("doctor", "--self")
        assert doctor.code == 1
        assert "fail  root:" in doctor.out


class TestPlan:
    """`plan` reads only."""

    @pytest.mark.parametrize("words", READING[:-1])
    def test_reading_commands_write_nothing(self, desk: Desk, forge: Standin, words: str) -> None:
        furnished(forge)
        before = desk.files()
        done = desk.toban(*words.split())
        assert done.code in (0, 2)
        assert desk.files() == before
        assert {seen.method for seen in forge.world.requests()} <= {"GET", "POST"}
        posted = {seen.path for seen in forge.world.requests() if seen.method == "POST"}
        assert posted <= {"/graphql"}

    def test_config_before_or_after_the_command(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        elsewhere = desk.folder / "設定.toml"
        shutil.move(desk.config, elsewhere)
        assert desk.toban("plan", "--config", str(elsewhere)).code == 2
        assert desk.toban("--config", str(elsewhere), "plan").code == 2
        assert desk.toban("--config", "nowhere", "plan", "--config", str(elsewhere)).code == 2

    def test_an_item_restricts_the_candidates(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        second = forge.world.create_issue(REPO, "二", "").number
        forge.world.add_label(REPO, second, "agent:ready", by="octo")
        document = desk.toban("plan", "--json", "--item", f"{REPO}#{second}").json()
        assert [action["item"] for action in document["actions"]] == [f"{REPO}#{second}"]
        assert document["holds"] == []

    def test_a_saved_plan_can_be_planned_again(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        place = desk.folder / "保存.json"
        before = desk.files()
        assert desk.toban("plan", "--save", str(place)).code == 2
        assert set(desk.files()) - set(before) == {place.name}
        assert place.stat().st_mode & 0o777 == 0o600
        text = place.read_text(encoding="utf-8")
        saved = load(text)
        assert plan(saved.desired, saved.observation, saved.policy) == saved.plan
        assert TOKEN not in text

    @pytest.mark.parametrize("place", ["nowhere/plan.json", "."])
    def test_a_plan_that_cannot_be_saved(self, desk: Desk, forge: Standin, place: str) -> None:
        furnished(forge)
        done = desk.toban("plan", "--save", place)
        assert (done.code, done.out) == (1, "")
        assert "cannot be written" in done.err


class TestRunOnce:
    """A tick that starts no agent."""

    def test_whoever_comes_second_is_told_who_is_at_work(self, alone: Desk) -> None:
        with FileLocks(alone.root).hold("issues"):
            done = alone.toban("run-once")
        assert (done.code, done.out) == (75, "")
        assert f"pid {os.getpid()}" in done.err

    def test_nothing_to_do(self, desk: Desk, forge: Standin) -> None:
        forge.world.add_user("octo", token=TOKEN)
        forge.world.add_repo(REPO)
        done = desk.toban("run-once")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("Nothing to do.\n")
        document = desk.toban("run-once", "--json").json()
        assert document == {
            "schema": 1,
            "complete": True,
            "outcomes": [],
            "rest": None,
            "holds": [],
            "unseen": [],
        }

    def test_a_refused_start_is_blocked_and_no_error(self, desk: Desk, forge: Standin) -> None:
        number = furnished(forge)
        forge.world.advance(5)
        forge.world.edit_issue(REPO, number, body="changed after the label", by="octo")
        done = desk.toban("run-once", "-v")
        assert done.code == 0, done.out
        assert forge.world.labels(REPO, number) == ["agent:blocked"]
        assert f"~ {REPO}#{number} Block: done" in done.out
        assert "event=tick_started" in done.err
        assert "event=outcome" in done.err
        assert "event=" not in done.out

        status = desk.toban("status", "--json").json()["items"][0]
        assert (status["phase"], status["reason"]) == ("blocked", "TextChanged")
        stalled = next(c for c in status["conditions"] if c["type"] == "Stalled")
        assert stalled["status"] == "True"

    def test_a_failed_act_is_an_error(self, desk: Desk, forge: Standin) -> None:
        number = furnished(forge)
        forge.world.advance(5)
        forge.world.edit_issue(REPO, number, body="changed", by="octo")
        forge.world.add_fault(
            Fault(method="POST", path=r".*/(comments|labels)", status=403, times=9)
        )
        done = desk.toban("run-once", "--json")
        document = done.json()
        assert done.code == 1
        assert [each["result"] for each in document["outcomes"]] == ["Failed"]
        assert document["outcomes"][0]["kind"] == "Block"


class TestStatus:
    """`status` and its page."""

    def test_the_page_is_the_only_file(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        before = desk.files()
        done = desk.toban("status", "--html", "状況.html")
        assert done.code == 0
        assert set(desk.files()) - set(before) == {"状況.html"}
        page = (desk.folder / "状況.html").read_text(encoding="utf-8")
        assert f"<td>{REPO}#1</td>" in page
        assert "題名" in page

    def test_a_running_tick_is_named(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        with FileLocks(desk.root).hold("issues"):
            assert f"running tick: pid {os.getpid()}" in desk.toban("status").out
        assert "no tick is running" in desk.toban("status").out

    def test_a_note_of_a_dead_process_is_no_running_tick(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        gone = subprocess.Popen(["true"])
        gone.wait()
        note = desk.root / "locks" / "issues.holder"
        note.parent.mkdir(parents=True)
        note.write_text(f"pid {gone.pid}, since 2026-11-30T12:00:00+00:00, toban run-once\n")
        assert "no tick is running" in desk.toban("status").out


class TestLabels:
    """`labels` creates and repairs the six, and nothing else."""

    def test_created_then_left_alone(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        first = desk.toban("labels")
        assert first.code == 0
        assert "written" in first.out
        assert desk.toban("labels").out == f"{REPO}: all six are as they should be\n"
        document = desk.toban("labels", "--json", REPO).json()
        assert document == {
            "schema": 1,
            "repositories": [{"repository": REPO, "changed": [], "error": None}],
        }

    def test_every_repository_of_the_owner_that_can_be_written(
        self, desk: Desk, forge: Standin
    ) -> None:
        furnished(forge)
        forge.world.add_repo("octo/second")
        forge.world.add_user("other")
        forge.world.add_repo("other/third", collaborators={"octo": "write"})
        desk.configure('owner = "octo"')
        done = desk.toban("labels")
        assert done.code == 0
        assert sorted(line.partition(":")[0] for line in done.out.splitlines()) == [
            "octo/app",
            "octo/second",
        ]

    def test_one_that_fails_hides_no_other(self, desk: Desk, forge: Standin) -> None:
        furnished(forge)
        done = desk.toban("labels", "octo/gone", REPO)
        assert done.code == 1
        assert "octo/gone: failed" in done.out
        assert f"{REPO}: written" in done.out
