"""What an ordinary step takes: per process, and per regime inside it.

A curriculum or another batch size changes the step time for good: that is another baseline, not a
slow run. A stretch that is slower than what comes before and after it is no regime but a slow zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from statistics import fmean, median

import msgspec

from instride.explain.timeline import Process, Timeline

MOST_BLOCKS = 1024
"""Long processes are judged by the medians of this many blocks of records."""
TICKS = 20
"""A clock that counts whole seconds is read over at least this many of them."""
SHORTEST_REGIME = 20
"""Records that a lasting change of speed must hold for."""
SMALLEST_SHIFT = 1.1
"""A lasting change of speed is at least this factor."""
SLOW_ZONE = 1.15
FAR_SLOWER = 1.5


class Regime(msgspec.Struct):
    """A stretch of one speed."""

    begin: int
    end: int
    base_s: float
    spread_s: float = 0.0
    """1.4826 x median absolute deviation of single intervals, per step."""


class Block(msgspec.Struct):
    begin: int
    end: int
    level: float


def regimes(timeline: Timeline, process: Process) -> list[Regime]:
    """The baselines of one process, in order, covering all its records."""
    blocks = _blocks(timeline, process)
    if not blocks:
        return [Regime(process.begin, process.end, _rough(timeline, process))]
    cuts = _cuts([log(block.level) for block in blocks], _shortest(blocks))
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
    return next(regime for regime in reversed(found) if regime.begin <= index)


class _Ordinary:
    """Records that should show an ordinary step: no marker inside, not the first of the process."""

    def __init__(self, timeline: Timeline, process: Process) -> None:
        self.seconds = timeline.seconds
        self.begin = process.begin + (1 if len(process) > 2 else 0)
        self.end = process.end
        marked = sum(self.begin <= at < self.end for at in timeline.events_at)
        # Where nearly every record holds a marker, a marker is what ordinary looks like.
        self.marked = timeline.events_at if marked * 4 < 3 * len(process) else {}

    def among(self, indices: range) -> list[int]:
        begin, end, seconds, marked = self.begin, self.end, self.seconds, self.marked
        return [i for i in indices if begin <= i < end and seconds[i] > 0.0 and i not in marked]

    def ticking(self, indices: range) -> list[int]:
        """By a coarse clock, steps of no time at all are as ordinary as those of one tick."""
        begin, end, marked = self.begin, self.end, self.marked
        return [i for i in indices if begin <= i < end and i not in marked]


def _blocks(timeline: Timeline, process: Process) -> list[Block]:
    ordinary = _Ordinary(timeline, process)
    resolution = timeline.run.clock_resolution_s
    if resolution and timeline.has_wall(process.end - 1, process):
        return _ticked_blocks(timeline, process, ordinary, TICKS * resolution)
    size = max(1, len(process) // MOST_BLOCKS)
    value = timeline.value
    found = []
    for begin in range(process.begin, process.end, size):
        end = min(begin + size, process.end)
        values = [value(i, process) for i in ordinary.among(range(begin, end, 1 + size // 64))]
        if values:
            found.append(Block(begin, end, median(values)))
    return found


def _ticked_blocks(
    timeline: Timeline, process: Process, ordinary: _Ordinary, shortest_s: float
) -> list[Block]:
    """Means over long enough stretches: one tick of a coarse clock says little about a step."""
    size = max(1, len(process) // MOST_BLOCKS)
    step = timeline.run.step
    found, begin, total_s, steps, count = [], process.begin, 0.0, 0, 0
    for start in range(process.begin, process.end, 4096):
        for index in ordinary.ticking(range(start, min(start + 4096, process.end))):
            total_s += timeline.seconds[index]
            steps += step[index] - step[index - 1] if index > process.begin else 1
            count += 1
            if total_s >= shortest_s and count >= size:
                found.append(Block(begin, index + 1, total_s / steps))
                begin, total_s, steps, count = index + 1, 0.0, 0, 0
    if not found and total_s > 0:
        found.append(Block(begin, process.end, total_s / steps))
    return found


def _shortest(blocks: list[Block]) -> int:
    """Blocks that hold enough records to be a regime."""
    records = blocks[-1].end - blocks[0].begin
    return max(3, round(SHORTEST_REGIME * len(blocks) / max(1, records)))


def _cuts(levels: list[float], shortest: int) -> list[int]:
    """Where the level shifts for good: the best cut of a stretch, then of both its halves."""
    found: list[int] = []
    stretches = [(0, len(levels))]
    while stretches:
        begin, end = stretches.pop()
        cut = _best_cut(levels, begin, end, shortest)
        if cut is not None:
            found.append(cut)
            stretches += [(begin, cut), (cut, end)]
    return sorted(found)


def _best_cut(levels: list[float], begin: int, end: int, shortest: int) -> int | None:
    if end - begin < 2 * shortest:
        return None
    width = max(shortest, min(64, (end - begin) // 8))
    best, where = 0.0, None
    for cut in range(begin + shortest, end - shortest + 1):
        before = levels[max(begin, cut - width) : cut]
        after = levels[cut : min(end, cut + width)]
        shift = abs(median(after) - median(before))
        if shift > best:
            best, where = shift, cut
    if where is None or best < log(SMALLEST_SHIFT):
        return None
    lo, hi = max(begin + shortest, where - width), min(end - shortest, where + width)
    cut = min(range(lo, hi + 1), key=lambda c: _misfit(levels, begin, c, end, 2 * width))
    before = levels[max(begin, cut - width) : cut]
    after = levels[cut : min(end, cut + width)]
    shift = abs(median(after) - median(before))
    noise = max(_deviation(before), _deviation(after))
    error = 1.2533 * noise * (1 / len(before) + 1 / len(after)) ** 0.5
    # Steps of two lengths in random order flip the median, but hardly move the mean.
    is_whole = abs(fmean(after) - fmean(before)) > 0.5 * shift
    return cut if is_whole and shift > max(log(SMALLEST_SHIFT), 0.8 * noise, 5 * error) else None


def _misfit(levels: list[float], begin: int, cut: int, end: int, width: int) -> float:
    before, after = levels[max(begin, cut - width) : cut], levels[cut : min(end, cut + width)]
    left, right = median(before), median(after)
    return sum(abs(x - left) for x in before) + sum(abs(x - right) for x in after)


def _deviation(levels: list[float]) -> float:
    middle = median(levels)
    return 1.4826 * median(abs(x - middle) for x in levels)


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
    sample = _Ordinary(timeline, process).among(range(regime.begin, regime.end, stride))
    base, value = regime.base_s, timeline.value
    values = [each for i in sample if (each := value(i, process)) < FAR_SLOWER * base]
    return 1.4826 * median([abs(each - base) for each in values] or [0.0])


def _rough(timeline: Timeline, process: Process) -> float:
    values = [timeline.value(i, process) for i in range(process.begin, process.end)]
    return median([v for v in values if v > 0] or [0.0])
