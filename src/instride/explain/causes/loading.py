"""Causes of the owner `data`, and slow steps that come where a loader usually stalls."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.causes.weighing import (
    confidence_in,
    evidence,
    rung_of,
    total_s,
    usual_distance,
)
from instride.explain.spans import Owner, Span
from instride.steps.model import EventKind

FEWEST_EPOCHS = 3
SHORTEST_EPOCH = 5
"""Records; where an epoch is shorter, its first record is special only if the log says so."""
MOST_WORKERS = 32
FEWEST_TURNS = 10
"""Slow steps at a loader's distance that are no coincidence."""
WORKER_SETTINGS = ("num_workers", "dataloader_num_workers")
STARVED = 1.5
"""Factor of the steps that wait for the slowest worker."""
FEWEST_BORDERS = 5


def epoch_stalls(case: Case) -> list[Finding]:
    """The first record after most of the lines that begin an epoch is slow, and only data or
    nothing at all is said to be the reason."""
    borders, length = _epoch_borders(case)
    if len(borders) < FEWEST_EPOCHS or length < 2:
        return []
    spans = [
        span
        for span in _waiting(case)
        if span.begin in borders and (length >= SHORTEST_EPOCH or span.owner is Owner.DATA)
    ]
    if len({span.begin for span in spans}) < max(FEWEST_EPOCHS, 0.5 * len(borders)):
        return []
    is_data = all(span.owner is Owner.DATA for span in spans)
    facts: Facts = {
        "count": len(spans),
        "epochs": len(borders),
        "typical_s": median(span.cost_s for span in spans),
    }
    owner, rung = (Owner.DATA, Rung.STATED) if is_data else (Owner.UNKNOWN, Rung.MARKER)
    lines, cost_s = evidence(spans), total_s(spans)
    found = Finding("epoch-stalls", owner, cost_s, "medium", facts, lines, rung, spans)
    if is_data:
        found.confidence = "high"
    return [found]


def _epoch_borders(case: Case) -> tuple[set[int], float]:
    """Records that follow the announcement of an epoch, and how many an epoch has."""
    timeline = case.ledger.timeline
    begins = {process.begin for process in timeline.processes}
    events = [event for event in timeline.run.events if event.kind is EventKind.EPOCH]
    borders = sorted({event.at for event in events} - begins - {len(timeline.run)})
    lengths = [after - before for before, after in pairwise(borders)]
    return set(borders), median(lengths) if lengths else 0


def _waiting(case: Case) -> list[Span]:
    """Single slow records that data or nobody owns."""
    spans = case.spans(Owner.DATA) + case.spans(Owner.UNKNOWN)
    return [span for span in spans if span.end - span.begin == 1 and not span.is_closing]


def worker_turns(case: Case) -> list[Finding]:
    """One step in so many, up to 32, takes half as long again at least, over and over: a batch of
    the slowest loader worker comes every `num_workers` steps."""
    ledger = case.ledger
    if max(process.stride for process in ledger.timeline.processes) > 1:
        return []
    found = []
    stalls = case.spans(Owner.DATA)
    every = usual_distance(stalls)
    if every is not None:
        found += _turns(case, stalls, every)
    combs: dict[int, list[Span]] = {}
    for span in case.spans(Owner.UNKNOWN):
        if span.period is not None:
            combs.setdefault(span.period, []).append(span)
    for period, teeth in combs.items():
        found += _turns(case, teeth, period)
    return found


def _turns(case: Case, spans: list[Span], period: int) -> list[Finding]:
    owner = spans[0].owner
    factor = median(span.factor for span in spans)
    if not 2 <= period <= MOST_WORKERS or len(spans) < FEWEST_TURNS or factor < STARVED:
        return []
    facts: Facts = {
        "period": period,
        "count": len(spans),
        "factor": factor,
        "typical_s": median(span.cost_s for span in spans),
        "stated": int(owner is Owner.DATA),
    }
    found = Finding("worker-turns", owner, total_s(spans), "low", facts, evidence(spans))
    found.spans = spans
    is_set = any(case.settings.get(name) == period for name in WORKER_SETTINGS)
    if owner is Owner.DATA or is_set:
        found.confidence = "medium"
        found.rung = Rung.STATED if owner is Owner.DATA else Rung.PERIOD
    return [found]


def shard_switches(case: Case) -> list[Finding]:
    """Single slow steps at nearly, but not exactly, equal distances: what a step counter sets off
    comes at equal ones, while files hold a little more or less than a whole number of batches."""
    if case.ledger.timeline.run.clock_resolution_s:
        return []
    spans = sorted(_waiting(case), key=lambda span: span.begin)
    gaps = [after.last_step - before.last_step for before, after in pairwise(spans)]
    stride = max(process.stride for process in case.ledger.timeline.processes)
    if len(spans) < FEWEST_BORDERS or stride > 1:
        return []
    usual = median(gaps)
    is_near = usual > MOST_WORKERS and max(gaps) - min(gaps) <= max(2, 0.03 * usual)
    if not is_near or len(set(gaps)) == 1:
        return []
    facts: Facts = {
        "count": len(spans),
        "least": min(gaps),
        "most": max(gaps),
        "typical_s": median(span.cost_s for span in spans),
        "factor": median(span.factor for span in spans),
    }
    is_data = all(span.owner is Owner.DATA for span in spans)
    owner = Owner.DATA if is_data else Owner.UNKNOWN
    found = Finding("shard-switches", owner, total_s(spans), "low", facts, evidence(spans))
    found.spans = spans
    if is_data:
        found.confidence, found.rung = "medium", Rung.STATED
    return [found]


def data_stalls(case: Case) -> list[Finding]:
    """The log prints the wait for data, and most of what a slow step took longer lies in it."""
    spans = case.spans(Owner.DATA)
    if not spans:
        return []
    facts: Facts = {
        "count": len(spans),
        "every": usual_distance(spans),
        "typical_s": median(span.cost_s for span in spans),
    }
    confidence, rung = confidence_in(spans), rung_of(spans)
    cost_s, lines = total_s(spans), evidence(spans)
    return [Finding("data-stalls", Owner.DATA, cost_s, confidence, facts, lines, rung, spans)]


def chronic_wait(case: Case) -> list[Finding]:
    """The log prints the wait for data, and an ordinary step spends more than 5 % in it."""
    ledger = case.ledger
    if not ledger.is_waiting:
        return []
    stalled_s = total_s([span for span in ledger.spans if span.owner is Owner.DATA])
    cost_s = ledger.accounts[Owner.DATA].seconds - stalled_s
    facts: Facts = {"wait_s": ledger.mean_wait_s, "step_s": ledger.baseline_s}
    lines = [ledger.timeline.run.line[ledger.main.begin]]
    return [Finding("data-chronic", Owner.DATA, cost_s, "high", facts, lines, Rung.STATED)]


EITHER = (Owner.DATA, Owner.UNKNOWN)
CAUSES = (
    Cause("epoch-stalls", EITHER, epoch_stalls, ("keep-workers", "prefetch")),
    Cause("worker-turns", EITHER, worker_turns, ("more-workers", "prefetch", "cheaper-data")),
    Cause("shard-switches", EITHER, shard_switches, ("prefetch-shard",)),
    Cause("data-stalls", (Owner.DATA,), data_stalls, ("keep-workers", "prefetch", "cheaper-data")),
    Cause("data-chronic", (Owner.DATA,), chronic_wait, ("more-workers", "cheaper-data")),
)
