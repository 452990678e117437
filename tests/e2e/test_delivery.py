"""What the worker leaves is imported, checked and delivered, or goes back with a message."""

import subprocess

import pytest

from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, Host, reviewer, worker

WRITE = "printf 'hello\\n' > feature.txt"
TREE = "worktrees/octo/app/issue-1"


def prompts(host: Host) -> str:
    """Everything that the model was told."""
    return "\n".join(request.prompt for request in host.model.requests)


def blocked(host: Host, number: int, reason: str) -> None:
    host.rest()
    assert host.labels(number) == ["agent:blocked"]
    assert sum(reason in body for body in host.bodies(number)) == 1


MENDED = {
    "an empty line at the end": ("printf 'hello\\n\\n' > feature.txt", "WhitespaceError"),
    "nothing at all": ("true", "EmptyChange"),
    "a protected path": ("mkdir -p .github && echo x > .github/w.yml", "ProtectedPath"),
    "a link out of the tree": ("ln -s /etc/passwd leak", "LinkOutside"),
    "a FIFO": ("mkfifo pipe", "SpecialFile"),
    "a repository inside": ("git init -q inner && echo x > inner/f", "NestedRepository"),
    "a secret": ("echo ghp_0123456789abcdefghijklmnopqrstuvwxyz > key.txt", "SecretInChange"),
}


@pytest.mark.parametrize(("command", "reason"), MENDED.values(), ids=MENDED.keys())
def test_what_the_worker_can_mend_goes_back_to_it(
    make_host: MakeHost, command: str, reason: str
) -> None:
    tidy = f"rm leak; rm pipe; rm key.txt; rm -r .github; rm -r inner; {WRITE}; true"
    host = make_host(worker([command], [tidy]), reviewer(APPROVE))
    number = host.issue()
    host.toban("run-once", check=0)
    assert host.labels(number) == ["human:review"], host.bodies(number)
    assert host.git("diff", "--name-only", f"main..agent/issue-{number}").split() == ["feature.txt"]
    assert len({request.thread for request in host.model.requests}) == 2, "the thread is resumed"
    document = host.toban("status", "--json").json()
    assert document["items"][0]["phase"] == "human-review"
    assert reason in "\n".join(str(p) for p in delivered(host))


def delivered(host: Host) -> list[str]:
    """What became of each worker run."""
    folder = host.root / "state/octo/app/issue-1/runs"
    return [path.read_text() for path in sorted(folder.glob("*/delivery.json"))]


def test_what_is_never_mended_blocks_within_the_budget(make_host: MakeHost) -> None:
    host = make_host(worker(["true"]), reviewer(APPROVE))
    number = host.issue()
    blocked(host, number, "DeliveryBudgetSpent")
    assert len(delivered(host)) == 3
    assert host.pushes() == []


def test_verify_runs_on_exactly_the_commit(make_host: MakeHost) -> None:
    host = make_host(
        worker(["echo broken > README.md"], [f"echo '# app' > README.md; {WRITE}"]),
        reviewer(APPROVE),
    )
    host.configure('[repository."octo/app"]\nverify = ["make test"]\n')
    number = host.issue()
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert "make test" in prompts(host)
    assert "CheckFailed" in delivered(host)[0]
    assert host.git("show", f"agent/issue-{number}:README.md") == "# app\n"


def test_a_check_that_fails_on_the_base_is_not_the_workers_fault(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.configure('[repository."octo/app"]\nverify = ["test -e never"]\n')
    number = host.issue()
    host.toban("run-once", check=0)
    assert host.labels(number) == ["agent:working"]
    plan = host.toban("plan", "--json", check=0).json()
    assert [hold["reason"] for hold in plan["holds"]] == ["CheckFailsOnBase"]
    host.world.push_commit(REPO, "main", {"never": "now\n"}, by="octo")
    assert host.toban("plan").code == 2


def test_prepare_runs_once_before_the_worker_and_serves_verify(make_host: MakeHost) -> None:
    host = make_host(worker(["cat made/lib > feature.txt"]), reviewer(APPROVE))
    host.configure(
        '[repository."octo/app"]\n'
        'prepare = ["mkdir made && echo lib > made/lib && echo /made/ > .gitignore && '
        'pwd > made/here"]\n'
        'verify = ["grep -q lib made/lib", "test $(cat made/here) = $(pwd)"]\n'
    )
    number = host.issue()
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert host.git("show", f"agent/issue-{number}:feature.txt") == "lib\n"
    assert "made/lib" not in host.git("ls-tree", "-r", "--name-only", f"agent/issue-{number}")


def test_the_worker_can_read_no_secret_and_reach_no_network(make_host: MakeHost) -> None:
    looks = (
        "(cat {token} {codex}/auth.json {root}/state/secret {root}/locks/* /proc/*/environ; env;"
        " (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo REACHED; git config -l) > seen.txt 2>&1;"
        " echo done >> seen.txt"
    )
    host = make_host(worker(["cat look.txt"]), reviewer(APPROVE))
    (host.folder / "codex").mkdir(exist_ok=True)
    (host.folder / "codex/auth.json").write_text("auth-canary")
    (host.root / "state").mkdir(parents=True)
    (host.root / "state/secret").write_text("state-canary")
    port = host.github.url.rpartition(":")[2]
    command = looks.format(token=host.token, codex=host.folder / "codex", root=host.root, port=port)
    host.model.script = host.model.script.model_copy(
        update={"scenarios": (worker([command]), reviewer(APPROVE))}
    )
    number = host.issue()
    host.rest()
    seen = host.git("show", f"agent/issue-{number}:seen.txt")
    assert "done" in seen
    for canary in ("toban-token-canary", "auth-canary", "state-canary", "REACHED"):
        assert canary not in seen


def test_a_worker_that_tampers_with_git_delivers_nothing(make_host: MakeHost) -> None:
    host = make_host(worker([f"{WRITE}; mv .git old; git init -q .; true"]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    names = host.git("ls-tree", "-r", "--name-only", f"agent/issue-{number}")
    assert ".git/" not in names, "the sandbox kept the pointer, or the import refused"


def test_japanese_names_arrive_byte_for_byte(make_host: MakeHost) -> None:
    nfd = "か\u3099.txt"
    command = f"printf '二\\r\\n' >> 改行.txt; echo 一 > 全角　名前.txt; printf 'x\\n' > '{nfd}'"
    host = make_host(worker([command]), reviewer(APPROVE))
    number = host.issue(title="全角：題名　テスト")
    host.rest()
    assert host.labels(number) == ["human:review"]
    names = host.git("diff", "--name-only", "-z", f"main..agent/issue-{number}").split("\0")
    assert set(names) == {"改行.txt", "全角　名前.txt", nfd, ""}
    assert host.git("show", f"agent/issue-{number}:改行.txt") == "一\r\n二\r\n"
    assert "全角：題名" in host.world.issue(REPO, host.world.pulls(REPO)[0].number).title


def test_the_worktree_looks_clean_to_git_afterwards(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.issue()
    host.rest()
    done = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=host.root / TREE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
