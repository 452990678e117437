"""Ends and interruptions: what people do meanwhile, and what a stopped tick leaves behind."""

import re
import shutil
import signal
import subprocess

from controller.demo.model import Hang, Refused
from controller.demo.standin import Fault
from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, Host, kill, reviewer, rework, worker

WRITE = "printf 'hello\\n' > feature.txt"


def test_closed_while_working_leads_to_nothing_more(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    pull = host.world.pulls(REPO)[0].number
    host.world.close(REPO, number, by="octo")
    host.rest()
    assert sum("IssueClosed" in body for body in host.bodies(pull)) == 1
    assert len(host.pushes()) == 1


def test_a_removed_label_stops_the_work_and_keeps_it(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.world.add_fault(Fault(method="POST", path=r".*/pulls", status=500, times=50))
    number = host.issue()
    host.toban("run-once")
    host.world.remove_label(REPO, number, "agent:working", by="octo")
    host.world.clear_faults()
    host.rest()
    assert host.labels(number) == []
    assert sum("LabelRemoved" in body for body in host.bodies(number)) == 1
    assert host.world.pulls(REPO) == []
    assert (host.root / "worktrees" / REPO / f"issue-{number}" / "feature.txt").exists()


def test_a_pull_request_closed_by_a_human_leads_to_nothing_more(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    host.world.advance(5)
    host.world.close(REPO, host.world.pulls(REPO)[0].number, by="octo")
    runs = len(host.model.requests)
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert len(host.model.requests) == runs, "no agent is asked"
    plan = host.toban("plan", "--json", check=0).json()
    assert [hold["reason"] for hold in plan["holds"]] == ["PullRequestClosed"]


def test_every_lost_answer_is_looked_up(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    for path in (r".*/comments", r".*/labels", r".*/pulls", r".*/assignees"):
        host.world.add_fault(Fault(method="POST", path=path, status=502, after_effect=True))
    number = host.issue()
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert len(host.world.pulls(REPO)) == 1
    first_lines = [body.partition("\n")[0] for body in host.bodies(number)]
    assert len(first_lines) == len(set(first_lines))


def test_a_rate_limit_pauses_everything(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.issue()
    host.world.add_fault(
        Fault(path=r".*/issues/1", kind="secondary", status=403, retry_after=600, times=1)
    )
    assert host.toban("run-once").code == 1
    host.world.clear_requests()
    plan = host.toban("plan", "--json")
    assert plan.code == 1
    assert plan.json()["complete"] is False
    assert host.toban("run-once").code == 1
    assert host.world.requests() == []


def test_a_usage_limit_is_no_attempt(make_host: MakeHost) -> None:
    limit = Refused(status=429, error={"type": "usage_limit_reached", "message": "limit"})
    host = make_host(worker([limit], [WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.toban("run-once", check=0)
    plan = host.toban("plan", "--json", check=0).json()
    assert [hold["reason"] for hold in plan["holds"]] == ["UsageLimit"]
    (host.root / "state" / "agents-pause.json").unlink()
    host.rest()
    assert host.labels(number) == ["human:review"]


def test_the_loser_of_the_lock_says_who_has_it(make_host: MakeHost) -> None:
    host = make_host(worker([Hang(hang=60)]), reviewer(APPROVE))
    host.issue()
    running = host.start("run-once")
    try:
        host.model.wait_request(timeout=60)
        second = host.toban("run-once", "--only", "issues")
        assert second.code == 75
        assert f"pid {running.pid}" in second.err
        assert host.toban("plan").code in (0, 2), "plan needs no lock"
    finally:
        kill(running)


def test_sigterm_ends_the_agent_and_the_next_tick_goes_on(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE, Hang(hang=60)], [WRITE]), reviewer(APPROVE))
    number = host.issue()
    running = host.start("run-once")
    host.model.wait_request(timeout=60)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0, out + err
    host.rest()
    assert host.labels(number) == ["human:review"]


def test_a_killed_ticks_agent_is_ended_before_anything_else(make_host: MakeHost) -> None:
    host = make_host(worker([Hang(hang=600)], [WRITE]), reviewer(APPROVE))
    number = host.issue()
    running = host.start("run-once")
    host.model.wait_request(timeout=60)
    kill(running)
    host.rest()
    assert host.labels(number) == ["human:review"]
    left = subprocess.run(["pgrep", "-f", str(host.root)], capture_output=True, check=False)
    assert left.stdout == b""


def start_over(host: Host, number: int) -> None:
    """The ordinary way to begin anew: pull request closed, branch deleted, label put on again."""
    host.world.advance(5)
    host.world.close(REPO, host.world.pulls(REPO)[-1].number, by="octo")
    host.world.delete_branch(REPO, f"agent/issue-{number}", by="octo")
    host.world.advance(5)
    for label in ("human:review", "agent:blocked"):
        if label in host.labels(number):
            host.world.remove_label(REPO, number, label, by="octo")
    host.world.add_label(REPO, number, "agent:ready", by="octo")


def test_starting_over_after_the_branch_was_deleted(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE], ["echo anew > other.txt"]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    left = host.git("rev-parse", f"agent/issue-{number}").strip()
    start_over(host, number)
    host.rest()
    assert host.labels(number) == ["human:review"], host.bodies(number)
    names = host.git("diff", "--name-only", f"main..agent/issue-{number}").split()
    assert names == ["other.txt"]
    bare = host.root / "repos" / f"{REPO}.git"
    kept = subprocess.run(
        ["git", "-C", str(bare), "for-each-ref", "--format=%(objectname)", "refs/toban"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left in kept.stdout, "nothing that was made is lost"


def test_an_unpushed_commit_has_a_remedy_that_works(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE], ["echo anew > other.txt"]), reviewer(APPROVE))
    host.world.add_fault(Fault(method="POST", path=r".*git-receive-pack", status=503, times=20))
    number = host.issue()
    host.toban("run-once")
    shutil.rmtree(host.root / "state" / "octo")
    shutil.rmtree(host.root / "worktrees")
    host.world.clear_faults()
    host.rest()
    assert host.labels(number) == ["agent:blocked"]
    said = next(body for body in host.bodies(number) if "BranchUnpushed" in body)
    command = re.search(r"git -C repos/\S+ branch -m \S+ [\w/-]+", said.replace("`", ""))
    assert command is not None, said
    subprocess.run(command[0].split(), cwd=host.root, check=True)
    host.world.advance(5)
    host.world.remove_label(REPO, number, "agent:blocked", by="octo")
    host.world.add_label(REPO, number, "agent:ready", by="octo")
    host.rest()
    assert host.labels(number) == ["human:review"], host.bodies(number)


def test_a_lost_worktree_does_not_lose_the_validated_commit(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.world.add_fault(Fault(method="POST", path=r".*git-receive-pack", status=503, times=20))
    number = host.issue()
    host.toban("run-once")
    shutil.rmtree(host.root / "worktrees")
    host.world.clear_faults()
    host.rest()
    assert host.labels(number) == ["human:review"], host.bodies(number)
    workers = [request for request in host.model.requests if request.role == "worker"]
    assert len({request.thread for request in workers}) == 1, "the worker ran once"


def test_a_verdict_edited_in_its_own_second_does_not_act(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE], [WRITE + "; echo more >> feature.txt"]), reviewer(rework()))
    host.world.add_fault(
        Fault(method="POST", path=r".*/issues/1/labels", status=503, skip=2, times=40)
    )
    number = host.issue()
    host.toban("run-once")
    pull = host.world.pulls(REPO)[0].number
    comment = host.world.comments(REPO, pull)[0]
    assert '"verdict": "rework"' in comment.body
    comment.body = comment.body.replace('"verdict": "rework"', '"verdict": "approve"')
    host.world.clear_faults()
    host.toban("run-once")
    assert "human:review" not in host.labels(number)


def test_a_token_revoked_in_the_middle_is_an_error_and_keeps_the_work(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.world.add_fault(Fault(path=r"/repos/.*", method="GET", status=401, skip=30, times=200))
    assert host.toban("run-once").code == 1
    host.world.clear_faults()
    host.rest()
    assert host.labels(number) == ["human:review"]


def test_an_item_that_cannot_be_seen_is_missed_when_asked_for(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    plan = host.toban("plan", "--item", f"{REPO}#99", "--json")
    assert plan.code == 1
    assert plan.json()["complete"] is False
