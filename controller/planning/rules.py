"""A workload is a tuple of rules; the first that is not satisfied speaks.

Called by the workloads' planners and by `toban explain`. Knows no workload.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from controller.domain.plan import Said
from controller.domain.policy import Policy

type Rule[S] = Callable[[S, Policy], Said]


class Heard[S](NamedTuple):
    """Which rule spoke, and what it said."""

    rule: Rule[S] | None
    """None when every rule is satisfied."""
    said: Said


def first_said[S](rules: Sequence[Rule[S]], state: S, policy: Policy) -> Heard[S]:
    """Ask the rules in their order until one speaks."""
    for rule in rules:
        said = rule(state, policy)
        if said is not None:
            return Heard(rule, said)
    return Heard(None, None)


def name_of[S](rule: Rule[S]) -> str:
    """The condition that a rule establishes, for people: `worktree ready`."""
    return rule.__name__.replace("_", " ")


def sentence_of[S](rule: Rule[S]) -> str:
    """The first sentence of the rule's docstring."""
    return (rule.__doc__ or "").strip().partition("\n")[0]
