"""When checkpoints came, and from that, how long there is until the next one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from statistics import median

from instride.agent.naming import place_of

REMEMBERED = 8
LEAST_INTERVAL_S = 10.0
"""What comes sooner after another was copied there with it, and says nothing of the training."""


class Arrivals:
    """By series: a `best.pt` behind each `step_*.pt` does not make either come more often."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._times_s: dict[str, deque[float]] = {}

    def saw(self, came: Iterable[tuple[str, int]]) -> None:
        """Names of checkpoints, and when each was written, in nanoseconds since 1970."""
        for name, mtime_ns in came:
            series = _series_of(name)
            known = {*self._times_s.get(series, ()), mtime_ns / 1e9}
            self._times_s[series] = deque(sorted(known), maxlen=REMEMBERED)

    def left_s(self, name: str) -> float | None:
        """How long there is for this one; None until two of any series have come.

        One that is looked at late, because it is old or others were before it, has as long as the
        training takes from one to the next: it would be rushed for nothing if the next one is
        about to come.
        """
        own = self._times_s.get(_series_of(name), ())
        interval_s = _interval_s(own)
        if interval_s is None:
            others = [_interval_s(times) for times in self._times_s.values()]
            return min((each for each in others if each is not None), default=None)
        left_s = max(own) + interval_s - self._clock()
        return left_s if interval_s / 2 <= left_s <= interval_s else interval_s


def _series_of(name: str) -> str:
    place = place_of(name)
    return place.series if place else name


def _interval_s(times_s: Iterable[float]) -> float | None:
    gaps = [later - earlier for earlier, later in pairwise(sorted(times_s))]
    telling = [gap for gap in gaps if gap >= LEAST_INTERVAL_S]
    return median(telling) if telling else None
