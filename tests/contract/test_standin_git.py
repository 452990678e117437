"""Git over HTTP on the stand-in, driven by the real git: clone, push, refusals, records."""

import base64
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.demo.standin import Fault, Standin
from tests.openapi.client import Client

pytestmark = pytest.mark.needs("git>=2.38")

NAME = "octo/app"


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "github") as standin:
        for login in ("octo", "toban", "reader", "stranger"):
            standin.world.add_user(login)
        standin.world.add_repo(
            NAME, private=True, collaborators={"toban": "write", "reader": "read"}
        )
        standin.world.add_repo("octo/public")
        yield standin


class Git:
    """The real git with a token in its environment, and none of the user's configuration."""

    def __init__(self, github: Standin, folder: Path, token: str | None = "tok_toban") -> None:
        self.folder = folder
        self.url = github.url
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "toban@users.example",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "toban@users.example",
        }
        if token is not None:
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            self.env |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{github.url}/.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
            }

    def __call__(self, *args: str) -> str:
        done = self.run(*args)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", str(self.folder), *args],
            check=False,
            capture_output=True,
            text=True,
            env=self.env,
        )

    def clone(self, name: str = NAME) -> "Git":
        self.folder.mkdir(parents=True)
        self("clone", "-q", f"{self.url}/{name}.git", ".")
        return self

    def commit(self, path: str, content: str | bytes, message: str = "m") -> str:
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / path).write_bytes(data)
        self("add", "-A")
        self("commit", "-q", "-m", message)
        return self("rev-parse", "HEAD")


