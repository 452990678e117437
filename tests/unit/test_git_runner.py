"""The runner: what reaches the child, what never does, and how a child is ended."""

import base64
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from controller.adapters.git.allowed import ForbiddenGitError
from controller.adapters.git.runner import GitError, GitRunner, GitTimeoutError
from controller.domain.ids import Repository
from controller.errors import ForgeError, RepositoryError

pytestmark = pytest.mark.needs("git>=2.39")

TOKEN = "ghs_made-up-token-for-this-test"
APP = Repository(owner="octo", name="app")
SHA = "1" * 40
REF = "refs/heads/agent/issue-7"


@pytest.fixture
def recorder(tmp_path: Path) -> Path:
    """A program in git's place that writes down its argv, environment and folder."""
    program = tmp_path / "git"
    program.write_text(
        f"#!{sys.executable} -IS\n"
        "import json, os, sys\n"
        f"with open({str(tmp_path / 'seen.json')!r}, 'w') as file:\n"
        "    leads = os.getpgid(0) == os.getpid()\n"
        "    json.dump([sys.argv, dict(os.environ), os.getcwd(), leads], file)\n"
    )
    program.chmod(0o755)
    return program


def made(program: Path | str = "", *, url: str = "https://github.com", s: float = 60) -> GitRunner:
    return GitRunner(git_url=url, credential=lambda: TOKEN, timeout_s=s, program=str(program))


@pytest.fixture
def soiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment full of things that git must not see."""
    for name, value in {
        "TOBAN_GITHUB_TOKEN": TOKEN,
        "GIT_DIR": "/etc",
        "GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='x'",
        "GIT_TRACE": "1",
        "GIT_TRACE_CURL": "1",
        "GIT_SSL_NO_VERIFY": "1",
        "GIT_PROXY_COMMAND": "x",
        "GIT_EXTERNAL_DIFF": "x",
        "GIT_EXEC_PATH": "/nowhere/x",
        "GIT_OBJECT_DIRECTORY": "/nowhere/x",
        "GIT_CONFIG_KEY_99": "core.sshCommand",
        "LD_PRELOAD": "",
        "PYTHONPATH": "/nowhere/x",
        "HTTPS_PROXY": "http://proxy.example:3128",
    }.items():
        monkeypatch.setenv(name, value)


def seen(recorder: Path) -> tuple[list[str], dict[str, str], str, bool]:
    argv, environment, folder, leads = json.loads((recorder.parent / "seen.json").read_text())
    return argv, environment, folder, leads


@pytest.mark.usefixtures("soiled")
def test_the_childs_environment_is_ours_alone(recorder: Path, tmp_path: Path) -> None:
    made(recorder).run(tmp_path / "b.git", "cat-file", "--batch", "--buffer")
    argv, environment, folder, leads = seen(recorder)
    assert argv[1:] == [f"--git-dir={tmp_path}/b.git", "cat-file", "--batch", "--buffer"]
    assert (folder, leads) == ("/", True)
    assert TOKEN not in json.dumps([argv, environment])
    numbered = {n for n in environment if n.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))}
    assert environment.keys() - numbered == {
        *("HOME", "PATH", "LANGUAGE", "LC_ALL", "HTTPS_PROXY"),
        *(
            f"GIT_{name}"
            for name in (
                "ALLOW_PROTOCOL",
                "ASKPASS",
                "ATTR_NOSYSTEM",
                "CONFIG_COUNT",
                "CONFIG_GLOBAL",
                "CONFIG_NOSYSTEM",
                "EDITOR",
                "INDEX_FILE",
                "LITERAL_PATHSPECS",
                "NO_LAZY_FETCH",
                "NO_REPLACE_OBJECTS",
                "OPTIONAL_LOCKS",
                "PAGER",
                "PROTOCOL_FROM_USER",
                "SSH_COMMAND",
                "TERMINAL_PROMPT",
            )
        ),
    } | ({"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"} & os.environ.keys())
    assert len(numbered) == 2 * int(environment["GIT_CONFIG_COUNT"])
    assert environment["GIT_ALLOW_PROTOCOL"] == "https"


def test_the_token_travels_in_the_environment_of_network_commands_alone(
    recorder: Path, tmp_path: Path
) -> None:
    runner = made(recorder)
    runner.run(tmp_path, "ls-remote", "--quiet", runner.url(APP), REF)
    argv, environment, _, _ = seen(recorder)
    basic = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    number = next(name for name, value in environment.items() if value.endswith(basic))[17:]
    assert (
        environment[f"GIT_CONFIG_KEY_{number}"]
        == "http.https://github.com/octo/app.git.extraHeader"
    )
    assert TOKEN not in " ".join(argv)
    assert basic not in " ".join(argv)


def test_settings_outrank_a_hostile_repository(tmp_path: Path) -> None:
    """Real git: what the repository's own file says is overruled."""
    bare = tmp_path / "b.git"
    subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
    hook = tmp_path / "hooks/reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/RAN\n")
    hook.chmod(0o755)
    with (bare / "config").open("a") as file:
        file.write(f"hooksPath = {hook.parent}\n[diff]\nexternal = touch {tmp_path}/RAN\n")
    runner = made()
    stream = b"commit refs/toban/issue-7/import\ncommitter a <a@b> 1 +0000\ndata 0\n\ndone\n"
    runner.run(bare, "fast-import", "--quiet", "--done", "--date-format=raw", stdin=stream)
    sha = (bare / "refs/toban/issue-7/import").read_text().strip()
    runner.run(bare, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "--numstat", sha, sha)
    assert not (tmp_path / "RAN").exists()


