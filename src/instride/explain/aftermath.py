"""Aftermath: steps slowed down by what goes on after a save, until the speed comes back.

The steps after a save are compared with those before it, not with the whole run; what is found
there with what the same look finds where nothing was saved. A comb that goes on there is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from random import Random
from statistics import median

import msgspec

from instride.explain.baseline import Regime, regime_at
from instride.explain.chance import SURE, Elsewhere, weigh
from instride.explain.excess import SLOW, Excess
from instride.explain.pauses import OWNER_OF
from instride.explain.spans import Owner, Span, Told
from instride.explain.stretches import Behind, behind_saves
from instride.explain.teeth import hold_teeth

QUIET = 3
"""Ordinary records in a row that end an aftermath; what works on the file may start late."""
FAINT = 0.06
"""Share beyond the baseline that counts once a slow-down after saves is established."""
CONSISTENT = 0.8
"""Share of the saves after which steps must be slower, for a slow-down under 15 %."""
WINDOW = 10
"""Records before and after a save that are compared."""
STRONG = 1.5
"""A plateau of this factor after a save needs no second one to be believed."""
MOST_PLACES = 4000
"""Places without a save that are looked at in a regime; a run may have millions."""


class Look(msgspec.Struct, frozen=True):
    """What there is after one save."""

    save: int
    """The record whose interval holds it."""
    plateau: list[int]
    """Slow records; none if there is nothing."""
    cost: float
    """Of the plateau, in ordinary steps."""
    goes_on: bool
    """Whether the plateau of the save before had not ended: this one tells nothing by itself."""


def aftermaths(excesses: Sequence[Excess]) -> list[Span]:
    """Spans for the plateaus after the saves of all processes."""
    work = [_Aftermath(excess) for excess in excesses if not excess.is_smeared]
    if not any(look.plateau for each in work for look in each.looks):
        return []
    held = hold_teeth([each.behind() for each in work])
    for each in work if held.parts else ():
        each.looks = each.look_after_saves()
    verdict = weigh([trial for each in work for trial in each.trials()])
    chance = max(verdict.chance, SURE) if held.is_doubtful else verdict.chance
    spans = [
        each.span(look.plateau, chance) for each in work for look in each.believed(verdict.least)
    ]
    held.give_back()
    return spans


class _Aftermath:
    """The steps after the saves of one process."""

    def __init__(self, excess: Excess) -> None:
        self.excess, self.timeline, self.process = excess, excess.timeline, excess.process
        self.events = excess.timeline.events_at
        self.saves = self._save_records()
        self.is_stated = all(
            event.seconds
            for save in self.saves
            for event in self.events[save]
            if OWNER_OF[event.kind] is Owner.SAVE
        )
        """Whether the log says of each save how long training waited for it: then the rest of its
        record is a step after it, and a single slow one is no rest of the save."""
        self.share = FAINT if self._is_consistently_slower() else SLOW
        self.looks = self.look_after_saves()

    def trials(self) -> Iterator[tuple[float, Elsewhere]]:
        """What there is after each save, and elsewhere in its regime."""
        elsewhere: dict[int, Elsewhere] = {}
        for look in self.looks:
            regime = regime_at(self.excess.regimes, look.save)
            if regime.begin not in elsewhere:
                elsewhere[regime.begin] = Elsewhere(self._look_elsewhere(regime))
            if not look.goes_on:
                yield look.cost, elsewhere[regime.begin]

    def believed(self, least: float) -> Iterator[Look]:
        """Looks at plateaus that cost as much, and those that go on with one of them."""
        num_found = sum(bool(look.plateau) for look in self.looks)
        is_usual = num_found >= 0.5 * len(self.looks)
        was_believed = False
        for look in self.looks:
            if not look.plateau:
                was_believed = False
                continue
            is_clear = is_usual or self._factor(look.plateau) >= STRONG
            is_enough = was_believed if look.goes_on else look.cost >= least
            was_believed = is_clear and is_enough
            if was_believed:
                yield look

    def _save_records(self) -> list[int]:
        """Records whose interval holds a save; that of the next record, if there is one."""
        return [
            at
            for at in self.timeline.marked_between(self.process.begin, self.process.end)
            if self._is_save(at)
        ]

    def _is_save(self, index: int) -> bool:
        return any(OWNER_OF[event.kind] is Owner.SAVE for event in self.events[index])

    def _is_consistently_slower(self) -> bool:
        """Whether steps after saves are slower than those before, save by save (a paired test)."""
        process, timeline = self.process, self.timeline
        ratios = []
        for save in self.saves:
            before = range(max(process.begin, save - WINDOW), save)
            after = range(save + 1, min(process.end, save + 1 + WINDOW))
            if len(before) < 3 or len(after) < 3:
                continue
            ratios.append(
                median(timeline.value(i, process) for i in after)
                / max(1e-12, median(timeline.value(i, process) for i in before))
            )
        slower = sum(ratio > 1.1 for ratio in ratios)
        return len(ratios) >= 3 and slower >= CONSISTENT * len(ratios)

    def behind(self) -> Behind:
        """The records that a save can have slowed down."""
        begins = [self._first(look.save) for look in self.looks]
        lasts = [look.plateau[-1] if look.plateau else look.save for look in self.looks]
        return behind_saves(self.excess, begins, lasts, QUIET)

    def _first(self, save: int) -> int:
        """The first record whose time can be that of steps after a save."""
        return save if self.is_stated else save + 1

    def look_after_saves(self) -> list[Look]:
        looks: list[Look] = []
        for save in self.saves:
            goes_on = bool(looks and looks[-1].plateau and save <= looks[-1].plateau[-1] + QUIET)
            plateau = self._plateau(self._first(save))
            if not goes_on and self._is_slow_before(save):
                plateau = []
            looks.append(Look(save, plateau, self._cost(plateau), goes_on))
        return looks

    def _look_elsewhere(self, regime: Regime) -> list[float]:
        """What the same look finds in a regime at places where nothing was saved."""
        # Looks that overlap would see one slow stretch several times, and seem to know more.
        places = range(regime.begin + 1, regime.end, QUIET)
        # At random, so that no distance of saves can fall together with that of the places.
        is_short = len(places) <= MOST_PLACES
        chosen = places if is_short else Random(0).sample(places, MOST_PLACES)
        costs = []
        for place in chosen:
            if place not in self.events and not self._is_near_a_save(place):
                is_new = not self._is_slow_before(place)
                plateau = self._plateau(place) if is_new else []
                costs.append(self._cost(plateau))
        return sorted(costs)

    def _is_near_a_save(self, place: int) -> bool:
        """Whether the look from a record on sees what begins after a save, or begins before it.

        It goes by distance alone. To leave out what was found after the saves would take the slow
        stretches away that chance has put there, and make chance smaller than it is.
        """
        following = bisect_left(self.saves, place - QUIET)
        return following < len(self.saves) and self.saves[following] < place + QUIET

    def _is_slow_before(self, place: int) -> bool:
        """Whether steps were slow already: then what goes on is not due to what comes here."""
        before = range(max(self.process.begin, place - QUIET), place)
        ordinary = [index for index in before if index not in self.events]
        slow = sum(self.excess.is_slow(index, self.share) for index in ordinary)
        return slow > 0.5 * len(ordinary)

    def _plateau(self, first: int) -> list[int]:
        """Slow records from one on, up to the next save, without a longer interruption."""
        found: list[int] = []
        quiet = 0
        for index in range(first, self.process.end):
            if index in self.events and index > first:
                if self._is_save(index):
                    break
                continue
            if self.excess.is_slow(index, self.share):
                found.append(index)
                quiet = 0
            else:
                quiet += 1
                if quiet == QUIET:
                    break
        return found if len(found) >= self._shortest(first, found) else []

    def _shortest(self, first: int, found: list[int]) -> int:
        """Slow records that make a plateau: one will do if it is no rest of the save."""
        is_next = found[:1] in ([first], [first + 1])
        if self.is_stated and is_next:
            return 1
        return 3 if self.process.stride == 1 else 2

    def _cost(self, plateau: list[int]) -> float:
        return sum(self.excess.rest(index) / self.excess.base_s(index) for index in plateau)

    def _factor(self, plateau: list[int]) -> float:
        return median(self.excess.factor_of_rest(index) for index in plateau)

    def span(self, plateau: list[int], chance: float) -> Span:
        excess, timeline, process = self.excess, self.timeline, self.process
        factor = self._factor(plateau)
        extra_s = unseen_s = 0.0
        for index in range(plateau[0], plateau[-1] + 1):
            if index in self.events and index != plateau[0]:
                continue
            beyond = excess.rest(index)
            if beyond < -excess.base_s(index):
                continue  # A jump of the step counter, not a fast step.
            extra_s += beyond
            between = timeline.num_steps(index, process) - timeline.timed_steps(index, process)
            unseen_s += beyond * between
            excess.left.pop(index, None)
        first = plateau[0]
        covered = timeline.timed_steps(first, process)
        middle = plateau[len(plateau) // 2]
        line = timeline.run.line
        return Span(
            owner=Owner.AFTERMATH,
            first_step=timeline.run.step[first] - covered + 1,
            last_step=timeline.run.step[plateau[-1]],
            extra_s=extra_s,
            factor=factor,
            told=Told.MARKER,
            begin=first,
            end=plateau[-1] + 1,
            lines=sorted({line[first], line[middle], line[plateau[-1]]}),
            unseen_s=unseen_s,
            chance=chance,
        )
