"""Causes of the owner `compute`: another speed since some step, or one that changes all the time.

The log shows such changes and cannot tell whether they were wanted.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

import msgspec

from instride.explain.baseline import Regime
from instride.explain.causes.contract import Case, Cause, Facts, Finding
from instride.explain.causes.weighing import is_rising
from instride.explain.pauses import LONGEST_WARMUP
from instride.explain.processes import Process
from instride.explain.spans import Owner
from instride.explain.timeline import Timeline

MUCH_SLOWER = 1.15
FEWEST_RECORDS = 20
"""On both sides of a change of speed."""
PARTS = 12
"""A process is cut into so many parts to see whether it slows down all the way."""
FEWEST_IN_PART, MOST_IN_PART = 10, 2000
"""Records of a part that are looked at."""
RISE = 0.04
"""Share of the whole growth that a part must add to be growing."""
JUMP = 0.45
"""Share of the whole growth that one part may add; else it is a change, not a drift."""
GROWING, SETTLING = 8, 4
"""Parts that must grow: of a drift that goes on, and of one that comes to rest."""


class _Trend(msgspec.Struct):
    levels: list[float]
    """Seconds a step, part by part."""
    steps: list[int]
    is_plateau: bool

    @property
    def cost_s(self) -> float:
        first = self.levels[0]
        pairs = zip(self.levels, self.steps, strict=True)
        return sum(steps * max(0.0, level - first) for level, steps in pairs)


def drift(case: Case) -> list[Finding]:
    """Steps get slower from part to part of a process, by small amounts and 15 % in all at least,
    to its end or to a level that they keep."""
    timeline, found = case.ledger.timeline, []
    for process in timeline.processes:
        trend = _trend(timeline, process)
        if trend is None:
            continue
        case.drifting.add(process.begin)
        facts: Facts = {
            "first_step": timeline.run.step[process.begin],
            "last_step": timeline.run.step[process.end - 1],
            "before_s": trend.levels[0],
            "after_s": trend.levels[-1],
            "factor": trend.levels[-1] / trend.levels[0],
            "plateau": int(trend.is_plateau),
        }
        lines = [timeline.run.line[process.begin], timeline.run.line[process.end - 1]]
        found.append(Finding("drift", Owner.COMPUTE, trend.cost_s, "low", facts, lines))
    return found


def _trend(timeline: Timeline, process: Process) -> _Trend | None:
    begin = process.begin + min(LONGEST_WARMUP, len(process) // 10)
    size = (process.end - begin) // PARTS
    if size < FEWEST_IN_PART:
        return None
    levels, steps, noise = [], [], []
    for first in range(begin, begin + PARTS * size, size):
        part = [
            i
            for i in range(first, first + size, 1 + size // MOST_IN_PART)
            if i not in timeline.events_at
        ]
        if not part:
            return None
        values = [timeline.value(i, process) for i in part]
        levels.append(median(values))
        noise += [abs(b - a) for a, b in pairwise(values)]
        steps.append(timeline.run.step[first + size - 1] - timeline.run.step[first] + 1)
    growth = levels[-1] - levels[0]
    error = 1.2533 * 1.4826 * median(noise or [0.0]) / (2 * size) ** 0.5
    if levels[-1] < MUCH_SLOWER * levels[0] or RISE * growth < error or not is_rising(levels, 0.8):
        return None
    rises = [(b - a) / growth for a, b in pairwise(levels)]
    num_growing = sum(rise >= RISE for rise in rises)
    is_plateau = sum(rises[-PARTS // 3 :]) < 0.1
    least = SETTLING if is_plateau else GROWING
    is_smooth = not is_plateau or rises[: least - 1] == sorted(rises[: least - 1], reverse=True)
    if max(rises) > JUMP or num_growing < least or not is_smooth:
        return None
    return _Trend(levels, steps, is_plateau)


def slower_since_resume(case: Case) -> list[Finding]:
    """A process that went on from a checkpoint is 15 % slower than the one before it, over 20
    records at least on both sides."""
    return _changes(case, "slower-since-resume")


def slower_since(case: Case) -> list[Finding]:
    """From some step on all steps take 15 % longer at least, for 20 records or more."""
    return _changes(case, "slower-since")


def faster_since(case: Case) -> list[Finding]:
    """Up to some step all steps took 15 % longer at least, for 20 records or more."""
    return _changes(case, "faster-since")


def _changes(case: Case, name: str) -> list[Finding]:
    every = [regime for own in case.ledger.regimes for regime in own if regime.base_s > 0]
    changes = [_change(case, before, after) for before, after in pairwise(every)]
    return [change for change in changes if change is not None and change.id == name]


def _change(case: Case, before: Regime, after: Regime) -> Finding | None:
    timeline = case.ledger.timeline
    slower, faster = (after, before) if after.base_s > before.base_s else (before, after)
    shortest = min(before.end - before.begin, after.end - after.begin)
    if slower.base_s < MUCH_SLOWER * faster.base_s or shortest < FEWEST_RECORDS:
        return None
    process, next_process = timeline.process_of(before.begin), timeline.process_of(after.begin)
    if process is next_process and process.begin in case.drifting:
        return None
    if process is not next_process and next_process.is_new_run:
        return None  # Another training need not be as fast.
    is_resumed = process is not next_process
    slow_process = next_process if slower is after else process
    steps = sum(timeline.num_steps(i, slow_process) for i in range(slower.begin, slower.end))
    facts: Facts = {
        "step": timeline.run.step[after.begin],
        "before_s": before.base_s,
        "after_s": after.base_s,
        "factor": slower.base_s / faster.base_s,
        "resumed": int(is_resumed),
    }
    name = "slower-since" if slower is after else "faster-since"
    if slower is after and is_resumed and _goes_on(case, next_process):
        name = "slower-since-resume"
    cost_s = steps * (slower.base_s - faster.base_s)
    lines = [timeline.run.line[before.end - 1], timeline.run.line[after.begin]]
    return Finding(name, Owner.COMPUTE, cost_s, "low", facts, lines)


def _goes_on(case: Case, process: Process) -> bool:
    """Whether a process went on with what the one before it had trained."""
    line = case.ledger.timeline.run.line[process.begin]
    restart = next(each for each in case.ledger.restarts if each.line == line)
    return not restart.is_from_scratch and not restart.is_new_run


COMPUTE = (Owner.COMPUTE,)
CAUSES = (
    Cause("drift", COMPUTE, drift, ("watch-memory", "watch-clocks")),
    Cause(
        "slower-since-resume",
        COMPUTE,
        slower_since_resume,
        ("compare-processes", "watch-memory"),
    ),
    Cause("slower-since", COMPUTE, slower_since, ("compare-settings", "watch-machine")),
    Cause("faster-since", COMPUTE, faster_since, ("compare-settings",)),
)
"""A drift is asked for first: the changes of speed that it is cut into are no others."""
