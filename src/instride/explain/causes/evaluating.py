"""Causes of the owner `eval`, and pauses that evaluate and save at once."""

from __future__ import annotations

from statistics import fmean, median

from instride.explain.causes.contract import Case, Cause, Facts, Finding
from instride.explain.causes.weighing import (
    by_pause,
    confidence_in,
    evidence,
    rung_of,
    sorted_out,
    total_s,
    usual_distance,
)
from instride.explain.spans import Owner, Span, Told

DEARER = 1.5
"""Times the usual evaluation that the first one must cost to be worth a word."""
COMPILING_S = (1.0, 60.0)
"""Seconds that compiling a graph takes, usually."""


def evaluations(case: Case) -> list[Finding]:
    """The log marks or times evaluations, and training stands still for them."""
    return pauses_named(case, Owner.EVAL, "eval")


def joint_pauses(case: Case) -> list[Finding]:
    """Evaluations and saves are marked in the same pauses, and no pause holds only one of them."""
    return [
        finding
        for owner in (Owner.EVAL, Owner.SAVE)
        for finding in pauses_named(case, owner, "eval-and-save", is_joint=True)
    ]


def closing_evaluation(case: Case) -> list[Finding]:
    """The log marks an evaluation after the last step, far longer than the others or the only."""
    return closing_named(case, Owner.EVAL, "closing-eval")


def closing_joint(case: Case) -> list[Finding]:
    """The log marks an evaluation and a save after the last step, and times neither."""
    return [
        finding
        for owner in (Owner.EVAL, Owner.SAVE)
        for finding in closing_named(case, owner, "closing-eval-and-save", is_joint=True)
    ]


def first_evaluation(case: Case) -> list[Finding]:
    """The first evaluation of a process took longer than all others, by half of what they take at
    least and by a second to a minute: what it needed for the first time was compiled or loaded."""
    found = []
    for process in case.ledger.timeline.processes:
        own = [
            span
            for span in case.spans(Owner.EVAL)
            if process.begin <= span.begin < process.end and not span.is_closing
        ]
        if len(own) < 4 or any(span.is_joint for span in own):
            continue
        first, *others = own
        usual_s, longest_s = (pick(span.cost_s for span in others) for pick in (median, max))
        more_s = first.cost_s - usual_s
        is_dearest = first.cost_s > max(DEARER * usual_s, 1.2 * longest_s)
        if is_dearest and COMPILING_S[0] <= more_s <= COMPILING_S[1]:
            facts: Facts = {"step": first.step, "first_s": first.cost_s, "usual_s": usual_s}
            found.append(
                Finding("first-eval", Owner.EVAL, more_s, "low", facts, first.lines, within="eval")
            )
    return found


def pauses_named(case: Case, owner: Owner, name: str, is_joint: bool = False) -> list[Finding]:
    """The pauses of an owner between the steps, if they are joint, or if they are not."""
    inside, _ = sorted_out(case.spans(owner))
    if not inside or _are_joint(inside) != is_joint:
        return []
    pauses = by_pause(inside)
    costs = [total_s(pause) for pause in pauses]
    worst = max(pauses, key=total_s)
    facts: Facts = {
        "count": len(pauses),
        "every": usual_distance(inside),
        "average_s": fmean(costs),
        "worst_s": total_s(worst),
        "worst_step": max(worst, key=lambda span: span.cost_s).step,
        "first_step": inside[0].step,
        "inferred": sum(all(span.told is Told.PERIOD for span in pause) for pause in pauses),
    }
    confidence, rung = confidence_in(inside), rung_of(inside)
    lines = evidence(inside)
    return [Finding(name, owner, sum(costs), confidence, facts, lines, rung, inside)]


def closing_named(case: Case, owner: Owner, name: str, is_joint: bool = False) -> list[Finding]:
    """What was done after the last step of each process and is not like the other pauses."""
    _, closing = sorted_out(case.spans(owner))
    found = []
    for span in closing:
        if span.is_joint == is_joint:
            facts: Facts = {"step": span.last_step}
            confidence, rung = confidence_in([span]), rung_of([span])
            found.append(
                Finding(name, owner, total_s([span]), confidence, facts, span.lines, rung, [span])
            )
    return found


def _are_joint(inside: list[Span]) -> bool:
    marked = sum(span.told is not Told.PERIOD for span in inside)
    return sum(span.is_joint for span in inside) > 0.5 * marked


CAUSES = (
    Cause("first-eval", (Owner.EVAL,), first_evaluation, ("fix-shapes", "cache-compiled")),
    Cause(
        "closing-eval-and-save",
        (Owner.EVAL, Owner.SAVE),
        closing_joint,
        ("time-apart", "evaluate-fewer", "save-async"),
    ),
    Cause("closing-eval", (Owner.EVAL,), closing_evaluation, ("evaluate-fewer",)),
    Cause(
        "eval-and-save",
        (Owner.EVAL, Owner.SAVE),
        joint_pauses,
        ("evaluate-less", "save-if-better", "save-async", "time-apart"),
    ),
    Cause("eval", (Owner.EVAL,), evaluations, ("evaluate-less", "evaluate-fewer")),
)
"""In the order they are asked: a pause that is far from the others is told by itself."""
