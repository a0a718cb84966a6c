"""What an ordinary step takes: per process, and per regime inside it.

A curriculum or another batch size changes the step time for good: that is another baseline, not a
slow run. A stretch that is slower than what comes before and after it is no regime but a slow zone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from operator import attrgetter
from statistics import median

import msgspec

from instride.explain.ordinary import Block, Ordinary, blocks_of
from instride.explain.processes import Process
from instride.explain.shifts import SMALLEST_SHIFT, lasting_shifts
from instride.explain.timeline import Timeline

SHORTEST_REGIME = 20
"""Records that a lasting change of speed must hold for."""
SLOW_ZONE = 1.15
FAR_SLOWER = 1.5
_begin = attrgetter("begin")


class Regime(msgspec.Struct):
    """A stretch of one speed."""

    begin: int
    end: int
    base_s: float
    spread_s: float = 0.0
    """1.4826 x median absolute deviation of single intervals, per step."""


def regimes(timeline: Timeline, process: Process) -> list[Regime]:
    """The baselines of one process, in order, covering all its records."""
    blocks = blocks_of(timeline, process)
    if not blocks:
        return [Regime(process.begin, process.end, _rough(timeline, process))]
    cuts = lasting_shifts([log(block.level) for block in blocks], _shortest(blocks))
    borders = [0, *cuts, len(blocks)]
    found = [
        Regime(
            blocks[begin].begin if begin else process.begin,
            blocks[end].begin if end < len(blocks) else process.end,
            _level(blocks[begin:end]),
        )
        for begin, end in pairwise(borders)
    ]
    found = _merge_similar(found)
    _move_borders(timeline, process, found)
    for regime in found:
        regime.spread_s = _spread(timeline, process, regime)
    return found


def regime_at(found: Sequence[Regime], index: int) -> Regime:
    if len(found) == 1:
        return found[0]
    return found[bisect_right(found, index, key=_begin) - 1]


def _shortest(blocks: list[Block]) -> int:
    """Blocks that hold enough records to be a regime."""
    records = blocks[-1].end - blocks[0].begin
    return max(3, round(SHORTEST_REGIME * len(blocks) / max(1, records)))


def _level(blocks: list[Block]) -> float:
    return exp(_trimmed_median([log(block.level) for block in blocks]))


def _trimmed_median(levels: list[float]) -> float:
    """The median without what is far slower: pauses come from one side only."""
    for _ in range(3):
        middle = median(levels)
        kept = [level for level in levels if level < middle + log(FAR_SLOWER)]
        if len(kept) == len(levels) or not kept:
            break
        levels = kept
    return median(levels)


def _merge_similar(found: list[Regime]) -> list[Regime]:
    merged = found[:1]
    for regime in found[1:]:
        last = merged[-1]
        if max(regime.base_s, last.base_s) < SMALLEST_SHIFT * min(regime.base_s, last.base_s):
            share = (last.end - last.begin) / (regime.end - last.begin)
            last.base_s = last.base_s * share + regime.base_s * (1 - share)
            last.end = regime.end
        else:
            merged.append(regime)
    return merged


def _move_borders(timeline: Timeline, process: Process, found: list[Regime]) -> None:
    """Give records that no block holds (marked ones) to the regime whose speed they have."""
    for before, after in pairwise(found):
        while after.begin - before.begin > 1:
            value = timeline.value(after.begin - 1, process)
            if value <= 0 or abs(log(value / after.base_s)) > abs(log(value / before.base_s)):
                break
            after.begin = before.end = after.begin - 1


def drop_slow_zones(found: list[Regime], saves: Sequence[int]) -> list[Regime]:
    """Give slow stretches the baseline around them, so that they are seen as slow.

    A stretch is a zone if it is slower than the regime before it and either the speed comes back
    or it starts right after a save and the process ends before another save could.
    """
    kept = found[:1]
    for regime, after in zip(found[1:], [*found[2:], None], strict=False):
        before = kept[-1]
        is_same = abs(log(regime.base_s / before.base_s)) < log(SMALLEST_SHIFT)
        if is_same or _is_zone(before, regime, after, saves):
            before.end = regime.end
        else:
            kept.append(regime)
    return kept


def _is_zone(before: Regime, regime: Regime, after: Regime | None, saves: Sequence[int]) -> bool:
    if regime.base_s < SLOW_ZONE * before.base_s:
        return False
    if after is not None:
        comes_back = after.base_s * SLOW_ZONE < regime.base_s
        return comes_back and regime.end - regime.begin < before.end - before.begin
    starts_at_save = any(-3 <= regime.begin - save <= 3 for save in saves)
    has_more_saves = any(regime.begin + 3 < save < regime.end - 1 for save in saves)
    return starts_at_save and not has_more_saves


def _spread(timeline: Timeline, process: Process, regime: Regime) -> float:
    stride = 1 + (regime.end - regime.begin) // 20_000
    ordinary, base = Ordinary(timeline, process), regime.base_s
    sample = ordinary.among(range(regime.begin, regime.end, stride))
    values = [each for i in sample if (each := ordinary.value(i)) < FAR_SLOWER * base]
    return 1.4826 * median([abs(each - base) for each in values] or [0.0])


def _rough(timeline: Timeline, process: Process) -> float:
    values = [timeline.value(i, process) for i in range(process.begin, process.end)]
    return median([v for v in values if v > 0] or [0.0])
