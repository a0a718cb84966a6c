"""How far each interval is beyond its baseline, and whether that is out of the ordinary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from math import inf
from statistics import median

from instride.explain.baseline import Regime, regime_at
from instride.explain.leftover import Leftover
from instride.explain.processes import Process
from instride.explain.rhythm import Rhythm
from instride.explain.spans import Owner, Span, Told
from instride.explain.timeline import Timeline
from instride.steps.model import Pauses

SLOW = 0.15
"""A step is slow from +15 %: GPU steps spread by 0.04 %, so deviations alone flag everything."""
MARKED = 0.02
"""Where the log marks a pause, +2 % is enough."""
SMALLEST_S = 0.002


class Excess:
    """The intervals of one process against the baselines of its regimes."""

    def __init__(
        self,
        timeline: Timeline,
        process: Process,
        regimes: Sequence[Regime],
        rhythm: Rhythm | None = None,
    ) -> None:
        self.timeline, self.process, self.regimes = timeline, process, regimes
        self.rhythm = rhythm
        self.left = Leftover()
        """Seconds beyond the baseline that no owner has taken yet, of slow and marked records."""
        self.teeth: dict[int, int] = {}
        """Slow records that are known to be of a comb, with its period."""
        for regime in regimes:
            self._scan(regime)

    @property
    def is_smeared(self) -> bool:
        """Whether the times are moving averages, which hold a pause for many records after it."""
        is_smoothed = self.timeline.run.dialect.pauses is Pauses.SMOOTHED
        return is_smoothed and not self.timeline.has_wall(self.process.end - 1, self.process)

    def base_s(self, index: int) -> float:
        return regime_at(self.regimes, index).base_s

    def seconds(self, index: int) -> float:
        """Beyond the baseline, by whatever amount."""
        steps = self.timeline.timed_steps(index, self.process)
        return self.timeline.seconds[index] - steps * self.base_s(index)

    def factor(self, index: int) -> float:
        base = self.base_s(index)
        return self.timeline.value(index, self.process) / base if base else 1.0

    def factor_of_rest(self, index: int) -> float:
        """Duration of a step over the baseline, without what other owners have taken."""
        base = self.base_s(index) * self.timeline.timed_steps(index, self.process)
        return 1.0 + self.rest(index) / base if base else 1.0

    def is_slow(self, index: int, share: float = SLOW) -> bool:
        regime = regime_at(self.regimes, index)
        return self.rest(index) > self._limit(index, regime, share)

    def rest(self, index: int) -> float:
        """Beyond the baseline, without what other owners have taken."""
        left = self.left.get(index)
        return self.seconds(index) if left is None else left

    def take(self, index: int, seconds: float) -> float:
        """Take up to so many seconds from what is left of a record; return what was taken."""
        left = self.left.get(index, 0.0)
        taken = max(0.0, min(seconds, left))
        self.left[index] = left - taken
        return taken

    def take_stated(self, index: int, seconds: float) -> float:
        """Take what the log states, even if the rest of the step was faster than usual by that.

        A statement far beyond the excess is about something else (work in the background), or its
        line was held back and stands in the wrong place: then the excess is all there is.
        """
        steps = self.timeline.timed_steps(index, self.process)
        left = self.left.get(index, 0.0)
        if seconds > left + 0.25 * steps * self.base_s(index):
            return self.take(index, seconds) if self.remains_slow(index, MARKED) else 0.0
        self.left[index] = left - seconds
        return seconds

    def stalled_s(self, index: int, usual_s: float) -> float:
        """How much longer than usual the steps of a record waited for data, if the log says."""
        data = self.timeline.run.data
        if not data or not data[index] > usual_s:
            return 0.0
        return (data[index] - usual_s) * self.timeline.timed_steps(index, self.process)

    def remains_slow(self, index: int, share: float = SLOW) -> bool:
        """Whether what is left of a record is still out of the ordinary."""
        left = self.left.get(index)
        return left is not None and left > self._limit(index, regime_at(self.regimes, index), share)

    def slow(self) -> list[int]:
        """Records that are still out of the ordinary, in order."""
        return sorted(index for index in self.left if self.remains_slow(index))

    def span(self, records: list[int], owner: Owner, told: Told, most_s: float = inf) -> Span:
        """A span over slow records, which takes what is left of them, up to `most_s` of each."""
        timeline, process = self.timeline, self.process
        first, last = records[0], records[-1]
        factor = median(self.factor_of_rest(index) for index in records)
        extra_s = unseen_s = 0.0
        for index in records:
            beyond = self.take(index, min(most_s, self.left[index]))
            extra_s += beyond
            if len(records) > 1:
                timed = timeline.timed_steps(index, process)
                unseen_s += beyond * (timeline.num_steps(index, process) - timed)
        lines = {timeline.run.line[first], timeline.run.line[last]}
        return Span(
            owner=owner,
            first_step=timeline.run.step[first] - timeline.timed_steps(first, process) + 1,
            last_step=timeline.run.step[last],
            extra_s=extra_s,
            factor=factor,
            told=told,
            begin=first,
            end=last + 1,
            lines=sorted(lines),
            unseen_s=unseen_s,
        )

    def _limit(self, index: int, regime: Regime, share: float) -> float:
        steps = self.timeline.timed_steps(index, self.process)
        expected = regime.base_s
        if self.rhythm is not None and steps == 1:
            expected = max(expected, expected * self.rhythm.factor(self.timeline.run.step[index]))
        limit = max(share * regime.base_s, 3 * regime.spread_s) + expected - regime.base_s
        return max(limit * steps, self._floor(index))

    def _floor(self, index: int) -> float:
        """What is too small to be told by the clock."""
        if self.timeline.has_wall(index, self.process):
            return SMALLEST_S + 1.5 * self.timeline.run.clock_resolution_s
        return SMALLEST_S

    def _scan(self, regime: Regime) -> None:
        """Collect the records worth a look; one pass over millions of them."""
        timeline, base = self.timeline, regime.base_s
        least = base + max(SLOW * base, 3 * regime.spread_s, self._floor(regime.end - 1))
        is_long = map(least.__lt__, memoryview(timeline.seconds)[regime.begin : regime.end])
        begin = regime.begin
        for end in chain(timeline.marked_between(regime.begin, regime.end), (regime.end,)):
            for index in compress(range(begin, end), is_long):
                beyond = self.seconds(index)
                if beyond > self._limit(index, regime, SLOW):
                    self.left[index] = beyond
            if end < regime.end:
                next(is_long)
                self.left[end] = max(0.0, self.seconds(end))
            begin = end + 1
