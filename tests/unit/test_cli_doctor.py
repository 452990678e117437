"""`toban doctor`: each check by itself, told with how to mend it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from controller.adapters.lock import FileLocks
from controller.demo.standin import Standin
from controller.domain.checkup import Finding, ok
from controller.domain.reasons import Reason
from controller.domain.values import Seen, Unseen
from controller.errors import TobanError
from controller.runtime.doctor import Check, examine
from controller.runtime.doctor_host import (
    check_chrome,
    check_codex,
    check_root,
    check_sandbox,
    check_spare,
)
from tests.builders.issue import POLICY
from tests.cli import REPO, TOKEN, Desk, furnished
from tests.fakes.agents import FakeAgents


def _public(key: rsa.RSAPrivateKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def _private(key: rsa.RSAPrivateKey) -> str:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    encoding, shut = serialization.Encoding.PEM, serialization.NoEncryption()
    return key.private_bytes(encoding, form, shut).decode()


SIX = "agent:working, agent:review, agent:rework, agent:blocked, human:review"


def levels(findings: Iterator[Finding]) -> dict[str, str]:
    found = list(findings)
    assert all(each.level == "ok" or each.advice for each in found), "every trouble has its remedy"
    return {each.check: each.level for each in found}


def _broken() -> list[Finding]:
    raise KeyError("x")


def _refused() -> list[Finding]:
    raise TobanError("no")


def test_a_broken_check_hides_no_other() -> None:
    checks = (
        Check("first", _broken),
        Check("second", _refused),
        Check("third", lambda: [ok("third", "well")]),
    )
    assert levels(examine(checks)) == {"first": "fail", "second": "fail", "third": "ok"}


class TestHost:
    """The machine alone."""

    def test_codex(self, tmp_path: Path) -> None:
        binary = tmp_path / "codex"
        assert levels(check_codex(binary, tmp_path, own_provider=False)) == {"codex": "fail"}
        binary.write_text("#!/bin/sh\necho codex-cli 1.2.3\n", encoding="ascii")
        binary.chmod(0o700)
        found = levels(check_codex(binary, tmp_path, own_provider=False))
        assert found == {"codex": "ok", "codex login": "warn"}
        assert levels(check_codex(binary, tmp_path, own_provider=True))["codex login"] == "ok"
        (tmp_path / "auth.json").touch()
        assert levels(check_codex(binary, tmp_path, own_provider=False))["codex login"] == "ok"

    def test_the_sandbox_is_tried_and_leaves_nothing(self, tmp_path: Path) -> None:
        broken = Unseen(
            source="codex sandbox", reason="not enforced", code=Reason.SANDBOX_NOT_ENFORCED
        )
        for answer, level in ((None, "ok"), (broken, "fail")):
            agents = FakeAgents(enforced=lambda _, answer=answer: answer)  # type: ignore[misc]  # bound now
            assert levels(check_sandbox(agents, tmp_path, ())) == {"sandbox": level}
            assert list((tmp_path / "state").iterdir()) == []

    def test_the_root(self, tmp_path: Path) -> None:
        assert levels(check_root(tmp_path)) == {"root": "ok"}
        assert levels(check_root(tmp_path / "a" / "b")) == {"root": "ok"}
        assert not (tmp_path / "a").exists()
        (tmp_path / "file").touch()
        assert levels(check_root(tmp_path / "file" / "below")) == {"root": "fail"}

    @pytest.mark.parametrize(
        ("memory", "disk", "found"),
        [
            (50.0, 50.0, {"memory": "ok", "disk": "ok"}),
            (1.0, 50.0, {"memory": "fail", "disk": "ok"}),
            (50.0, 1.0, {"memory": "ok", "disk": "fail"}),
            (Unseen(source="memory", reason="?"), 50.0, {"memory": "fail", "disk": "ok"}),
        ],
        ids=["enough", "no memory", "no disk", "unknown"],
    )
    def test_memory_and_disk(
        self, memory: Seen[float], disk: Seen[float], found: dict[str, str]
    ) -> None:
        class Meter:
            def free_memory_percent(self) -> Seen[float]:
                return memory

            def free_disk_gb(self) -> Seen[float]:
                return disk

        assert levels(check_spare(Meter(), POLICY)) == found

    def test_chrome(self, tmp_path: Path) -> None:
        assert levels(check_chrome("http://127.0.0.1:9")) == {"chrome": "fail"}
        with Standin(tmp_path) as nothing_of_chrome:
            assert levels(check_chrome(nothing_of_chrome.url)) == {"chrome": "fail"}


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Standin]:
    with Standin(tmp_path / "forge") as standin:
        furnished(standin)
        yield standin


@pytest.fixture
def desk(tmp_path: Path, forge: Standin) -> Desk:
    """A desk with a Codex that only tells its version: the sandbox check fails fast, and alone."""
    desk = Desk(tmp_path, url=forge.url)
    codex = tmp_path / "codex"
    codex.write_text("#!/bin/sh\necho codex-cli 1.2.3\n", encoding="ascii")
    codex.chmod(0o700)
    desk.configure(more=f'[agent]\ncodex = "{codex}"\n')
    return desk


def checks(desk: Desk, *words: str) -> dict[str, tuple[str, str, str]]:
    """Status, message and remedy by check, without the sandbox of the made-up Codex."""
    document = desk.toban("doctor", "--json", *words).json()
    assert document["schema"] == 1
    assert document["well"] is all(each["status"] != "fail" for each in document["checks"])
    found = {
        each["check"]: (each["status"], each["message"], each["fix"]) for each in document["checks"]
    }
    assert len(found) == len(document["checks"])
    assert all(fix for status, _, fix in found.values() if status != "ok")
    assert found.pop("sandbox")[0] == "fail"
    return found


def failed(found: dict[str, tuple[str, str, str]]) -> list[str]:
    return [check for check, (status, _, _) in found.items() if status == "fail"]


class TestForge:
    """What needs the account, at a real API."""

    def test_a_fresh_repository_lacks_labels_and_is_told_the_command(self, desk: Desk) -> None:
        found = checks(desk)
        assert failed(found) == [f"labels of {REPO}"]
        assert found[f"labels of {REPO}"][1:] == (f"missing: {SIX}", f"toban labels {REPO}")
        assert desk.toban("labels").code == 0
        found = checks(desk)
        assert failed(found) == []
        assert found["credential"][1] == "octo, scopes: repo"
        assert found["api"][0] == found["clock"][0] == found["rate limit"][0] == "ok"
        assert found[REPO][1] == "may be pushed to"

    def test_a_refused_token_leaves_the_rest_told(self, desk: Desk, forge: Standin) -> None:
        forge.world.revoke_token(TOKEN)
        found = checks(desk)
        assert failed(found) == ["credential"]
        assert "401" in found["credential"][1]
        assert found["repositories"][0] == "warn"
        assert found["api"][0] == "ok"

    def test_no_token(self, desk: Desk) -> None:
        desk.token.unlink()
        assert failed(checks(desk)) == ["credential"]

    @pytest.mark.parametrize(
        ("scopes", "status"),
        [
            (("repo",), "ok"),
            (("repo", "delete_repo"), "warn"),
            (("public_repo",), "warn"),
            ((), "fail"),
        ],
        ids=["enough", "too much", "public only", "none"],
    )
    def test_scopes(self, desk: Desk, forge: Standin, scopes: tuple[str, ...], status: str) -> None:
        forge.world.add_token("octo", "tok_scopes", scopes=scopes)
        desk.token.write_text("tok_scopes", encoding="ascii")
        assert checks(desk)["credential"][0] == status

    def test_a_repository_that_is_gone_and_one_that_is_only_read(
        self, desk: Desk, forge: Standin
    ) -> None:
        forge.world.add_user("other")
        forge.world.add_repo("other/read")
        codex = desk.folder / "codex"
        desk.configure(
            f'repositories = ["octo/gone", "other/read", "{REPO}"]',
            more=f'[agent]\ncodex = "{codex}"\n',
        )
        found = checks(desk)
        assert "404" in found["octo/gone"][1]
        assert found["other/read"][:2] == ("fail", "may not be pushed to")
        assert found[REPO][0] == "ok"

    def test_an_owner_is_looked_at_in_samples(self, desk: Desk, forge: Standin) -> None:
        for number in range(6):
            forge.world.add_repo(f"octo/more-{number}")
        desk.configure('owner = "octo"', more=f'[agent]\ncodex = "{desk.folder / "codex"}"\n')
        found = checks(desk)
        assert failed(found) == []
        assert found["owner octo"][1] == "7 of 7 visible repositories can be worked on"
        assert len([check for check in found if check.startswith("labels of")]) == 3

    def test_a_github_app_instead_of_a_token(self, desk: Desk, forge: Standin) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        forge.world.add_app(7, "helper", owner="octo", public_key=_public(key))
        forge.world.install_app(7, "octo")
        place = desk.folder / "app.pem"
        place.write_text(_private(key), encoding="ascii")
        place.chmod(0o600)
        text = desk.config.read_text(encoding="utf-8").replace('token_file = "token"', "")
        app = '[github.app]\napp_id = 7\nprivate_key_file = "app.pem"\n'
        text = text.replace("repositories", 'assignee = "octo"\nowner = "octo"\nrepositories')
        desk.config.write_text(text.replace("[host]", f"{app}[host]"), encoding="utf-8")
        found = checks(desk)
        assert failed(found) == [f"labels of {REPO}"]
        assert found["credential"][1] == "helper[bot], with permissions of its own"
        assert found["owner octo"][1] == "1 of 1 visible repositories can be worked on"

    def test_who_is_at_work(self, desk: Desk) -> None:
        with FileLocks(desk.root).hold("issues"):
            assert f"pid {os.getpid()}" in checks(desk)["lock"][1]


class TestSelf:
    """`--self`: neither network nor account."""

    def test_it_asks_nobody(self, desk: Desk, forge: Standin) -> None:
        forge.world.clear_requests()
        found = checks(desk, "--self")
        assert set(found) == {"program", "git", "config", "codex", "codex login", "root"}
        assert failed(found) == []
        assert forge.world.requests() == []

    def test_a_wrong_configuration_is_one_finding(self, desk: Desk) -> None:
        desk.config.write_text("[paths", encoding="utf-8")
        done = desk.toban("doctor", "--self")
        assert done.code == 1
        assert "fail  config: " in done.out
        assert "ok    git: " in done.out
        assert done.out.endswith("Doctor: 3 checks, 1 failed, 0 warnings.\n")

    @pytest.mark.needs("codex", "sandbox")
    def test_all_is_well_with_the_real_codex(self, tmp_path: Path) -> None:
        desk = Desk(tmp_path)
        done = desk.toban("doctor", "--self")
        assert done.code == 0, done.out
        assert "ok    sandbox: " in done.out
        assert list((desk.root / "state").iterdir()) == []
