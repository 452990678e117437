"""Whose commits stand on the branch, and how many rework rounds they show."""

import pytest

from controller.domain.forge import Commit, Comparison
from controller.domain.runs import Phase, Run
from controller.workloads.issues.lineage import delivered, judge_tip, rework_rounds, trailer
from controller.workloads.issues.markers import PushRecord, VerdictRecord
from tests.builders.issue import EPOCH, ITEM, push, run, sha, task, verdict

OWN = (push("h1", "base"),)


def compared(*, ahead: int, behind: int) -> Comparison:
    return Comparison(merge_base=sha("base"), ahead=ahead, behind=behind)


@pytest.mark.parametrize(
    ("tip", "own", "to_own", "to_base", "expected"),
    [
        (None, OWN, None, None, "absent"),
        ("h1", OWN, None, compared(ahead=1, behind=0), "ours"),
        ("base", (), None, compared(ahead=0, behind=0), "base"),
        ("x", (), None, compared(ahead=1, behind=0), "foreign"),
        ("x", OWN, compared(ahead=1, behind=0), compared(ahead=2, behind=0), "extended"),
        ("x", OWN, compared(ahead=1, behind=1), compared(ahead=1, behind=0), "foreign"),
        ("x", OWN, None, None, "foreign"),
    ],
    ids=["absent", "ours", "base", "stranger", "extended", "rewritten", "unknown"],
)
def test_whose_tip(
    tip: str | None,
    own: tuple[PushRecord, ...],
    to_own: Comparison | None,
    to_base: Comparison | None,
    expected: str,
) -> None:
    found = judge_tip(sha(tip) if tip else None, own=own, to_own=to_own, to_base=to_base)
    assert found == expected


def test_what_the_branch_holds_follows_parents_and_keeps_the_epoch() -> None:
    own = (
        push("h0", "base", epoch=50),
        push("h1", "h0"),
        push("lost", "h1"),
        push("h2", "h1", of=task("rework", on=sha("h1"), round_=1)),
    )
    found = delivered(own, anchor=sha("h2"), epoch=EPOCH)
    assert [each.sha for each in found] == [sha("h1"), sha("h2")]
    assert delivered(own, anchor=None, epoch=EPOCH) == ()


def test_records_in_a_circle_end() -> None:
    own = (push("h1", "h2"), push("h2", "h1"))
    assert len(delivered(own, anchor=sha("h1"), epoch=EPOCH)) == 2


def commit(name: str, message: str = "") -> Commit:
    return Commit(sha=sha(name), parents=(), message=message)


def marked(name: str, round_: int, epoch: int = EPOCH) -> Commit:
    phase: Phase = "rework" if round_ else "implement"
    line = trailer(ITEM, task(phase, round_=round_, epoch=epoch))
    return commit(name, f"題名\n\n{line}")


FIRST = marked("h1", 0)
NO1 = verdict("h1", approve=False)
ROUNDS: dict[str, tuple[dict[str, object], int]] = {
    "nothing happened": ({}, 0),
    "the first commit is no round": ({"commits": (FIRST,)}, 0),
    "each marked rework commit": (
        {"commits": (FIRST, marked("h2", 1), marked("h3", 2))},
        2,
    ),
    "marks of another epoch do not count": ({"commits": (FIRST, marked("h2", 1, epoch=50))}, 0),
    "marks of another issue do not count": (
        {"commits": (commit("h2", f"Toban-Task: octo/other#1 rework {EPOCH} 1"),)},
        0,
    ),
    "a verdict without a later commit is under way": ({"commits": (FIRST,), "verdicts": (NO1,)}, 0),
    "a verdict with a later commit of ours": (
        {"commits": (FIRST, commit("h2")), "verdicts": (NO1,), "own": (push("h2", "h1"),)},
        1,
    ),
    "a verdict with a later commit of others": (
        {"commits": (FIRST, commit("x")), "verdicts": (NO1,)},
        0,
    ),
    "an approval asks for nothing": (
        {
            "commits": (FIRST, commit("h2")),
            "verdicts": (verdict("h1", approve=True),),
            "own": (push("h2", "h1"),),
        },
        0,
    ),
    "a verdict of another epoch": (
        {
            "commits": (FIRST, commit("h2")),
            "verdicts": (verdict("h1", approve=False, epoch=50),),
            "own": (push("h2", "h1"),),
        },
        0,
    ),
    "intents on disk, the present one apart": (
        {
            "runs": (
                run(1, task("rework", on=sha("h1"), round_=1)),
                run(2, task("rework", on=sha("h1"), round_=1), "incomplete"),
                run(3, task("rework", on=sha("h2"), round_=2)),
            ),
            "head": sha("h2"),
        },
        1,
    ),
}


@pytest.mark.parametrize(("evidence", "expected"), ROUNDS.values(), ids=ROUNDS.keys())
def test_rounds(evidence: dict[str, object], expected: int) -> None:
    plain: dict[str, object] = {
        "epoch": EPOCH,
        "head": None,
        "commits": (),
        "verdicts": (),
        "runs": (),
        "own": (),
    }
    assert rework_rounds(ITEM, **(plain | evidence)) == expected  # type: ignore[arg-type] # a row


def test_the_types_of_a_row() -> None:
    """The rows above are untyped; this one is checked."""
    runs: tuple[Run, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    found = rework_rounds(
        ITEM, epoch=1, head=None, commits=(), verdicts=verdicts, runs=runs, own=OWN
    )
    assert found == 0


@pytest.mark.parametrize("number", ["9" * 40, "١", "-1"], ids=["huge", "other digits", "negative"])
def test_a_forged_trailer_is_no_number(number: str) -> None:
    line = f"Toban-Task: {ITEM.key} rework {EPOCH} {number}"
    found = rework_rounds(
        ITEM,
        epoch=EPOCH,
        head=None,
        commits=(commit("x", line), commit("y", f"Toban-Task: {ITEM.key} rework {number} 1")),
        verdicts=(),
        runs=(),
        own=(),
    )
    assert found == 0
