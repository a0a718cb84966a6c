"""Steps behind counts that are printed with three digits: `1.01kit` may be 1005 or 1015.

The printed counts are gates that the true count went through. Of all courses through them, the
steadiest one is taken, a string pulled tight: it bends only where the gates force it to. So a slow
stretch shows as far as the log proves it, and no further.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
LONGEST_NUMBER = 12
REACH = 2000
"""Gates that one straight piece may pass: the work stays linear in the number of gates."""
LEAST_S = 1e-6
"""Between two gates, so that there is a slope."""


class Count(NamedTuple):
    """A count as printed, and the bounds of what it may stand for."""

    value: float
    low: float
    high: float


def rounded(digits: str, scale: str) -> Count | None:
    """The count that `1.01` and `k` stand for; None where that is no count."""
    if scale not in SCALES or len(digits) > LONGEST_NUMBER or not digits[:1].isdecimal():
        return None
    try:
        number = float(digits)
    except ValueError:
        return None
    value = number * SCALES[scale]
    if not scale:
        return Count(value, value, value)
    _, _, decimals = digits.partition(".")
    half = 0.5 * SCALES[scale] / 10 ** len(decimals)
    # Below a power of ten there is one digit more: what is a little less is printed differently.
    is_power = digits.replace(".", "").rstrip("0") == "1"
    return Count(value, value - (half / 10 if is_power else half), value + half)


def clip(counts: Sequence[Count]) -> list[Count]:
    """Counts never go back, so each gate bounds those before and after it."""
    lows, highs = array("d"), array("d")
    low, high = -inf, inf
    for count in counts:
        low = max(low, count.low)
        lows.append(low)
    for count in reversed(counts):
        high = min(high, count.high)
        highs.append(high)
    clipped = []
    for count, low, high in zip(counts, lows, reversed(highs), strict=True):
        high = max(low, high)
        clipped.append(Count(min(max(count.value, low), high), low, high))
    return clipped


def steadiest(times: Sequence[float], gates: Sequence[Count]) -> list[float]:
    """The count at each time, on the steadiest course through all gates."""
    course = [gates[0].value] if gates else []
    begin = 0
    while begin < len(gates) - 1:
        end, count = _straight(times, gates, begin, course[begin])
        slope = (count - course[begin]) / _between(times, begin, end)
        for index in range(begin + 1, end):
            course.append(course[begin] + slope * _between(times, begin, index))
        course.append(count)
        begin = end
    return course


def _straight(
    times: Sequence[float], gates: Sequence[Count], begin: int, count: float
) -> tuple[int, float]:
    """How far a straight line from a gate can go: the gate where it must bend, and the count."""
    steepest, flattest = inf, -inf
    at_high = at_low = begin
    last = min(len(gates), begin + REACH) - 1
    for index in range(begin + 1, last + 1):
        elapsed = _between(times, begin, index)
        to_high = (gates[index].high - count) / elapsed
        to_low = (gates[index].low - count) / elapsed
        if to_low > steepest:
            return at_high, gates[at_high].high
        if to_high < flattest:
            return at_low, gates[at_low].low
        if to_high <= steepest:
            steepest, at_high = to_high, index
        if to_low >= flattest:
            flattest, at_low = to_low, index
    elapsed = _between(times, begin, last)
    slope = min(max((gates[last].value - count) / elapsed, flattest), steepest)
    return last, count + slope * elapsed


def _between(times: Sequence[float], begin: int, end: int) -> float:
    return max(times[end] - times[begin], LEAST_S * (end - begin))
