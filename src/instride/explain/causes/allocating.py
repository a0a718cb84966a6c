"""Slow steps at which the log says that the allocator of the GPU's memory had to clean up."""

from __future__ import annotations

from statistics import median

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.causes.weighing import confidence_in, evidence, total_s
from instride.explain.spans import Owner, Told


def allocator_flushes(case: Case) -> list[Finding]:
    """Slow steps at which the log says that the memory allocator flushed its cache, or had to try
    again."""
    spans = [span for span in case.spans(Owner.UNKNOWN) if span.told is Told.MARKER]
    if not spans:
        return []
    facts: Facts = {
        "count": len(spans),
        "step": max(spans, key=lambda span: span.cost_s).last_step,
        "typical_s": median(span.cost_s for span in spans),
    }
    confidence, lines = confidence_in(spans), evidence(spans)
    found = Finding("allocator-flushes", Owner.UNKNOWN, total_s(spans), confidence, facts, lines)
    found.rung, found.spans = Rung.MARKER, spans
    return [found]


CAUSES = (Cause("allocator-flushes", (Owner.UNKNOWN,), allocator_flushes, ("spare-memory",)),)
