"""What lies behind saves, and between them: slow records, and places where one could be."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import attrgetter

import msgspec

from instride.explain.baseline import regime_at
from instride.explain.excess import Excess
from instride.explain.rhythm import MOST_PERIODS

SHORTEST = 4
"""Records between teeth, so that those between them end what is slow after a save."""
MOST_DISTANCES = 3
"""Distances of saves whose parts are tried, the most frequent first."""
MOST_PARTS = 50
"""Teeth from one save to the next."""
_start = attrgetter("start")


class Behind(msgspec.Struct, frozen=True):
    """Where the records of one process are that come behind a save."""

    excess: Excess
    stretches: Sequence[range]
    """In order; no record is in two of them."""

    def stretch_of(self, index: int) -> int | None:
        at = bisect_right(self.stretches, index, key=_start) - 1
        return at if at >= 0 and index in self.stretches[at] else None


def behind_saves(
    excess: Excess, begins: Sequence[int], lasts: Sequence[int], shortest: int
) -> Behind:
    """Stretches from their first record to their last, but never into the next one."""
    limits = [*begins[1:], excess.process.end]
    stretches = [
        range(begin, min(limit, max(begin + shortest, last + 1)))
        for begin, last, limit in zip(begins, lasts, limits, strict=False)
    ]
    return Behind(excess, [stretch for stretch in stretches if stretch])


class Slow(msgspec.Struct, frozen=True):
    """A slow record."""

    excess: Excess
    index: int
    step: int
    seconds: float
    """Beyond the baseline, of which no owner has taken anything yet."""
    stretch: int | None
    """Behind which of the saves it is, if it is."""

    @property
    def is_behind(self) -> bool:
        return self.stretch is not None

    @property
    def usual_s(self) -> float:
        """What its steps take otherwise."""
        return self._num_steps * self.excess.base_s(self.index)

    @property
    def beat_s(self) -> float:
        """By how much it is longer by the rhythm of the loop."""
        rhythm = self.excess.rhythm
        if rhythm is None or self._num_steps > 1:
            return 0.0
        return (rhythm.factor(self.step) - 1) * self.usual_s

    @property
    def spread_s(self) -> float:
        return self._num_steps * regime_at(self.excess.regimes, self.index).spread_s

    @property
    def _num_steps(self) -> int:
        return self.excess.timeline.timed_steps(self.index, self.excess.process)


def slow_in(behind: Behind) -> Iterator[Slow]:
    """The slow records of a process; a marked pause has its owner."""
    excess = behind.excess
    for index in excess.slow():
        stretch = behind.stretch_of(index)
        is_save = stretch is not None and index == behind.stretches[stretch].start
        if is_save or index not in excess.timeline.events_at:
            step = excess.timeline.run.step[index]
            yield Slow(excess, index, step, excess.left[index], stretch)


def _taken(behind: Behind) -> Iterator[int]:
    """Records between saves that were slow for a known reason: a marked pause, or a warm-up."""
    excess = behind.excess
    for index in excess.left:
        has_owner = index in excess.timeline.events_at or not excess.remains_slow(index)
        if has_owner and behind.stretch_of(index) is None:
            yield index


class Places:
    """Records at which a comb would have a tooth that shows, in all processes."""

    def __init__(self, behinds: Sequence[Behind]) -> None:
        self.stride = max((behind.excess.process.stride for behind in behinds), default=1)
        self.num_between = 0
        """Records between saves."""
        self._whole: list[tuple[int, int]] = []
        """First and last place of each process."""
        self._near: list[tuple[int, int]] = []
        """First and last place of each stretch behind a save."""
        self._hidden: list[int] = []
        """Places between saves whose time has an owner, so that a tooth would not show."""
        self._num_records = 0
        saves: Counter[int] = Counter()
        for behind in behinds:
            step, process = behind.excess.timeline.run.step, behind.excess.process
            hidden = [self.of(step[index]) for index in _taken(behind)]
            near = [(step[each.start], step[each.stop - 1]) for each in behind.stretches]
            self._whole.append((self.of(step[process.begin]), self.of(step[process.end - 1])))
            self._near += [(self.of(first), self.of(last)) for first, last in near]
            self._hidden += hidden
            saves.update(_distances([self.of(first) for first, _ in near], 1))
            num_near = sum(map(len, behind.stretches))
            self.num_between += len(process) - num_near - len(hidden)
            self._num_records += len(process)
        self._usual_distances = [distance for distance, _ in saves.most_common(MOST_DISTANCES)]

    def of(self, step: int) -> int:
        """Steps that a log shows one of lie in one place."""
        return step // self.stride

    def periods(self, slow: Sequence[Slow]) -> list[int]:
        """What a comb could have: parts of the distances of saves, and distances of slow steps."""
        gaps: Counter[int] = Counter()
        highest = sorted({self.of(step) for step in _highest_of_each(slow)})
        for number in (1, 2, 3):
            gaps.update(_distances(highest, number))
        tried = {gap for gap, count in gaps.most_common(MOST_PERIODS) if count > 1}
        for distance in self._usual_distances:
            tried |= {distance // n for n in range(1, MOST_PARTS + 1) if distance % n == 0}
        # A step counter that jumps makes distances of any length.
        return sorted(each for each in tried if SHORTEST <= each <= self._num_records)

    def may_be_of_saves(self, period: int) -> bool:
        """Whether what comes at this distance comes about as often as the saves, or less often."""
        return any(2 * period > distance for distance in self._usual_distances)

    def between(self, period: int) -> list[int]:
        """Between saves, by the phase of the comb."""
        hidden = Counter(place % period for place in self._hidden)
        return [
            whole - near - hidden[phase]
            for phase, (whole, near) in enumerate(
                zip(_by_phase(self._whole, period), self.behind(period), strict=True)
            )
        ]

    def behind(self, period: int) -> list[int]:
        """Behind saves, by the phase of the comb."""
        return _by_phase(self._near, period)


def _by_phase(stretches: Sequence[tuple[int, int]], period: int) -> list[int]:
    """How often each phase is in the stretches from a first place to a last one."""
    changes = [0] * (2 * period + 1)
    num_rounds = 0
    for first, last in stretches:
        rounds, rest = divmod(last - first + 1, period)
        num_rounds += rounds
        changes[first % period] += 1
        changes[first % period + rest] -= 1
    each = list(accumulate(changes))
    return [num_rounds + each[phase] + each[period + phase] for phase in range(period)]


def _highest_of_each(slow: Sequence[Slow]) -> set[int]:
    """Steps between saves, and behind each save the slowest: one of many may be of a comb."""
    highest: dict[tuple[int, int], Slow] = {}
    steps = []
    for each in slow:
        if each.stretch is None:
            steps.append(each.step)
            continue
        stretch = id(each.excess), each.stretch
        before = highest.setdefault(stretch, each)
        if each.seconds > before.seconds:
            highest[stretch] = each
    return {*steps, *(each.step for each in highest.values())}


def _distances(places: Sequence[int], number: int) -> Iterator[int]:
    """From each place to the one so many further on."""
    return (b - a for a, b in zip(places, places[number:], strict=False) if b > a)
