"""The whole flow as processes: a labelled issue becomes a reviewed pull request for a human."""

from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, REPO, Host, reviewer, rework, worker

WRITE = "printf 'hello\\n' > feature.txt"
MORE = "printf 'more\\n' >> feature.txt"


def never_forced(host: Host) -> None:
    """No push of ours rewrote history, none went to another branch, nothing was merged."""
    assert all(push.fast_forward for push in host.pushes())
    assert {push.ref.split("/")[2] for push in host.pushes()} <= {"agent"}
    merges = [r for r in host.world.requests() if r.path.endswith("/merge")]
    assert merges == []


def test_approved_at_once(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    assert host.toban("plan").code == 2
    host.toban("run-once", check=0)
    assert host.labels(number) == ["human:review"]
    pull = host.world.pulls(REPO)[0].number
    assert host.world.issue(REPO, number).assignees == ["octo"]
    assert host.git("show", f"agent/issue-{number}:feature.txt") == "hello\n"
    assert f"Closes #{number}" in (host.world.issue(REPO, pull).body or "")
    assert "APPROVED" not in "".join(host.bodies(pull)), "toban comments, it does not review"
    never_forced(host)


def test_at_rest_nothing_is_written(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.issue()
    host.rest()
    host.world.clear_requests()
    for _ in range(2):
        host.toban("run-once", check=0)
    assert {request.method for request in host.world.requests()} <= {"GET", "HEAD", "POST"}
    writes = [r for r in host.world.requests() if r.method != "GET" and r.path != "/graphql"]
    assert writes == []
    assert host.toban("plan").code == 0


def test_an_idle_tick_is_conditional_and_small(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    host.issue()
    host.rest()
    host.toban("run-once", check=0)
    host.world.clear_requests()
    host.toban("run-once", check=0)
    requests = [r for r in host.world.requests() if r.path != "/user"]
    assert len(requests) == 2, "one list of issues, one of pull requests"
    assert {r.status for r in requests} == {304}


def test_one_rework_then_approved(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE], [MORE]), reviewer(rework("もう一行"), APPROVE))
    number = host.issue()
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert host.git("show", f"agent/issue-{number}:feature.txt") == "hello\nmore\n"
    assert host.git("rev-list", "--count", f"main..agent/issue-{number}").strip() == "2"
    prompts = [request.prompt for request in host.model.requests if "もう一行" in request.prompt]
    assert prompts, "the finding reached the worker"
    never_forced(host)


def test_two_reworks_are_the_limit(make_host: MakeHost) -> None:
    runs = [[f"echo {n} >> feature.txt"] for n in range(9)]
    host = make_host(worker(*runs), reviewer(*(rework(f"finding {n}") for n in range(9))))
    number = host.issue()
    host.rest()
    assert host.labels(number) == ["agent:blocked"]
    assert host.git("rev-list", "--count", f"main..agent/issue-{number}").strip() == "3"
    assert sum("BudgetSpent" in body for body in host.bodies(number)) == 1
    assert any("finding 2" in body for body in host.bodies(number))
    for _ in range(3):
        host.toban("run-once", check=0)
    assert sum("BudgetSpent" in body for body in host.bodies(number)) == 1


def test_a_human_sends_it_back(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE], [MORE]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    pull = host.world.pulls(REPO)[0].number
    host.world.advance(5)
    host.world.comment(REPO, pull, "二行目も書いてください", by="octo")
    host.world.advance(5)
    host.world.remove_label(REPO, number, "human:review", by="octo")
    host.world.add_label(REPO, number, "agent:ready", by="octo")
    host.rest()
    assert host.labels(number) == ["human:review"]
    assert [each.number for each in host.world.pulls(REPO)] == [pull], "the same pull request"
    assert host.git("show", f"agent/issue-{number}:feature.txt") == "hello\nmore\n"
    assert any("二行目も" in request.prompt for request in host.model.requests)


def test_a_push_by_others_voids_the_approval_and_is_reviewed(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    host.world.advance(5)
    host.world.push_commit(REPO, f"agent/issue-{number}", {"human.txt": "by hand\n"}, by="octo")
    assert host.toban("plan").code == 2
    host.rest()
    assert host.labels(number) == ["human:review"]
    pull = host.world.pulls(REPO)[0].number
    assert sum("**Review: approve**" in body for body in host.bodies(pull)) == 2
    never_forced(host)


def test_rework_never_goes_on_top_of_others(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE, rework("wrong")))
    number = host.issue()
    host.rest()
    host.world.advance(5)
    tip = host.world.push_commit(
        REPO, f"agent/issue-{number}", {"human.txt": "by hand\n"}, by="octo"
    )
    host.rest()
    assert host.labels(number) == ["agent:blocked"]
    assert any("ForeignCommits" in body and "wrong" in body for body in host.bodies(number))
    assert host.git("rev-parse", f"agent/issue-{number}").strip() == str(tip)


def test_merged_is_done_and_cleaned_up(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    host.rest()
    tree = host.root / "worktrees" / REPO / f"issue-{number}"
    assert (tree / "feature.txt").exists()
    host.world.merge(REPO, host.world.pulls(REPO)[0].number, by="octo")
    host.rest()
    assert not tree.exists()
    assert host.toban("plan").code == 0


def test_started_work_comes_before_new_work_and_one_at_a_time(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    first, second = host.issue("一"), host.issue("二")
    plan = host.toban("plan", "--json").json()
    assert [action["item"] for action in plan["actions"]] == [f"{REPO}#{first}"]
    assert [(h["item"], h["reason"]) for h in plan["holds"]] == [
        (f"{REPO}#{second}", "WaitsForTurn")
    ]
    host.toban("run-once", check=0)
    assert (host.labels(first), host.labels(second)) == (["human:review"], ["agent:ready"])
    host.toban("run-once", "--item", f"{REPO}#{second}", check=0)
    assert host.labels(second) == ["human:review"]


def test_a_repository_without_work_is_never_cloned(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]))
    host.issue(ready=False)
    host.toban("run-once", check=0)
    assert not (host.root / "repos").exists()
    assert host.pushes() == []