class TestMoving:
    def test_clone_commit_push(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        sha = git.commit("新しい.txt", "あ\n")
        git("push", "-q", "origin", "HEAD:refs/heads/agent/issue-1")
        assert github.world.head(NAME, "agent/issue-1") == sha
        assert github.world.files(NAME, "agent/issue-1")["新しい.txt"] == "あ\n"
        push = github.world.pushes(NAME)[-1]
        assert (push.ref, push.old, push.new) == ("refs/heads/agent/issue-1", None, sha)
        assert (push.user, push.fast_forward, push.via) == ("toban", True, "git")

    def test_thirty_megabytes_arrive(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        sha = git.commit("big.bin", os.urandom(30_000_000))
        git("push", "-q", "origin", "HEAD:refs/heads/big")
        assert github.world.head(NAME, "big") == sha
        again = Git(github, tmp_path / "again").clone()
        assert again("rev-parse", "origin/big") == sha
        assert (tmp_path / "again" / ".git").is_dir()

    def test_a_push_moves_the_pull_request(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        git.commit("a", "1")
        git("push", "-q", "origin", "HEAD:refs/heads/b")
        number = github.world.open_pull(NAME, head="b", by="toban").number
        sha = git.commit("a", "2")
        git("push", "-q", "origin", "HEAD:refs/heads/b")
        pull = Client(github.url, "tok_toban").get(f"/repos/{NAME}/pulls/{number}")
        assert (pull["head"]["sha"], pull["commits"]) == (sha, 2)
        assert git("ls-remote", "origin", f"refs/pull/{number}/head").split()[0] == sha

    def test_forced_pushes_go_through_and_are_recorded(
        self, github: Standin, tmp_path: Path
    ) -> None:
        git = Git(github, tmp_path / "clone").clone()
        git.commit("a", "1")
        git("push", "-q", "origin", "HEAD:refs/heads/b")
        git("commit", "-q", "--amend", "-m", "other")
        assert git.run("push", "-q", "origin", "HEAD:refs/heads/b").returncode != 0
        git("push", "-q", "--force", "origin", "HEAD:refs/heads/b")
        git("push", "-q", "origin", ":refs/heads/b")
        moves = [it.fast_forward for it in github.world.pushes(NAME) if it.ref.endswith("/b")]
        assert moves == [True, False, False]
        assert github.world.head(NAME, "b") is None

    def test_several_references_at_once(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        git("push", "-q", "origin", "HEAD:refs/heads/x", "HEAD:refs/heads/y", "HEAD:refs/tags/v1")
        refs = [it.ref for it in github.world.pushes(NAME)[1:]]
        assert sorted(refs) == ["refs/heads/x", "refs/heads/y", "refs/tags/v1"]

    def test_pull_references_cannot_be_pushed(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        assert git.run("push", "-q", "origin", "HEAD:refs/pull/9/head").returncode != 0
        assert len(github.world.pushes(NAME)) == 1

    def test_fetch_of_a_single_commit(self, github: Standin, tmp_path: Path) -> None:
        sha = github.world.push_commit(NAME, "b", {"x": "1"}, by="octo")
        git = Git(github, tmp_path / "clone").clone()
        git("fetch", "-q", "--depth=1", "origin", sha)
        assert git("rev-parse", "FETCH_HEAD") == sha


class TestRefusals:
    @pytest.mark.parametrize(
        ("token", "said"),
        [
            pytest.param("bad", "could not read Username", id="unknown token"),
            pytest.param(None, "could not read Username", id="no token"),
            pytest.param("tok_stranger", "not found", id="not visible"),
        ],
    )
    def test_who_may_not_read(
        self, github: Standin, tmp_path: Path, token: str | None, said: str
    ) -> None:
        git = Git(github, tmp_path, token)
        done = git.run("ls-remote", f"{github.url}/{NAME}.git")
        assert done.returncode != 0
        assert said in done.stderr

    def test_a_reader_clones_and_does_not_push(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone", "tok_reader").clone()
        git.commit("a", "1")
        done = git.run("push", "origin", "HEAD:refs/heads/b")
        assert done.returncode != 0
        assert "403" in done.stderr
        assert github.world.head(NAME, "b") is None

    def test_anybody_clones_what_is_public(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone", None).clone("octo/public")
        git.commit("a", "1")
        assert git.run("push", "origin", "HEAD:refs/heads/b").returncode != 0

    def test_a_token_without_contents_does_not_push(self, github: Standin, tmp_path: Path) -> None:
        github.world.add_token(
            "toban", "github_pat_x", kind="fine-grained", permissions={"contents": "read"}
        )
        git = Git(github, tmp_path / "clone", "github_pat_x").clone()
        git.commit("a", "1")
        assert git.run("push", "origin", "HEAD:refs/heads/b").returncode != 0

    def test_an_old_name_leads_on(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        github.world.rename_repo(NAME, "renamed")
        sha = git.commit("a", "1")
        git("push", "-q", "origin", "HEAD:refs/heads/b")
        assert github.world.head("octo/renamed", "b") == sha
        assert [it.status for it in github.world.requests()].count(301) == 1


class TestFaults:
    def test_a_push_that_is_done_and_not_answered(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        sha = git.commit("a", "1")
        path = r"/octo/app\.git/git-receive-pack"
        github.world.add_fault(Fault(method="POST", path=path, kind="drop", after_effect=True))
        assert git.run("push", "origin", "HEAD:refs/heads/b").returncode != 0
        assert github.world.head(NAME, "b") == sha
        assert "Everything up-to-date" in git.run("push", "origin", "HEAD:refs/heads/b").stderr

    def test_a_push_that_fails(self, github: Standin, tmp_path: Path) -> None:
        git = Git(github, tmp_path / "clone").clone()
        git.commit("a", "1")
        github.world.add_fault(Fault(path=r".*/git-receive-pack", status=500))
        done = git.run("push", "origin", "HEAD:refs/heads/b")
        assert done.returncode != 0
        assert "500" in done.stderr
        assert github.world.head(NAME, "b") is None
        seen = [it for it in github.world.requests() if it.fault]
        assert [(it.method, it.status, it.user) for it in seen] == [("POST", 500, "toban")]
