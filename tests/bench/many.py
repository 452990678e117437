"""Planning very many issues, in a process of its own: `python -m tests.bench.many COUNT`.

Prints JSON: CPU seconds of one `plan` over COUNT issues that all have to be judged, and of the way
from a saved look to a plan as JSON.
"""

import json
import sys
import time

from controller.domain.forge import Issue
from controller.domain.ids import IssueId
from controller.domain.reasons import Reason
from controller.domain.values import Unseen
from controller.render.plan_json import plan_document
from controller.runtime.saved import Saved, dump, load
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.planner import Desired, Observation, plan
from tests.builders.issue import HOST, ME, POLICY, issue, reviewing, verdict


def judged(count: int) -> tuple[Desired, Observation]:
    """Issues that were approved and wait for a person: every rule is asked before that is known."""
    approved = reviewing(verdict("h1", approve=True), issue=issue("human:review"))
    facts = tuple(_numbered(approved, number) for number in range(1, count + 1))
    issues = tuple(each.issue for each in facts if isinstance(each.issue, Issue))
    return Desired(issues=issues), Observation(me=ME, host=HOST, facts=facts)


def _numbered(facts: IssueFacts, number: int) -> IssueFacts:
    item = IssueId(repository=facts.item.repository, number=number)
    seen = facts.issue
    if not isinstance(seen, Unseen):
        seen = seen.model_copy(update={"item": item})
    return facts.model_copy(update={"item": item, "issue": seen})


def main() -> None:
    """Plan, then the long way round."""
    desired, observation = judged(int(sys.argv[1]))
    begun = time.process_time()
    found = plan(desired, observation, POLICY)
    planned = time.process_time() - begun
    waiting = sum(hold.reason is Reason.WAITS_FOR_HUMAN for hold in found.holds)
    if waiting != len(desired.issues):
        sys.exit(f"{waiting} of {len(desired.issues)} wait for a human: {found.holds[:1]}")
    text = dump(Saved(desired=desired, observation=observation, policy=POLICY, plan=found))
    begun = time.process_time()
    saved = load(text)
    json.dumps(plan_document(plan(saved.desired, saved.observation, saved.policy)))
    round_trip = time.process_time() - begun
    print(json.dumps({"plan": planned, "round_trip": round_trip, "bytes": len(text)}))


if __name__ == "__main__":
    main()
