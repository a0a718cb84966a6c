"""Causes of the owners `warmup` and `startup`, and what is compiled again later on."""

from __future__ import annotations

from statistics import median

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.causes.evaluating import COMPILING_S
from instride.explain.causes.weighing import evidence, total_s
from instride.explain.report import Confidence
from instride.explain.restarts import launched, num_failed
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import EventKind

FIRST_EVALS = 2
"""Evaluations that may see a shape for the first time."""
FEWEST_EVALS = 4
"""Evaluations that are needed to see that the later ones have no such step."""
REACH = 2
"""Records after an evaluation that run with what it left behind."""


def warmup(case: Case) -> list[Finding]:
    """The first steps of a process, one after another, take longer than those that follow."""
    spans = case.spans(Owner.WARMUP)
    if not spans:
        return []
    ledger = case.ledger
    starts = {ledger.timeline.process_of(span.begin).begin for span in spans}
    facts: Facts = {
        "starts": len(starts),
        "steps": sum(span.last_step - span.first_step + 1 for span in spans),
        "first_step": spans[0].first_step,
        "first_s": spans[0].cost_s + ledger.main.base_s,
        "factor": max(span.factor for span in spans),
    }
    begins = {span.begin for span in spans}
    events = ledger.timeline.run.events
    is_said = any(event.kind is EventKind.COMPILE and event.at in begins for event in events)
    rung = Rung.MARKER if is_said else Rung.SHAPE
    confidence: Confidence = "high" if is_said else "medium"
    cost_s, lines = total_s(spans), evidence(spans)
    return [Finding("warmup", Owner.WARMUP, cost_s, confidence, facts, lines, rung, spans)]


def recompilation(case: Case) -> list[Finding]:
    """Single slow steps where the log says that something is compiled; or, a second to a minute
    longer, right after the first evaluations and never after later ones."""
    marked = [span for span in case.spans(Owner.WARMUP) if span.told is Told.MARKER]
    told = marked or _after_first_evaluations(case)
    if not told:
        return []
    facts: Facts = {
        "count": len(told),
        "marked": int(bool(marked)),
        "step": max(told, key=lambda span: span.cost_s).last_step,
        "typical_s": median(span.cost_s for span in told),
    }
    found = Finding("recompilation", told[0].owner, total_s(told), "low", facts, evidence(told))
    found.spans = told
    if marked:
        found.confidence, found.rung = "medium", Rung.MARKER
    return [found]


def _single(case: Case) -> list[Span]:
    return [
        span
        for span in case.spans(Owner.UNKNOWN)
        if span.end - span.begin == 1 and span.period is None and not span.is_closing
    ]


def _after_first_evaluations(case: Case) -> list[Span]:
    """Single slow steps that only the first evaluations of a process are followed by."""
    timeline = case.ledger.timeline
    found = []
    for process in timeline.processes:
        if process.stride > 1:
            continue
        evals = sorted(
            at
            for at, events in timeline.events_at.items()
            if process.begin <= at < process.end and any(e.kind is EventKind.EVAL for e in events)
        )
        if len(evals) < FEWEST_EVALS:
            continue
        followers = {
            position: [span for span in _single(case) if 0 < span.begin - at <= REACH]
            for position, at in enumerate(evals)
        }
        early = [span for position in range(FIRST_EVALS) for span in followers[position]]
        late = [span for position in range(FIRST_EVALS, len(evals)) for span in followers[position]]
        is_long = all(COMPILING_S[0] <= span.cost_s <= COMPILING_S[1] for span in early)
        if early and not late and is_long:
            found += early
    return found


def startup(case: Case) -> list[Finding]:
    """From the first time in the log to the beginning of the first step; from the last launch
    before it, where earlier ones came to nothing."""
    ledger = case.ledger
    seconds, run = ledger.accounts[Owner.STARTUP].seconds, ledger.timeline.run
    clock = launched(run)
    if clock is None or seconds <= 0:
        return []
    lines = [clock.line, run.line[0]]
    facts: Facts = {"seconds": seconds, "failed": num_failed(run)}
    return [Finding("startup", Owner.STARTUP, seconds, "high", facts, lines, Rung.STATED)]


CAUSES = (
    Cause(
        "recompilation",
        (Owner.WARMUP, Owner.UNKNOWN),
        recompilation,
        ("fix-shapes", "log-recompiles"),
    ),
    Cause("warmup", (Owner.WARMUP,), warmup, ("cache-compiled",)),
    Cause("startup", (Owner.STARTUP,), startup, ("cache-startup",)),
)
