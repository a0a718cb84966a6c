"""Causes of the owners `save` and `aftermath`."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from instride.explain.aftermath import QUIET
from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.causes.evaluating import closing_named, pauses_named
from instride.explain.causes.trainers import instead
from instride.explain.causes.weighing import (
    confidence_in,
    cost_of_each,
    evidence,
    is_rising,
    rung_of,
    sorted_out,
    total_s,
    usual_distance,
)
from instride.explain.chance import SURE
from instride.explain.report import Confidence
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import EventKind

GROWTH = 1.5
"""How much longer the last saves must take than the first ones to call that growth."""
SLOW_BYTES_S = 100e6
REACH = 20
"""Lines around the statement of a save in which the sizes of its files are printed."""
FEWEST_SAVES = 4
"""Three will do if each takes that much longer than the one before."""


def saves(case: Case) -> list[Finding]:
    """The log marks or times saves, and training stands still for them."""
    return _with_remedies(case, pauses_named(case, Owner.SAVE, "save"))


def closing_save(case: Case) -> list[Finding]:
    """The log marks a save after the last step, far longer than the others or the only one."""
    return _with_remedies(case, closing_named(case, Owner.SAVE, "closing-save"))


def clean_up(case: Case) -> list[Finding]:
    """The log says that old checkpoints were deleted, with a time of its own or without a save in
    the same pause, and training stood still meanwhile."""
    spans = [span for span in case.spans(Owner.SAVE) if _is_cleanup(case, span)]
    if not spans:
        return []
    facts: Facts = {
        "count": len(spans),
        "every": usual_distance(spans),
        "typical_s": median(span.cost_s for span in spans),
        "step": max(spans, key=lambda span: span.cost_s).step,
    }
    confidence, rung = confidence_in(spans), rung_of(spans)
    cost_s, lines = total_s(spans), evidence(spans)
    return [Finding("cleanup", Owner.SAVE, cost_s, confidence, facts, lines, rung, spans)]


def _is_cleanup(case: Case, span: Span) -> bool:
    """Whether the events of a span are clean-ups only."""
    timeline = case.ledger.timeline
    events = timeline.closing.get(span.end, []) if span.is_closing else []
    events = events or timeline.events_at.get(span.begin, [])
    kinds = {event.kind for event in events if event.line in span.lines}
    return kinds == {EventKind.CLEANUP}


def growing_saves(case: Case) -> list[Finding]:
    """Of four saves or more each takes longer than the one before, nearly always, and the last
    ones half as long again as the first ones at least; of three, each does."""
    spans = [span for span in case.spans(Owner.SAVE) if not span.is_closing and span.extra_s > 0]
    costs = [span.cost_s for span in spans]
    is_steep = len(costs) == FEWEST_SAVES - 1 and all(
        after > GROWTH * before for before, after in pairwise(costs)
    )
    if not is_steep and (len(costs) < FEWEST_SAVES or not is_rising(costs)):
        return []
    part = max(1, len(costs) // 4)
    first_s, last_s = median(costs[:part]), median(costs[-part:])
    if last_s < GROWTH * first_s:
        return []
    facts: Facts = {
        "count": len(spans),
        "first_s": first_s,
        "last_s": last_s,
        "first_step": spans[0].step,
        "last_step": spans[-1].step,
    }
    confidence = confidence_in(spans)
    lines = sorted({*spans[0].lines, *spans[-1].lines})
    cost_s = sum(max(0.0, cost - first_s) for cost in costs)
    found = Finding("growing-saves", Owner.SAVE, cost_s, confidence, facts, lines, rung_of(spans))
    found.within = "save"
    return [found]


def slow_filesystem(case: Case) -> list[Finding]:
    """The log states how large the files of a save are and how long it took, and that is less
    than 100 MB a second: disks and networks of today do several times that."""
    if not case.ledger.timeline.run.sizes:
        return []
    found = [each for span in case.spans(Owner.SAVE) if (each := _written(case, span)) is not None]
    num_bytes, seconds = sum(size for size, _ in found), sum(span.cost_s for _, span in found)
    if not found or num_bytes >= SLOW_BYTES_S * seconds:
        return []
    spans = [span for _, span in found]
    facts: Facts = {"count": len(found), "bytes": num_bytes, "bytes_s": num_bytes / seconds}
    cost_s = seconds - num_bytes / SLOW_BYTES_S
    told = Finding("slow-filesystem", Owner.SAVE, cost_s, "medium", facts, evidence(spans))
    told.rung = Rung.STATED
    told.within = "closing-save" if all(span.is_closing for span in spans) else "save"
    return [told]


def _written(case: Case, span: Span) -> tuple[int, Span] | None:
    """Bytes of the files whose sizes are printed beside the statement of a save."""
    if span.told is not Told.STATED:
        return None
    run = case.ledger.timeline.run
    said = [e.line for e in run.events if e.seconds and e.line in span.lines]
    near = [size for at, size in run.sizes if any(abs(at - line) <= REACH for line in said)]
    return (sum(near), span) if near else None


def aftermath(case: Case) -> list[Finding]:
    """Steps after a save are slower than those before it until the speed comes back, by more than
    chance: the same look at places without a save seldom finds as much. What comes at equal
    distances, and is as slow where nothing was saved, does not count."""
    spans = case.spans(Owner.AFTERMATH)
    if not spans:
        return []
    begins = {begin for span in spans for begin in range(span.begin - QUIET, span.begin + 2)}
    every_save = [span for span in case.ledger.spans if span.owner is Owner.SAVE]
    before = [save for save in every_save if save.end in begins]
    cost_s, save_s = total_s(spans), total_s(before)
    num_saves = max(len(spans), len(cost_of_each(sorted_out(every_save)[0])))
    base_s = case.ledger.main.base_s
    facts: Facts = {
        "count": len(spans),
        "saves": num_saves,
        "save_step": before[0].step if before else spans[0].first_step - 1,
        "save_s": save_s,
        "steps": round(median(span.last_step - span.first_step + 1 for span in spans)),
        "factor": median(span.factor for span in spans),
        # Many times next to nothing says nothing.
        "times_save": cost_s / save_s if save_s >= len(spans) * base_s else None,
        "average_s": cost_s / num_saves,
    }
    is_sure = all(span.told is Told.MARKER and span.chance < SURE for span in spans)
    confidence: Confidence = "high" if is_sure else "medium"
    lines = sorted({*evidence(before), *evidence(spans)})
    rung = rung_of(spans)
    found = Finding("aftermath", Owner.AFTERMATH, cost_s, confidence, facts, lines, rung, spans)
    return _with_remedies(case, [found])


def _with_remedies(case: Case, found: list[Finding]) -> list[Finding]:
    """Findings with those that hold for the trainer which saves, where they are others."""
    for each in found:
        each.instead = instead(case.ledger.timeline.run, each.id)
    return found


CAUSES = (
    Cause("cleanup", (Owner.SAVE,), clean_up, ("delete-later",)),
    Cause("growing-saves", (Owner.SAVE,), growing_saves, ("save-once", "watch-disk")),
    Cause("slow-filesystem", (Owner.SAVE,), slow_filesystem, ("save-near", "watch-disk")),
    Cause("closing-save", (Owner.SAVE,), closing_save, ("save-async", "save-near")),
    Cause("save", (Owner.SAVE,), saves, ("save-async", "save-less", "save-if-better", "save-near")),
    Cause("aftermath", (Owner.AFTERMATH,), aftermath, ("yield-to-training", "work-later")),
)
