"""What an ordinary step takes, as the trainer prints it: the number that people know."""

from __future__ import annotations

from statistics import median

from instride.explain.baseline import Regime
from instride.explain.timeline import Timeline
from instride.steps.model import Pauses

COARSE = 0.2
"""Share of the time from record to record from which the wall clock is too coarse to tell it."""


def printed_baseline(timeline: Timeline, main: Regime) -> float:
    """The wall holds a little more than the trainer's own clock; people know the latter."""
    run = timeline.run
    if not timeline.has_wall(main.end - 1, timeline.process_of(main.begin)):
        return main.base_s
    stride = 1 + (main.end - main.begin) // 20_000
    printed = [run.seconds_at(i) for i in range(main.begin, main.end, stride)]
    is_coarse = is_too_coarse(timeline, main)
    reach_s = max(0.15 * main.base_s, run.clock_resolution_s if is_coarse else 0.0)
    known = [seconds for seconds in printed if abs(seconds - main.base_s) < reach_s]
    if not known or run.dialect.pauses is Pauses.SMOOTHED:
        return main.base_s
    middle = median(known)
    is_near = 0.95 * main.base_s < middle <= main.base_s
    return middle if is_near or is_coarse else main.base_s


def is_too_coarse(timeline: Timeline, main: Regime) -> bool:
    """Whether the clock counts in steps rather than in parts of one."""
    seconds = timeline.process_of(main.begin).stride * main.base_s
    return timeline.run.clock_resolution_s > COARSE * seconds
