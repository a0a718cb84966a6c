"""Periods: a rhythm that is part of the computing, and combs of slow steps without a marker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from instride.explain.chance import at_least

LONGEST_RHYTHM = 64
MOST_RECORDS = 4000
"""A rhythm shows in this many steps or not at all."""
WEAKEST_RHYTHM = 0.015
"""Share of the baseline by which a step of the rhythm must differ."""
FEWEST_BEATS = 6
"""Times that every step of a rhythm must have been seen."""
STEADY = 0.8
"""Share of the beats that must be there."""
TEETH = 0.75
"""Share of the multiples of a period that must be slow to call them a comb."""
MOST_PERIODS = 12
"""Distances that are tried, the most frequent first."""
COINCIDENCE = 0.05
"""Combs that chance alone may make among the slow steps of a process."""


class Rhythm(msgspec.Struct, frozen=True):
    """Steps `offset`, `offset + period`, ... differ from the others, by design of the loop."""

    period: int
    offset: int
    factors: tuple[float, ...]
    """Expected duration over the baseline, by step modulo the period."""

    def factor(self, step: int) -> float:
        return self.factors[step % self.period]


def find_rhythm(steps: Sequence[int], factors: Sequence[float]) -> Rhythm | None:
    """The shortest period that explains the small differences between ordinary steps, if any.

    `factors` are durations over the baseline. A gradient accumulation of 16 makes every 16th
    step slower (the optimizer runs) and often the next one faster (its queue was drained).
    """
    steps, factors = steps[:MOST_RECORDS], factors[:MOST_RECORDS]
    longest = min(LONGEST_RHYTHM, len(steps) // 8)
    rest = [factor - 1.0 for factor in factors]
    if longest < 2:
        return None
    plain = sum(abs(x) for x in _centred(rest))
    noise = 1.4826 * median(abs(x) for x in _centred(rest))
    tries = []
    for period in range(2, longest + 1):
        phases = _fold(steps, rest, period)
        if len(phases) < period or min(map(len, phases.values())) < FEWEST_BEATS:
            continue
        middles = {phase: median(values) for phase, values in phases.items()}
        misfit = sum(abs(x - middles[p]) for p, values in phases.items() for x in values)
        strongest = max(phases, key=lambda phase: abs(middles[phase]))
        error = 1.2533 * noise / len(phases[strongest]) ** 0.5
        is_steady = _agree(phases[strongest], middles[strongest])
        if is_steady and abs(middles[strongest]) > max(WEAKEST_RHYTHM, 6 * error):
            tries.append((1 - misfit / plain if plain else 0.0, period, middles))
    if not tries:
        return None
    best = max(gain for gain, _, _ in tries)
    if best < 0.1:
        return None
    _, period, middles = next(each for each in tries if each[0] >= 0.85 * best)
    offset = max(middles, key=lambda phase: middles[phase])
    return Rhythm(period, offset, tuple(1.0 + middles[phase] for phase in range(period)))


def _agree(values: Sequence[float], middle: float) -> bool:
    """Whether a beat is there nearly every time: stretches of slow steps are no rhythm."""
    half = abs(middle) / 2
    return sum(abs(value - middle) < half for value in values) >= STEADY * len(values)


def _centred(values: Sequence[float]) -> list[float]:
    middle = median(values)
    return [value - middle for value in values]


def _fold(steps: Sequence[int], rest: Sequence[float], period: int) -> dict[int, list[float]]:
    phases: dict[int, list[float]] = {}
    for step, value in zip(steps, rest, strict=True):
        phases.setdefault(step % period, []).append(value)
    return phases


class Comb(msgspec.Struct, frozen=True):
    """Slow steps at equal distances."""

    period: int
    offset: int
    steps: tuple[int, ...]


def find_combs(slow: Sequence[int], first: int, last: int, slack: int = 0) -> list[Comb]:
    """Periods among slow steps between `first` and `last`; a step belongs to one comb at most.

    `slack` is how far a printed step may be from the slow one: a log of every 10th step shows the
    pause of step 2500 at 2500 or at 2510.
    """
    left = list(slow)
    found: list[Comb] = []
    while len(left) >= 3 and len(found) < 6:
        comb = _best_comb(left, first, last, slack)
        if comb is None:
            break
        found.append(comb)
        taken = set(comb.steps)
        left = [step for step in left if step not in taken]
    return found


def _best_comb(slow: list[int], first: int, last: int, slack: int) -> Comb | None:
    gaps: Counter[int] = Counter(b - a for a, b in pairwise(slow))
    for distance in (2, 3):
        gaps.update(b - a for a, b in zip(slow, slow[distance:], strict=False))
    best: Comb | None = None
    for period, count in gaps.most_common(MOST_PERIODS):
        if count < 2 or period <= 2 * slack or period < 2:
            continue
        comb = _comb_of(slow, period, first, last, slack)
        if comb is not None and (best is None or len(comb.steps) > len(best.steps)):
            best = comb
    return best


def _comb_of(slow: list[int], period: int, first: int, last: int, slack: int) -> Comb | None:
    offset = Counter(step % period for step in slow).most_common(1)[0][0]
    teeth = []
    for step in slow:
        away = (step - offset) % period
        if min(away, period - away) <= slack:
            teeth.append(step)
    if len(teeth) < 3:
        return None
    begin, end = teeth[0], teeth[-1]
    expected = (end - begin) // period + 1
    reach = (last - first) // period + 1
    if len(teeth) < TEETH * expected or expected < 0.4 * reach:
        return None
    # Where many steps are slow, some lie at equal distances, of which many can be tried.
    num_steps = last - first + 1
    share = len(slow) / num_steps * (2 * slack + 1)
    chance = at_least(len(teeth), expected, share, num_steps)
    if chance * period * MOST_PERIODS > COINCIDENCE:
        return None
    return Comb(period, offset, tuple(teeth))
