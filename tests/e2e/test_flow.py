"""The whole flow as processes: a labelled issue becomes a reviewed pull request."""

from tests.e2e.conftest import MakeHost
from tests.e2e.host import APPROVE, reviewer, worker

WRITE = "printf 'hello\\n' > feature.txt"


def test_an_issue_becomes_a_reviewed_pull_request(make_host: MakeHost) -> None:
    host = make_host(worker([WRITE]), reviewer(APPROVE))
    number = host.issue()
    assert host.toban("plan").code == 2
    host.toban("run-once", check=0)
    assert host.labels(number) == ["human:review"]
