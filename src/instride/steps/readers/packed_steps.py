"""Steps of logs that count anew in every epoch, while the length of an epoch is not known yet.

Epoch and place are kept as one number, which goes up as the step does, and are made a step when the
whole log has been seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from instride.steps.columns import Column

BITS = 40
MASK = (1 << BITS) - 1
LAST_EPOCH = 1 << 20


def packed(epoch: int, place: int) -> int:
    return min(epoch, LAST_EPOCH) << BITS | min(place, MASK)


def unpacked(step: int) -> tuple[int, int]:
    """The epoch and the place in it."""
    return step >> BITS, step & MASK


def unpack_learnt(steps: Column) -> bool:
    """Count on through the epochs, which begin with 1; False if the log does so itself.

    An epoch has as many steps as the places seen in those that ended. Each run in the log has
    epochs of its own length: that of the run before, where none of its own ended.
    """
    if not _begins_anew(steps):
        for index, step in enumerate(steps):
            steps[index] = step & MASK
        return False
    length = 0
    begin = 0
    for end in range(1, len(steps) + 1):
        if end < len(steps) and steps[end] >= steps[end - 1]:
            continue
        length = _length(steps[begin:end], length)
        for index in range(begin, end):
            epoch, place = unpacked(steps[index])
            steps[index] = max(0, epoch - 1) * length + place
        begin = end
    return True


def _begins_anew(steps: Sequence[int]) -> bool:
    """Whether places begin anew with an epoch; if no epoch ends, whether they began at all."""
    goes_on = False
    for before, after in pairwise(steps):
        if after >> BITS > before >> BITS:
            if after & MASK <= before & MASK:
                return True
            goes_on = True
    if goes_on or len(steps) < 2:
        return not goes_on
    first = steps[0] & MASK
    return first <= max(1, (steps[1] & MASK) - first)


def _length(steps: Sequence[int], before: int) -> int:
    """Steps of an epoch in one run, given what they were in the run before."""
    whole = [one & MASK for one, other in pairwise(steps) if other >> BITS > one >> BITS]
    most = max(step & MASK for step in steps)
    return max(whole) if whole and max(whole) >= most else max(most, before if not whole else 0)
