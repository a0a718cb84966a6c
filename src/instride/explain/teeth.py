"""Teeth behind saves: slow steps of a comb that goes on where nothing is saved.

A loop that evaluates every 50 steps and saves every 100 has a slow step behind each save. It would
be blamed on the save, were it not for those half-way to the next one: at the same distances, and
just as slow. What such a comb explains is kept from whoever looks at the steps after saves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from statistics import mean, median

import msgspec

from instride.explain.chance import SURE, at_least
from instride.explain.combs import FAR_LONGER
from instride.explain.excess import SLOW, Excess
from instride.explain.rhythm import TEETH
from instride.explain.stretches import Behind, Places, Slow, slow_in

MOST_SLOW = 20_000
MOST_COMBS = 6
FEWEST_TEETH = 3
ALIKE = 0.25
"""Share by which a tooth may be shorter than usual, however little they spread."""
STEADIEST = 0.05
"""Share by which teeth spread at least: a few that happen to be equal know no better."""
DEVIATIONS = 3.0
"""From which teeth are clearly slower than others."""


class Held(msgspec.Struct):
    """What combs explain, and nobody else may take meanwhile."""

    parts: list[tuple[Excess, int, float]] = []
    is_doubtful: bool = False
    """There are too few places between the saves to tell a comb from a coincidence."""

    def hold(self, slow: Slow, seconds: float) -> None:
        taken = slow.excess.take(slow.index, seconds)
        self.parts.append((slow.excess, slow.index, taken))

    def give_back(self) -> None:
        for excess, index, seconds in self.parts:
            excess.left[index] = excess.left.get(index, 0.0) + seconds


class _Comb(msgspec.Struct):
    period: int
    """In places."""
    between: list[Slow]
    behind: list[Slow]
    usual_s: float
    """What a tooth between saves takes."""
    least_s: float
    """What is shorter is no tooth of this comb."""
    most_s: float
    """What a single tooth may take; the rest has another reason."""
    is_slower_behind: bool
    """Whether teeth behind saves are clearly slower than the others, as a rule."""
    chance: float = 1.0
    """How likely so many steps between saves are as slow at places that are as good as any."""

    @property
    def teeth(self) -> list[Slow]:
        return [*self.between, *self.behind]

    def num_alike(self, slow: Iterable[Slow]) -> int:
        return sum(each.seconds >= self.least_s for each in slow)

    def seconds_of(self, tooth: Slow) -> float:
        """What the comb explains of a tooth."""
        is_like_others = not (self.is_slower_behind and tooth.is_behind)
        if is_like_others and tooth.seconds <= self.most_s:
            return tooth.seconds
        return min(tooth.seconds, self.usual_s)


def hold_teeth(behinds: Sequence[Behind]) -> Held:
    """Hold what combs explain of the slow steps behind saves; the teeth are known from then on."""
    behinds = [behind for behind in behinds if len(behind.excess.left) <= MOST_SLOW]
    held, places = Held(), Places(behinds)
    slow = [each for behind in behinds for each in slow_in(behind)]
    slow = _without_rhythm(places, slow, held)
    for _ in range(MOST_COMBS):
        combs = list(_combs(places, slow))
        sure = [comb for comb in combs if comb.chance < SURE]
        if not sure:
            held.is_doubtful = any(_explains_most(comb, slow) for comb in combs)
            break
        best = max(sure, key=lambda comb: (len(comb.between), len(comb.behind)))
        for tooth in best.teeth:
            held.hold(tooth, best.seconds_of(tooth))
            tooth.excess.teeth[tooth.index] = best.period * places.stride
        teeth = {id(tooth) for tooth in best.teeth}
        slow = [each for each in slow if id(each) not in teeth]
    return held


def _without_rhythm(places: Places, slow: Iterable[Slow], held: Held) -> list[Slow]:
    """Hold what is slow by the rhythm of the loop, unless the saves may have made that."""
    rest = []
    for each in slow:
        rhythm, beat_s = each.excess.rhythm, each.beat_s
        is_slow = beat_s > SLOW * each.usual_s
        if rhythm is None or not is_slow or places.may_be_of_saves(rhythm.period):
            rest.append(each)
        else:
            held.hold(each, each.seconds if each.seconds <= FAR_LONGER * beat_s else beat_s)
    return rest


def _explains_most(comb: _Comb, slow: Iterable[Slow]) -> bool:
    """Whether hardly anything would be left behind the saves."""
    behind_s = sum(each.seconds for each in slow if each.is_behind)
    return sum(map(comb.seconds_of, comb.behind)) >= 0.5 * behind_s


def _combs(places: Places, slow: Sequence[Slow]) -> Iterator[_Comb]:
    """Combs that have teeth behind saves, and between them nearly everywhere."""
    between = [each for each in slow if not each.is_behind]
    behind = [each for each in slow if each.is_behind]
    if not between or not behind:
        return
    heights = sorted(each.seconds for each in between)
    periods = places.periods(slow)
    num_tries = sum(len(_by_phase(places, behind, period)) for period in periods)
    for period in periods:
        others = _by_phase(places, between, period)
        num_places, num_near = places.between(period), places.behind(period)
        for phase, teeth in _by_phase(places, behind, period).items():
            if phase not in others:
                continue
            comb = _comb_of(period, others[phase], teeth)
            expected = num_places[phase]
            num_between, num_behind = comb.num_alike(others[phase]), comb.num_alike(teeth)
            if num_between < TEETH * expected or num_behind < max(1, TEETH * num_near[phase]):
                continue
            if num_between + num_behind >= FEWEST_TEETH:
                num_slow = len(heights) - bisect_left(heights, comb.least_s)
                chance = _chance(num_between, expected, num_slow, places.num_between)
                comb.chance = num_tries * chance
                yield comb


def _by_phase(places: Places, slow: Iterable[Slow], period: int) -> dict[int, list[Slow]]:
    found: dict[int, list[Slow]] = {}
    for each in slow:
        found.setdefault(places.of(each.step) % period, []).append(each)
    return found


def _comb_of(period: int, between: list[Slow], behind: list[Slow]) -> _Comb:
    usual_s = median(each.seconds for each in between)
    noise_s = max(
        1.2533 * mean(min(usual_s, abs(each.seconds - usual_s)) for each in between),
        median(each.spread_s for each in between),
        STEADIEST * usual_s,
    )
    slow_s = SLOW * median(each.usual_s for each in behind)
    error_s = 1.2533 * noise_s * sqrt(1 / len(between) + 1 / len(behind))
    beyond_s = median(each.seconds for each in behind) - usual_s
    return _Comb(
        period,
        between,
        behind,
        usual_s,
        least_s=usual_s - min(0.75 * usual_s, max(DEVIATIONS * noise_s, ALIKE * usual_s)),
        most_s=max(FAR_LONGER * usual_s, usual_s + DEVIATIONS * noise_s),
        is_slower_behind=beyond_s > max(DEVIATIONS * error_s, slow_s),
    )


def _chance(num_teeth: int, expected: int, num_slow: int, num_between: int) -> float:
    """How likely so many places are as slow, by how many others between saves are."""
    expected = max(num_teeth, expected)
    num_others = max(0, num_between - expected)
    share = (num_slow - num_teeth + 1) / (num_others + 1)
    return at_least(num_teeth, expected, share, num_others)
