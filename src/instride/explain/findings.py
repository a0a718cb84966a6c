"""Findings: what is worth telling, with the numbers that the sentence is made of.

A finding holds facts, not words: a language turns them into a sentence.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median

import msgspec

from instride.explain.aftermath import QUIET
from instride.explain.ledger import CHRONIC, Ledger
from instride.explain.report import Confidence
from instride.explain.restarts import vain_launches
from instride.explain.spans import Owner, Span, Told

WORTH_A_WORD = 0.0005
"""Share of the running time under which a finding is left out."""
NOTABLE = 0.01
"""Share of the running time from which a finding is something to gain."""
MUCH_SLOWER = 1.15


class Finding(msgspec.Struct):
    id: str
    owner: Owner
    cost_s: float
    confidence: Confidence
    facts: dict[str, float | int | str | None]
    lines: list[int]


def findings(ledger: Ledger) -> list[Finding]:
    """Everything worth a word, most expensive first."""
    found = [
        *_pauses(ledger, Owner.EVAL),
        *_pauses(ledger, Owner.SAVE),
        *_aftermath(ledger),
        *_warmup(ledger),
        *_data(ledger),
        *_edges(ledger),
        *_restarts(ledger),
        *_unknown(ledger),
        *_speeds(ledger),
    ]
    least = WORTH_A_WORD * ledger.running_s
    return sorted(
        (finding for finding in found if finding.cost_s > least),
        key=lambda finding: -finding.cost_s,
    )


def _of(ledger: Ledger, owner: Owner) -> list[Span]:
    return [span for span in ledger.spans if span.owner is owner]


def _every(spans: list[Span]) -> int | None:
    """The usual distance of pauses in steps, if there is one."""
    steps = sorted({span.step for span in spans})
    gaps = Counter(b - a for a, b in pairwise(steps))
    if not gaps:
        return None
    gap, count = gaps.most_common(1)[0]
    return gap if count >= 0.5 * (len(steps) - 1) else None


def _cost_of_each(spans: list[Span]) -> list[float]:
    """What each pause cost: a record may hold several spans of one."""
    costs: dict[int, float] = {}
    for span in spans:
        costs[span.begin] = costs.get(span.begin, 0.0) + span.cost_s
    return list(costs.values())


def _lines(spans: list[Span]) -> list[int]:
    """Evidence of the most expensive spans."""
    dearest = sorted(spans, key=lambda span: -span.cost_s)[:3]
    return sorted({line for span in dearest for line in span.lines})


def _confidence(spans: list[Span]) -> Confidence:
    """The ladder: stated, or marked again and again; then marked once or hinted; then shape."""
    told = {span.told for span in spans}
    if told == {Told.STATED} or (told <= {Told.STATED, Told.MARKER} and len(spans) > 1):
        return "high"
    if told <= {Told.STATED, Told.MARKER, Told.HINT}:
        return "medium"
    if told & {Told.STATED, Told.MARKER}:
        return "medium"
    return "low"


def _pauses(ledger: Ledger, owner: Owner) -> list[Finding]:
    spans = _of(ledger, owner)
    inside = [span for span in spans if not span.is_closing]
    closing = [span for span in spans if span.is_closing]
    if inside:
        # The one after the last step is like the others, unless it is far longer.
        usual = median(span.cost_s for span in inside)
        inside += [span for span in closing if span.cost_s < 3 * usual]
        closing = [span for span in closing if span.cost_s >= 3 * usual]
    found = []
    if inside:
        costs = _cost_of_each(inside)
        marked = sum(span.told is not Told.PERIOD for span in inside)
        joint = sum(span.is_joint for span in inside) > 0.5 * marked
        name = "eval-and-save" if joint else owner.value
        facts: dict[str, float | int | str | None] = {
            "count": len(costs),
            "every": _every(inside),
            "typical_s": median(costs),
            "worst_s": max(costs),
            "worst_step": max(inside, key=lambda span: span.cost_s).step,
            "first_step": inside[0].step,
            "inferred": sum(span.told is Told.PERIOD for span in inside),
        }
        confidence = _confidence(inside)
        found.append(Finding(name, owner, sum(costs), confidence, facts, _lines(inside)))
    for span in closing:
        facts = {"step": span.last_step}
        name = "closing-eval-and-save" if span.is_joint else f"closing-{owner.value}"
        found.append(Finding(name, owner, span.cost_s, _confidence([span]), facts, span.lines))
    return found


def _aftermath(ledger: Ledger) -> list[Finding]:
    spans = _of(ledger, Owner.AFTERMATH)
    if not spans:
        return []
    begins = {begin for span in spans for begin in range(span.begin - QUIET, span.begin + 1)}
    saves = [save for save in _of(ledger, Owner.SAVE) if save.end in begins]
    cost_s = sum(span.cost_s for span in spans)
    save_s = sum(save.cost_s for save in saves)
    is_sure = len(spans) > 1 or spans[0].factor >= 1.5
    facts: dict[str, float | int | str | None] = {
        "count": len(spans),
        "save_step": saves[0].step if saves else spans[0].first_step - 1,
        "save_s": save_s,
        "steps": round(median(span.last_step - span.first_step + 1 for span in spans)),
        "factor": median(span.factor for span in spans),
        "times_save": cost_s / save_s if save_s else None,
        "save_typical_s": median(save.cost_s for save in saves) if saves else None,
        "typical_s": median(span.cost_s for span in spans),
    }
    confidence: Confidence = "high" if is_sure else "medium"
    lines = sorted({*_lines(saves), *_lines(spans)})
    return [Finding("aftermath", Owner.AFTERMATH, cost_s, confidence, facts, lines)]


def _warmup(ledger: Ledger) -> list[Finding]:
    spans = _of(ledger, Owner.WARMUP)
    if not spans:
        return []
    starts = {ledger.timeline.process_of(span.begin).begin for span in spans}
    facts: dict[str, float | int | str | None] = {
        "starts": len(starts),
        "steps": sum(span.last_step - span.first_step + 1 for span in spans),
        "first_step": spans[0].first_step,
        "first_s": spans[0].cost_s + ledger.main.base_s,
        "factor": max(span.factor for span in spans),
    }
    cost_s = sum(span.cost_s for span in spans)
    return [Finding("warmup", Owner.WARMUP, cost_s, "high", facts, _lines(spans))]


def _data(ledger: Ledger) -> list[Finding]:
    found = []
    spans = _of(ledger, Owner.DATA)
    if spans:
        facts: dict[str, float | int | str | None] = {
            "count": len(spans),
            "every": _every(spans),
            "typical_s": median(span.cost_s for span in spans),
        }
        cost_s = sum(span.cost_s for span in spans)
        confidence = _confidence(spans)
        found.append(Finding("data-stalls", Owner.DATA, cost_s, confidence, facts, _lines(spans)))
    if ledger.usual_data_s > CHRONIC * ledger.main.base_s:
        stalled = sum(span.cost_s for span in spans)
        cost_s = ledger.accounts[Owner.DATA].seconds - stalled
        facts = {"wait_s": ledger.usual_data_s, "step_s": ledger.main.base_s}
        line = ledger.timeline.run.line[ledger.main.begin]
        found.append(Finding("data-chronic", Owner.DATA, cost_s, "high", facts, [line]))
    return found


def _edges(ledger: Ledger) -> list[Finding]:
    seconds = ledger.accounts[Owner.STARTUP].seconds
    clock = ledger.timeline.run.first_clock
    if clock is None or seconds <= 0:
        return []
    lines = [clock.line, ledger.timeline.run.line[0]]
    facts: dict[str, float | int | str | None] = {"seconds": seconds}
    return [Finding("startup", Owner.STARTUP, seconds, "high", facts, lines)]


def _restarts(ledger: Ledger) -> list[Finding]:
    """Gaps and lost work: each one finding, named after its worst case."""
    found = []
    gaps = [restart for restart in ledger.restarts if restart.gap_s]
    losses = [restart for restart in ledger.restarts if restart.lost_s]
    if gaps:
        worst = max(gaps, key=lambda restart: restart.gap_s or 0.0)
        facts: dict[str, float | int | str | None] = {
            "count": len(gaps),
            "last_step": worst.last_step,
            "resumed_at": worst.resumed_at,
            "worst_s": worst.gap_s,
            "launches": sum(restart.num_launches for restart in gaps),
        }
        cost_s = sum(restart.gap_s or 0.0 for restart in gaps)
        lines = [worst.last_line, worst.line]
        found.append(Finding("restart", Owner.RESTART, cost_s, "high", facts, lines))
    launches, vain_s = vain_launches(ledger.timeline)
    if vain_s:
        run = ledger.timeline.run
        facts = {"launches": launches, "last_step": run.step[-1]}
        lines = [run.line[-1], run.ends[-1].line]
        found.append(Finding("never-again", Owner.RESTART, vain_s, "high", facts, lines))
    if losses:
        worst = max(losses, key=lambda restart: restart.lost_s)
        from_scratch = any(restart.is_from_scratch for restart in losses)
        facts = {
            "count": len(losses),
            "last_step": worst.last_step,
            "resumed_at": worst.resumed_at,
            "steps": sum(restart.lost_steps for restart in losses),
            "worst_steps": worst.lost_steps,
            "from_scratch": int(worst.is_from_scratch),
        }
        cost_s = sum(restart.lost_s for restart in losses)
        lines = [worst.last_line, worst.line]
        confidence: Confidence = "medium" if from_scratch else "high"
        found.append(Finding("lost", Owner.LOST, cost_s, confidence, facts, lines))
    return found


def _unknown(ledger: Ledger) -> list[Finding]:
    spans = _of(ledger, Owner.UNKNOWN)
    found = []
    for periods, teeth in _combs(spans):
        facts: dict[str, float | int | str | None] = {
            "period": periods[0],
            "to_period": periods[-1],
            "count": len(teeth),
            "factor": median(span.factor for span in teeth),
            "typical_s": median(span.cost_s for span in teeth),
            "first_step": teeth[0].last_step,
        }
        cost_s = sum(span.cost_s for span in teeth)
        found.append(Finding("periodic", Owner.UNKNOWN, cost_s, "low", facts, _lines(teeth)))
    for span in spans:
        if span.is_closing:
            facts = {"step": span.last_step}
            found.append(
                Finding("closing-unknown", Owner.UNKNOWN, span.cost_s, "low", facts, span.lines)
            )
    alone = [span for span in spans if span.period is None and not span.is_closing]
    zones = [span for span in alone if span.end - span.begin > 1]
    single = [span for span in alone if span.end - span.begin == 1]
    for name, group in (("slow-zone", zones), ("slow-steps", single)):
        if group:
            worst = max(group, key=lambda span: span.cost_s)
            facts = {
                "count": len(group),
                "first_step": worst.first_step,
                "last_step": worst.last_step,
                "factor": worst.factor,
                "worst_s": worst.cost_s,
            }
            cost_s = sum(span.cost_s for span in group)
            found.append(Finding(name, Owner.UNKNOWN, cost_s, "low", facts, _lines(group)))
    return found


def _combs(spans: list[Span]) -> list[tuple[list[int], list[Span]]]:
    """Combs with their periods; those of nearly the same period are one finding."""
    by_period: dict[int, list[Span]] = {}
    for span in spans:
        if span.period is not None:
            by_period.setdefault(span.period, []).append(span)
    found: list[tuple[list[int], list[Span]]] = []
    for period, teeth in sorted(by_period.items()):
        if found and period <= 1.02 * found[-1][0][-1]:
            found[-1][0].append(period)
            found[-1][1].extend(teeth)
        else:
            found.append(([period], list(teeth)))
    return found


def _speeds(ledger: Ledger) -> list[Finding]:
    """Lasting changes of speed: the log shows them, and cannot tell whether they were wanted."""
    every = [regime for own in ledger.regimes for regime in own if regime.base_s > 0]
    timeline = ledger.timeline
    found = []
    for before, after in pairwise(every):
        slower, faster = (after, before) if after.base_s > before.base_s else (before, after)
        if (
            slower.base_s < MUCH_SLOWER * faster.base_s
            or min(before.end - before.begin, after.end - after.begin) < 20
        ):
            continue
        process = timeline.process_of(slower.begin)
        steps = sum(timeline.num_steps(i, process) for i in range(slower.begin, slower.end))
        facts: dict[str, float | int | str | None] = {
            "step": timeline.run.step[after.begin],
            "before_s": before.base_s,
            "after_s": after.base_s,
            "factor": slower.base_s / faster.base_s,
            "resumed": int(any(p.begin == after.begin for p in timeline.processes)),
        }
        cost_s = steps * (slower.base_s - faster.base_s)
        name = "slower-since" if slower is after else "faster-since"
        lines = [timeline.run.line[before.end - 1], timeline.run.line[after.begin]]
        found.append(Finding(name, Owner.COMPUTE, cost_s, "low", facts, lines))
    return found
