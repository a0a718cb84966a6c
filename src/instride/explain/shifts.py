"""Lasting shifts in a series of levels (logarithms of step times)."""

from __future__ import annotations

from math import log
from statistics import fmean, median

SMALLEST_SHIFT = 1.1
"""A lasting change of speed is at least this factor."""


def lasting_shifts(levels: list[float], shortest: int) -> list[int]:
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
