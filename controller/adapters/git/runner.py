"""The one place that starts git: fixed configuration, clean environment, allow-listed command line.

Used by every module of this package; nobody else starts git. It never works inside a worktree
(cwd is `/`, the repository is always named), never asks a question, and never puts a credential on
a command line or in a file: the token travels in the environment of network commands alone.
"""

import base64
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from controller.adapters.git.allowed import ForbiddenGitError, check
from controller.domain.ids import Repository
from controller.errors import RepositoryError, TobanError

CONFIG: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.quotePath", "false"),
    ("core.autocrlf", "false"),
    ("core.bigFileThreshold", "50m"),
    ("credential.helper", ""),
    ("commit.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("http.sslVerify", "true"),
    ("http.followRedirects", "false"),
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
    ("protocol.allow", "never"),
    ("transfer.fsckObjects", "true"),
    # Old repositories hold these harmless oddities for ever; the forge accepts them too.
    ("fetch.fsck.zeroPaddedFilemode", "warn"),
    ("fetch.fsck.missingSpaceBeforeDate", "warn"),
    ("fetch.fsck.missingSpaceBeforeEmail", "warn"),
    ("fetch.fsck.missingNameBeforeEmail", "warn"),
    ("fetch.fsck.badTimezone", "warn"),
    ("safe.bareRepository", "explicit"),
)
"""Configuration of every command, given in the environment: it outranks each file."""

