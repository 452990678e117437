"""Every rule's word on one issue, in order, up to the one that speaks.

Pure; called by `controller.runtime.status` for `toban explain`. Decides with the same functions as
the planner and nothing of its own.
"""

from collections.abc import Iterator

from controller.domain.actions import Action, Claim, StartAgent
from controller.domain.explanation import Explanation, RuleWord
from controller.domain.host import Host
from controller.domain.plan import Hold, Plan, Said
from controller.domain.policy import Policy
from controller.domain.values import Unseen
from controller.planning.admission import admit_agent
from controller.planning.rules import first_said, name_of, sentence_of
from controller.workloads.issues.facts import IssueFacts
from controller.workloads.issues.rules import RULES, Rule
from controller.workloads.issues.state import interpret

ADMISSION = "host admits"
ADMISSION_SENTENCE = "Memory, disk and the limits of the day allow a start of Codex."


def explain(facts: IssueFacts, host: Host, policy: Policy, *, plan: Plan) -> Explanation:
    """What each rule says of an issue. `plan` is of the same look and tells whose turn it is."""
    title = "" if isinstance(facts.issue, Unseen) else facts.issue.title
    state = interpret(facts, policy)
    if isinstance(state, Unseen):
        unseen = tuple(facts.unseen())
        return Explanation(item=facts.item, title=title, unseen=unseen)
    heard = first_said(RULES, state, policy)
    words = tuple(_words(heard.rule, heard.said, facts, host, policy))
    acts = any(each.word == "acts" for each in words)
    return Explanation(
        item=facts.item,
        title=title,
        rules=words,
        in_plan=_hold_of(facts, plan) if acts else None,
    )


def _hold_of(facts: IssueFacts, plan: Plan) -> Hold | None:
    return next((hold for hold in plan.holds if hold.item.key == facts.item.key), None)


def _words(
    spoke: Rule | None, said: Said, facts: IssueFacts, host: Host, policy: Policy
) -> Iterator[RuleWord]:
    """The rules before the speaking one are satisfied; those after it were not asked."""
    reached = True
    for rule in RULES:
        if rule is spoke and said is not None:
            reached = False
            yield from _speaker(rule, said, facts, host, policy)
        else:
            word = "satisfied" if reached else "not reached"
            yield _word(rule).model_copy(update={"word": word})


def _speaker(
    rule: Rule, said: Action | Hold, facts: IssueFacts, host: Host, policy: Policy
) -> Iterator[RuleWord]:
    """The speaking rule, and before it what the host says of starting work."""
    if isinstance(said, StartAgent | Claim):
        refused = admit_agent(facts.item, host, policy, now=facts.taken_at)
        admission = RuleWord(
            rule=ADMISSION,
            sentence=ADMISSION_SENTENCE,
            where=f"{admit_agent.__module__}.{admit_agent.__name__}",
            word="satisfied",
        )
        if refused is not None:
            yield _spoken(admission, refused)
            yield _word(rule).model_copy(update={"word": "not reached"})
            return
        yield admission
    yield _spoken(_word(rule), said)


def _word(rule: Rule) -> RuleWord:
    return RuleWord(
        rule=name_of(rule),
        sentence=sentence_of(rule),
        where=f"{rule.__module__}.{rule.__name__}",
        word="satisfied",
    )


def _spoken(word: RuleWord, said: Action | Hold) -> RuleWord:
    if isinstance(said, Hold):
        changes: dict[str, object] = {"word": "holds", "until": said.until}
    else:
        changes = {"word": "acts", "action": said.kind}
    return word.model_copy(update={**changes, "reason": said.reason, "message": said.message})
