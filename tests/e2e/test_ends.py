"""Ends and interruptions: what people do meanwhile, and what a stopped tick leaves behind."""

import signal
import subprocess

from controller.demo.model import Hang, Refused
from controller.demo.standin import Fault
from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, kill, reviewer, worker

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
