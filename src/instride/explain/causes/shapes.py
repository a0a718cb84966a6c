"""Causes of the owner `unknown`: slow steps that no line explains, told by their shape."""

from __future__ import annotations

from statistics import median

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.causes.weighing import evidence, total_s
from instride.explain.spans import Owner, Span

PAUSE_S = (0.1, 1.5)
"""What garbage collections of training processes are reported to take."""
FEWEST_PAUSES = 5
ALIKE = 3.0
"""The longest of such pauses over the shortest, the outermost tenths left out."""
NEARLY_ONE = 1.02
"""Periods that differ by less than this factor are told as one."""


def collector_pauses(case: Case) -> list[Finding]:
    """Five single slow steps or more, a tenth of a second to one and a half longer than others,
    all by about the same time, at no equal distances, and no line near them."""
    timeline = case.ledger.timeline
    if timeline.run.clock_resolution_s or max(p.stride for p in timeline.processes) > 1:
        return []
    spans = single(case)
    costs = sorted(span.cost_s for span in spans)
    outer = len(costs) // 10
    inner = costs[outer : len(costs) - outer]
    if len(costs) < FEWEST_PAUSES or inner[-1] > ALIKE * inner[0]:
        return []
    if not PAUSE_S[0] <= inner[0] <= inner[-1] <= PAUSE_S[1]:
        return []
    facts: Facts = {
        "count": len(spans),
        "typical_s": median(costs),
        "worst_s": costs[-1],
        "step": max(spans, key=lambda span: span.cost_s).last_step,
    }
    lines = evidence(spans)
    found = Finding("collector-pauses", Owner.UNKNOWN, sum(costs), "low", facts, lines)
    found.spans = spans
    return [found]


def combs(case: Case) -> list[Finding]:
    """Slow steps at equal distances, without a line. Where the log prints a setting of that
    distance at its head, the finding names it."""
    found = []
    for periods, teeth in _by_period(case.spans(Owner.UNKNOWN)):
        setting = _setting_of(case, periods)
        facts: Facts = {
            "period": periods[0],
            "to_period": periods[-1],
            "count": len(teeth),
            "factor": median(span.factor for span in teeth),
            "typical_s": median(span.cost_s for span in teeth),
            "first_step": teeth[0].last_step,
            "setting": setting,
        }
        lines, cost_s = evidence(teeth), total_s(teeth)
        finding = Finding("periodic", Owner.UNKNOWN, cost_s, "low", facts, lines, spans=teeth)
        if setting is not None:
            finding.confidence, finding.rung = "medium", Rung.PERIOD
        found.append(finding)
    return found


def _setting_of(case: Case, periods: list[int]) -> str | None:
    names = sorted(name for name, value in case.settings.items() if value in periods)
    return names[0] if names else None


def _by_period(spans: list[Span]) -> list[tuple[list[int], list[Span]]]:
    """Combs with their periods; those of nearly the same period are one finding."""
    by_period: dict[int, list[Span]] = {}
    for span in spans:
        if span.period is not None:
            by_period.setdefault(span.period, []).append(span)
    found: list[tuple[list[int], list[Span]]] = []
    for period, teeth in sorted(by_period.items()):
        if found and period <= NEARLY_ONE * found[-1][0][-1]:
            found[-1][0].append(period)
            found[-1][1].extend(teeth)
        else:
            found.append(([period], list(teeth)))
    return found


def closing_unknown(case: Case) -> list[Finding]:
    """The log goes on after the last step, with times but without a line that says with what."""
    found = []
    for span in case.spans(Owner.UNKNOWN):
        if span.is_closing:
            facts: Facts = {"step": span.last_step}
            finding = Finding(
                "closing-unknown", Owner.UNKNOWN, span.cost_s, "low", facts, span.lines
            )
            finding.spans = [span]
            found.append(finding)
    return found


def slow_zones(case: Case) -> list[Finding]:
    """More slow records in a row than chance makes, with faster ones before and after, and no
    line that explains them."""
    zones = [span for span in _alone(case) if span.end - span.begin > 1]
    return _told_by_worst("slow-zone", zones)


def slow_steps(case: Case) -> list[Finding]:
    """Single steps that took half as long again at least, without a line, a period, or enough of
    them to be jitter."""
    return _told_by_worst("slow-steps", single(case))


def single(case: Case) -> list[Span]:
    """Slow records by themselves, at no equal distances."""
    return [span for span in _alone(case) if span.end - span.begin == 1]


def _alone(case: Case) -> list[Span]:
    spans = case.spans(Owner.UNKNOWN)
    return [span for span in spans if span.period is None and not span.is_closing]


def _told_by_worst(name: str, spans: list[Span]) -> list[Finding]:
    if not spans:
        return []
    worst = max(spans, key=lambda span: span.cost_s)
    facts: Facts = {
        "count": len(spans),
        "first_step": worst.first_step,
        "last_step": worst.last_step,
        "factor": worst.factor,
        "worst_s": worst.cost_s,
    }
    cost_s, lines = total_s(spans), evidence(spans)
    return [Finding(name, Owner.UNKNOWN, cost_s, "low", facts, lines, spans=spans)]


UNKNOWN = (Owner.UNKNOWN,)
CAUSES = (
    Cause("collector-pauses", UNKNOWN, collector_pauses, ("collect-on-schedule", "spare-memory")),
    Cause("periodic", UNKNOWN, combs, ("compare-intervals",)),
    Cause("closing-unknown", UNKNOWN, closing_unknown, ("print-around",)),
    Cause("slow-zone", UNKNOWN, slow_zones, ("watch-machine",)),
    Cause("slow-steps", UNKNOWN, slow_steps, ("watch-machine",)),
)
