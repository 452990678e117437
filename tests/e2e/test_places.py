"""Several repositories: owner mode, equal issue numbers, default branches of any name."""

import pytest

from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, Host, reviewer, worker

WRITE = "printf 'hello\\n' > feature.txt"
OTHER = "octo/Other.repo"


@pytest.fixture
def host(make_host: MakeHost) -> Host:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.world.add_repo(
        OTHER,
        files={"a.txt": "a\n"},
        default_branch="開発",
        private=True,
        collaborators={"toban-bot": "write"},
    )
    host.configure(github='owner = "Octo"')
    text = host.config.read_text(encoding="utf-8")
    host.config.write_text(text.replace(f'repositories = ["{REPO}"]', ""), encoding="utf-8")
    return host


def test_equal_numbers_are_different_work(host: Host) -> None:
    first = host.issue()
    second = host.world.create_issue(OTHER, "別", "feature.txt", by="octo").number
    host.world.add_label(OTHER, second, "agent:ready", by="octo")
    assert first == second
    host.rest()
    assert host.labels(first) == ["human:review"]
    assert host.world.labels(OTHER, second) == ["human:review"]
    assert host.world.pull(OTHER, host.world.pulls(OTHER)[0].number).base == "開発"
    trees = sorted(p.parent.name for p in (host.root / "worktrees").glob("*/*/issue-1"))
    assert trees == ["Other.repo", "app"]


def test_an_idle_owner_costs_six_conditional_requests(host: Host) -> None:
    host.toban("run-once", check=0)
    host.world.clear_requests()
    host.toban("run-once", check=0)
    requests = [r for r in host.world.requests() if r.path != "/user"]
    assert len(requests) == 6
    assert {(r.path, r.status) for r in requests} == {("/issues", 304)}


def test_a_repository_that_vanished_stops_no_other(host: Host) -> None:
    host.configure(github='owner = "octo"')
    text = host.config.read_text(encoding="utf-8")
    names = f'repositories = ["{REPO}", "ghost/gone"]'
    host.config.write_text(text.replace(f'repositories = ["{REPO}"]', names), encoding="utf-8")
    number = host.issue()
    tick = host.toban("run-once")
    assert tick.code == 1, "something wanted stayed unseen"
    assert "ghost/gone" in tick.out + tick.err
    assert host.labels(number) == ["human:review"]


def test_a_renamed_repository_is_not_written_to(host: Host) -> None:
    host.configure()
    number = host.issue()
    host.world.rename_repo(REPO, "renamed")
    done = host.toban("run-once")
    assert done.code == 1
    assert "octo/renamed" in done.out + done.err
    assert host.world.labels("octo/renamed", number) == ["agent:ready"]
    writes = [r for r in host.world.requests() if r.method not in ("GET", "HEAD")]
    assert [r for r in writes if r.path != "/graphql"] == []


def test_an_archived_repository_waits(host: Host) -> None:
    host.configure()
    number = host.issue()
    host.world.set_archived(REPO)
    plan = host.toban("plan", "--json", check=0).json()
    assert [hold["reason"] for hold in plan["holds"]] == ["RepositoryArchived"]
    host.toban("run-once", check=0)
    assert host.labels(number) == ["agent:ready"]
    host.world.set_archived(REPO, archived=False)
    host.rest()
    assert host.labels(number) == ["human:review"]


def test_plan_writes_nothing_anywhere(host: Host) -> None:
    host.issue()
    host.toban("run-once", check=0)
    before = snapshot(host)
    host.world.clear_requests()
    for command in (["plan"], ["plan", "--json"], ["status"], ["explain", f"{REPO}#1"]):
        host.toban(*command)
    assert snapshot(host) == before
    methods = {(r.method, r.path) for r in host.world.requests() if r.method != "GET"}
    assert methods <= {("POST", "/graphql")}


def snapshot(host: Host) -> dict[str, tuple[int, int, bytes]]:
    """Every file below the root and beside the configuration, with mode, time and content."""
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes())
        for top in (host.root, host.folder / "home", host.folder / "codex")
        for path in top.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
