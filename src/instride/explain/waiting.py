"""What ordinary steps wait for data, by what the log prints."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from math import isnan
from statistics import median_low

from instride.explain.spans import Span
from instride.explain.timeline import Timeline
from instride.steps.model import Run

MOST_SAMPLED = 20_000


def usual_data(run: Run) -> float:
    """What an ordinary step waits for data; 0.0 if the log does not say.

    A wait that was printed, never one between two: where every second step waits, none waits half.
    """
    stride = 1 + len(run.data) // MOST_SAMPLED
    waits = [wait for wait in run.data[::stride] if not isnan(wait)]
    return median_low(waits) if waits else 0.0


def waited_s(timeline: Timeline, spans: Iterable[Span], usual_s: float) -> float:
    """What all steps waited for data, without the stalls that spans own.

    The sum of what is printed, as waits may alternate. A record that a span holds counts with the
    usual wait at most: what it waited longer is told there. One without a number counts with it,
    and so do steps that were not printed.
    """
    run, total_s = timeline.run, 0.0
    if not run.data:
        return 0.0
    inside = [span for span in spans if not span.is_closing]
    owned = {index for span in inside for index in range(span.begin, span.end)}
    for process in timeline.processes:
        first = timeline.num_steps(process.begin, process)
        later = (after - before for before, after in pairwise(run.step.since(process.begin)))
        waits = run.data[process.begin : process.end]
        each = zip(waits, chain((first,), later), strict=False)
        for index, (wait_s, num_steps) in enumerate(each, process.begin):
            if isnan(wait_s) or (index in owned and wait_s > usual_s):
                wait_s = usual_s
            is_single = timeline.is_single and timeline.is_single[index]
            total_s += wait_s + (num_steps - 1) * (usual_s if is_single else wait_s)
    return total_s