FIXED: Mapping[str, str] = {
    "HOME": "/nonexistent",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_SSH_COMMAND": "/bin/false",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
INHERITED = frozenset(
    {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"}
)
"""The way to the network that the operator set up; all else of our environment stays here."""


_COMPLAINT_BYTES = 4096


class GitError(RepositoryError):
    """Git ended with an unexpected exit code. `detail` is its standard error, hostile text."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(what)
        self.detail = detail


class GitTimeoutError(RepositoryError):
    """Git was ended by our own clock."""


class Answer(NamedTuple):
    """What a finished git said."""

    code: int
    out: bytes
    err: bytes


class GitRunner:
    """Starts git for one forge address.

    Args:
        git_url: address below which repositories are cloned and pushed, without a trailing slash.
        credential: asked before each network command; None sends no credential.
        timeout_s: seconds after which one git process and its children are killed.
        allow_file: lets `git_url` be a `file://` address.
        on_spawn: told each command line (subcommand first) before it starts.
        program: path of git; found on PATH when empty.
    """

    def __init__(
        self,
        *,
        git_url: str,
        credential: Callable[[], str | None],
        timeout_s: float,
        allow_file: bool = False,
        on_spawn: Callable[[tuple[str, ...]], None] | None = None,
        program: str = "",
    ) -> None:
        self._base = git_url.rstrip("/")
        self._scheme = urlsplit(git_url).scheme
        if self._scheme not in {"https", "http"} | ({"file"} if allow_file else set()):
            raise RepositoryError(f"git_url {git_url!r}: expected an https:// (or http://) address")
        if urlsplit(git_url).username is not None:
            raise RepositoryError("git_url holds a user name or password: expected none")
        self._credential = credential
        self._timeout_s = timeout_s
        self._on_spawn = on_spawn
        self._program = program

    def url(self, repository: Repository) -> str:
        """The literal address of a repository."""
        return f"{self._base}/{repository.owner}/{repository.name}.git"

    def run(
        self,
        bare: Path,
        *argv: str,
        stdin: bytes = b"",
        index: Path | None = None,
        expect: tuple[int, ...] = (0,),
    ) -> Answer:
        """Run one command to its end. Raises GitError on an exit code outside `expect`."""
        process = self._start(bare, argv, subprocess.PIPE, index=index)
        try:
            out, err = process.communicate(stdin, timeout=self._timeout_s)
        except subprocess.TimeoutExpired as error:
            raise GitTimeoutError(self._too_long(argv)) from error
        finally:
            _end(process)
            _close(process)
        answer = Answer(process.returncode, out, err)
        if answer.code not in expect:
            detail = err.decode(errors="replace").strip()
            raise GitError(f"git {argv[0]} ended with code {answer.code}", detail)
        return answer

    @contextmanager
    def stream(self, bare: Path, *argv: str, lines: Iterable[bytes] = ()) -> Iterator[IO[bytes]]:
        """Run one command and read its standard output while it runs; `lines` is its input.

        Leaving before the end kills git. Raises GitError when git failed on the way.
        """
        with tempfile.TemporaryFile() as questions, tempfile.TemporaryFile() as complaints:
            questions.writelines(lines)
            questions.seek(0)
            process = self._start(bare, argv, questions)
            watchdog = threading.Timer(self._timeout_s, _kill, (process,))
            listener = threading.Thread(target=_drain, args=(process, complaints))
            watchdog.start()
            listener.start()
            ended = False
            try:
                assert process.stdout is not None  # noqa: S101 - GitPython always opens it
                yield process.stdout
                # Nothing to read now is neither an end nor worth waiting for: nobody wants more.
                readable, _, _ = select.select([process.stdout], [], [], 0)
                ended = bool(readable) and process.stdout.read(1) == b""
                if ended:
                    process.wait()
            finally:
                watchdog.cancel()
                _end(process)
                listener.join()
                _close(process)
            if ended and process.returncode == -signal.SIGKILL:
                raise GitTimeoutError(self._too_long(argv))
            if ended and process.returncode:
                complaints.seek(0)
                detail = complaints.read(_COMPLAINT_BYTES).decode(errors="replace").strip()
                raise GitError(f"git {argv[0]} ended with code {process.returncode}", detail)

    def _too_long(self, argv: tuple[str, ...]) -> str:
        return f"git {argv[0]} took longer than {self._timeout_s:g} s and was ended"

    def _start(
        self,
        bare: Path,
        argv: tuple[str, ...],
        stdin: int | BinaryIO,
        *,
        index: Path | None = None,
    ) -> "subprocess.Popen[bytes]":
        check(argv)
        address = next((word for word in argv if "://" in word), None)
        if address is not None and not address.startswith(f"{self._base}/"):
            raise ForbiddenGitError("an address outside of git_url")
        if self._on_spawn is not None:
            self._on_spawn(argv)
        # Loading GitPython starts `git version` once and costs 0.1 s: only who needs git pays.
        from git.cmd import Git

        program = self._program or shutil.which("git")
        if not program:
            raise RepositoryError("git is not installed (not found on PATH)")
        environment = self._environment(program, index=index, address=address)
        # GitPython hands every child our whole environment; `env` takes the rest away again.
        foreign = [
            word for name in sorted(os.environ) if name not in environment for word in ("-u", name)
        ]
        started = Git("/").execute(
            ["env", *foreign, program, f"--git-dir={bare}", *argv],
            istream=stdin,
            as_process=True,
            env=environment,
            start_new_session=True,
        )
        assert isinstance(started, Git.AutoInterrupt)  # noqa: S101 - what as_process gives
        process = started.proc
        started.proc = None  # ended by us, not by GitPython's finaliser
        assert process is not None  # noqa: S101 - it was just started
        return process

    def _environment(
        self, program: str, *, index: Path | None, address: str | None
    ) -> dict[str, str]:
        environment = dict(FIXED)
        environment |= {name: os.environ[name] for name in INHERITED & os.environ.keys()}
        environment["PATH"] = f"{Path(program).parent}:/usr/local/bin:/usr/bin:/bin"
        environment["GIT_ALLOW_PROTOCOL"] = self._scheme
        # Plumbing must never see the index of a worktree by accident.
        environment["GIT_INDEX_FILE"] = str(index) if index else "/nonexistent/index"
        settings = [*CONFIG, (f"protocol.{self._scheme}.allow", "always")]
        if address is not None:
            settings += self._authorization(address)
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        return environment

    def _authorization(self, address: str) -> list[tuple[str, str]]:
        if self._scheme == "file":
            return []
        try:
            token = self._credential()
        except TobanError as error:
            raise RepositoryError(f"no credential for {address}: {error}") from error
        if token is None:
            return []
        if not token.isascii() or not token.isprintable() or " " in token:
            raise RepositoryError("the GitHub token holds characters that no token has")
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        # Scoped to this address: no other repository and no other host gets the header.
        return [(f"http.{address}.extraHeader", f"Authorization: Basic {basic}")]


def _drain(process: "subprocess.Popen[bytes]", into: IO[bytes]) -> None:
    assert process.stderr is not None  # noqa: S101 - GitPython always opens it
    shutil.copyfileobj(process.stderr, into)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill git with the helpers it started (its process group is its own)."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _kill(process)
    process.wait()


def _close(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
