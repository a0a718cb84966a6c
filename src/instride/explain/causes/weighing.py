"""Numbers that several causes need: distances, costs, evidence, and how sure spans make us."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from statistics import median

from instride.explain.causes.contract import Rung
from instride.explain.report import Confidence
from instride.explain.spans import Span, Told

FAR_LONGER = 3.0
"""Times the usual cost from which a pause after the last step is not like the others."""
MOST_COMPARED = 200
"""Values that are compared pair by pair."""
RUNGS = {
    Told.STATED: Rung.STATED,
    Told.MARKER: Rung.MARKER,
    Told.SPLIT: Rung.MARKER,
    Told.HINT: Rung.MARKER,
    Told.PERIOD: Rung.PERIOD,
    Told.SHAPE: Rung.SHAPE,
}


def usual_distance(spans: Sequence[Span]) -> int | None:
    """The usual distance of pauses in steps, if there is one."""
    steps = sorted({span.step for span in spans})
    gaps = Counter(b - a for a, b in pairwise(steps))
    if not gaps:
        return None
    gap, count = gaps.most_common(1)[0]
    return gap if count >= 0.5 * (len(steps) - 1) else None


def by_pause(spans: Iterable[Span]) -> list[list[Span]]:
    """The spans of each pause: it may have several in its record, and one in the record beside."""
    pauses: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: span.begin):
        last = pauses[-1][-1] if pauses else None
        is_same = last is not None and (
            span.begin == last.begin or (span.begin == last.begin + 1 and span.step == last.step)
        )
        if is_same:
            pauses[-1].append(span)
        else:
            pauses.append([span])
    return pauses


def cost_of_each(spans: Iterable[Span]) -> list[float]:
    return [total_s(pause) for pause in by_pause(spans)]


def sorted_out(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Pauses between the steps, and those after the last one that are far longer."""
    inside = [span for span in spans if not span.is_closing]
    closing = [span for span in spans if span.is_closing]
    if not inside:
        return [], closing
    usual = FAR_LONGER * median(span.cost_s for span in inside)
    alike = [span for span in closing if span.cost_s < usual]
    return inside + alike, [span for span in closing if span.cost_s >= usual]


def total_s(spans: Iterable[Span]) -> float:
    return sum(span.cost_s for span in spans)


def evidence(spans: Sequence[Span]) -> list[int]:
    """Lines of the most expensive spans."""
    dearest = sorted(spans, key=lambda span: -span.cost_s)[:3]
    return sorted({line for span in dearest for line in span.lines})


def confidence_in(spans: Sequence[Span]) -> Confidence:
    """Stated, or marked again and again; then marked once, split or hinted; then shape."""
    told = {span.told for span in spans}
    if told == {Told.STATED} or (told <= {Told.STATED, Told.MARKER} and len(spans) > 1):
        return "high"
    if told <= {Told.STATED, Told.MARKER, Told.SPLIT, Told.HINT}:
        return "medium"
    if told & {Told.STATED, Told.MARKER, Told.SPLIT}:
        return "medium"
    return "low"


def rung_of(spans: Sequence[Span]) -> Rung:
    """The best rung that half of the seconds stand on, or better."""
    seconds = dict.fromkeys(Rung, 0.0)
    for span in spans:
        seconds[RUNGS[span.told]] += span.cost_s
    whole_s, so_far_s = sum(seconds.values()), 0.0
    for rung, own_s in seconds.items():
        so_far_s += own_s
        if so_far_s >= 0.5 * whole_s:
            return rung
    return Rung.SHAPE


def is_rising(values: Sequence[float], least: float = 0.85) -> bool:
    """Whether later values are higher than earlier ones, pair by pair, nearly always."""
    sample = values[:: 1 + len(values) // MOST_COMPARED]
    rises = [a < b for a, b in combinations(sample, 2)]
    return bool(rises) and sum(rises) >= least * len(rises)