def test_what_is_not_on_the_list_never_starts(recorder: Path, tmp_path: Path) -> None:
    with pytest.raises(ForbiddenGitError):
        made(recorder).run(tmp_path, "reset", "--hard")
    assert not (tmp_path / "seen.json").exists()


@pytest.mark.parametrize(
    "url",
    [
        "ssh://git@github.com",
        "git@github.com:",
        "ext::sh -c x",
        "file:///nowhere/x",
        "/nowhere/x",
        "https://user:pw@github.com",
        "",
    ],
)
def test_only_plain_web_addresses_are_taken(url: str) -> None:
    with pytest.raises(RepositoryError):
        made(url=url)


def test_a_token_with_a_line_end_is_refused(recorder: Path, tmp_path: Path) -> None:
    runner = GitRunner(
        git_url="https://github.com",
        credential=lambda: "x\nextraHeader: y",
        timeout_s=60,
        program=str(recorder),
    )
    with pytest.raises(RepositoryError) as caught:
        runner.run(tmp_path, "ls-remote", "--quiet", runner.url(APP), REF)
    assert "extraHeader" not in str(caught.value)
    assert not (tmp_path / "seen.json").exists()


def test_a_credential_that_cannot_be_had_is_our_error(recorder: Path, tmp_path: Path) -> None:
    def none() -> str:
        raise ForgeError("the installation is suspended")

    runner = GitRunner(
        git_url="https://github.com", credential=none, timeout_s=60, program=str(recorder)
    )
    with pytest.raises(RepositoryError, match="suspended"):
        runner.run(tmp_path, "ls-remote", "--quiet", runner.url(APP), REF)


def test_an_error_names_the_command_and_keeps_gits_words_apart(tmp_path: Path) -> None:
    with pytest.raises(GitError) as caught:
        made().run(tmp_path / "none.git", "ls-tree", "-r", "-z", "--full-tree", SHA)
    assert str(caught.value) == "git ls-tree ended with code 128"
    assert "not a git repository" in caught.value.detail


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A program in git's place that starts a helper, and then waits for ever."""
    program = tmp_path / "git"
    program.write_text(
        "#!/bin/sh\n"
        f"tail -f /dev/null & echo $! > {tmp_path}/helper\n"
        "printf 'x\\n'\nexec tail -f /dev/null\n"
    )
    program.chmod(0o755)
    return program


def helper_is_gone(folder: Path) -> bool:
    """Wait for the end of the helper's process; a killed one needs a moment."""
    try:
        process = os.pidfd_open(int((folder / "helper").read_text()))
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    return bool(ended)


def test_a_stuck_git_is_ended_with_its_helpers(stuck: Path, tmp_path: Path) -> None:
    with pytest.raises(GitTimeoutError):
        made(stuck, s=0.5).run(tmp_path, "cat-file", "--batch", "--buffer")
    assert helper_is_gone(tmp_path)


def read_on(runner: GitRunner, folder: Path) -> None:
    with runner.stream(folder, "cat-file", "--batch", "--buffer") as stream:
        assert stream.read() == b"x\n"


def test_a_stuck_stream_is_ended_with_its_helpers(stuck: Path, tmp_path: Path) -> None:
    runner = made(stuck, s=0.5)
    with pytest.raises(GitTimeoutError):
        read_on(runner, tmp_path)
    assert helper_is_gone(tmp_path)


def test_an_address_of_another_host_never_starts(recorder: Path, tmp_path: Path) -> None:
    url = "https://github.com.evil.example/octo/app.git"
    with pytest.raises(ForbiddenGitError):
        made(recorder).run(tmp_path, "ls-remote", "--quiet", url, REF)
    assert not (tmp_path / "seen.json").exists()


def test_leaving_a_stream_early_ends_it(stuck: Path, tmp_path: Path) -> None:
    runner = made(stuck)
    with runner.stream(tmp_path, "cat-file", "--batch", "--buffer") as out:
        assert out.readline() == b"x\n"
    assert helper_is_gone(tmp_path)


def test_a_missing_git_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made().run(tmp_path, "cat-file", "--batch", "--buffer", expect=(0, 128))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match="not installed"):
        made().run(tmp_path, "cat-file", "--batch", "--buffer")


def test_importing_the_adapter_does_not_load_gitpython() -> None:
    code = "import sys, controller.adapters.git; print('git' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
    assert done.stdout == b"False\n"
