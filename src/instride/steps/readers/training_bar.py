"""The bar that counts the training's steps, as records in the order of the log."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from math import isnan

from instride.steps.model import EventKind
from instride.steps.readers.bar_families import Bar, Family
from instride.steps.readers.barlog import BarLog
from instride.steps.readers.bars import Role
from instride.steps.readers.gaps import Mark, emit
from instride.steps.recording import MANY, Recording

MOSTLY = 0.9
"""Share of a bar's updates with timestamps from which on they are the clock."""
NESTED = {
    Role.EVALUATION: (EventKind.EVAL, True),
    Role.SAVING: (EventKind.SAVE, True),
    Role.OTHER: (EventKind.EVAL, False),
}
"""What a bar inside the training's stands for, and whether it says so itself."""
WHOLE = 1 << 24
"""Whole numbers below are exact in a float of four bytes."""
PART_OF_A_STEP = 4
"""A bar without a name that comes more often than every so many steps is part of each step."""


class Replay:
    """Writes the bars of one family into the recording, as records with the bar's clock.

    A rank that draws the same bar is left out. A bar that starts anew after the one before had
    reached its end is the next epoch; otherwise a process was started anew.
    """

    def __init__(
        self,
        log: Recording,
        bars: BarLog,
        family: Family,
        steps_before: Callable[[Bar], int | None] | None,
        nested_is_evaluation: bool = False,
    ) -> None:
        """`steps_before` tells how many steps came before a bar, or None if its labels do not;
        it is None itself where the trainer has one bar for all epochs.
        """
        self.log, self.bars, self.family = log, bars, family
        self.steps_before = steps_before
        self.nested_is_evaluation = nested_is_evaluation
        self.lineage = _lineage(family.bars)
        self.num_kept = family.num_kept
        self.has_stamps = _are_stamped(self.lineage)
        self.main: Bar | None = None
        self.offset_steps = 0
        self.offset_s = 0
        self.num_epochs = 0
        self.marks: list[Mark] = []
        self._ahead = 0
        """How far rows of the family are from places among the updates of all bars."""
        self._following = 0
        """How many marks of the log were taken."""
        self.between: list[Bar] = []
        """Other bars since the training's bar was first drawn."""

    def run(self) -> None:
        bars, lineage = self.bars, set(self.lineage)
        self._choose_width()
        for bar, begin, end, row in bars.stretches():
            self._take_marks(begin)
            self._ahead = row - begin
            if bar not in lineage:
                if bar.birth == begin:
                    self._other(bar, bar.family.lines[row])
                self._take_marks(end - 1)
                continue
            if bar is not self.main:
                self._begin(bar, begin)
                begin += 1
            while begin < end:
                self._take_marks(begin)
                until = min(end, self._next_mark())
                self._records(begin, until)
                begin = until
            for column in (self.family.counts, self.family.clocks, self.family.lines):
                # The log may be as long as the memory that is left.
                column.forget(end + self._ahead)
        self._take_marks(bars.num_kept)
        self._close()
        emit(self.log, self.marks)
        run = self.log.run
        run.num_duplicates += self.num_kept - sum(bar.num_kept for bar in self.lineage)
        run.clock_is_absolute = self.has_stamps
        if self.has_stamps:
            whole = all(isnan(stamp) or stamp == int(stamp) for stamp in bars.stamps[:1000])
            run.clock_resolution_s = 1.0 if whole else 0.0

    def _choose_width(self) -> None:
        """Whole seconds of a very long log need no more than four bytes."""
        longest_s = sum(bar.elapsed_s for bar in self.bars.bars)
        if self.num_kept >= MANY and not self.has_stamps and longest_s < WHOLE:
            self.log.run.wall = array("f")

    def _take_marks(self, position: int) -> None:
        """Take the marks before the update at this place."""
        first = self._following
        self._following = bisect_right(self.bars.marked_at, position, first)
        self.marks += self.bars.marks[first : self._following]

    def _next_mark(self) -> int:
        bars, following = self.bars, self._following
        return bars.marked_at[following] if following < len(bars.marked_at) else bars.num_kept

    def _records(self, begin: int, end: int) -> None:
        if self.marks:
            # The same bar goes on, so a launch that was announced was not of this process.
            emit(self.log, [mark for mark in self.marks if mark.kind is not EventKind.START])
            self.marks = []
        rows = slice(begin + self._ahead, end + self._ahead)
        steps = _shifted(self.family.counts[rows], self.offset_steps)
        lines = self.family.lines[rows]
        if self.has_stamps:
            for step, line, stamp in zip(steps, lines, self.bars.stamps[begin:end], strict=True):
                self.log.step(step, line, wall=stamp)
        else:
            walls = _shifted(self.family.clocks[rows], self.offset_s)
            self.log.steps(steps, lines, wall=walls)

    def _wall(self, position: int) -> float:
        if self.has_stamps:
            return self.bars.stamps[position]
        return float(self.family.clocks[position + self._ahead] + self.offset_s)

    def _begin(self, bar: Bar, position: int) -> None:
        """Go on with the next bar of the lineage, whose first update this is."""
        row = position + self._ahead
        line = self.family.lines[row]
        if self.main is None:
            self.offset_steps = (self.steps_before and self.steps_before(bar)) or 0
        else:
            self._close()
            self._follow(self.main, bar, line)
        emit(self.log, self.marks)
        self.marks, self.between = [], []
        is_first, self.main = self.main is None, bar
        if self.family.clocks[row] > 0 or self.family.counts[row] == 1:
            self._records(position, position + 1)
        elif is_first:
            # What a bar shows when it is created is where it starts, no step.
            self.log.clock(self._wall(position), line)

    def _follow(self, before: Bar, bar: Bar, line: int) -> None:
        """Epoch or restart: where the steps and the clock go on."""
        told = self.steps_before(bar) if self.steps_before else None
        is_launched = any(mark.kind is EventKind.START for mark in self.marks)
        if self.steps_before is None or is_launched:
            is_epoch = False
        elif told is not None:
            is_epoch = told > self.offset_steps
        else:
            is_epoch = before.is_at_end
        if not is_epoch:
            self.offset_steps, self.offset_s = told or 0, 0
            if not is_launched:
                self.marks.append(Mark(EventKind.START, line))
            return
        self.num_epochs += 1
        self.offset_steps = self.offset_steps + before.n if told is None else told
        self.offset_s += before.elapsed_s + self._uncovered_s(before, line)
        self.marks.append(Mark(EventKind.EPOCH, line))

    def _uncovered_s(self, before: Bar, line: int) -> int:
        """Time of other bars between two epochs, which neither epoch's clock has seen."""
        uncovered = []
        for family in dict.fromkeys(bar.family for bar in self.between):
            since = [bar for bar in self.between if bar.family is family]
            uncovered += _lineage([bar for bar in since if bar.birth >= before.seen])
        for bar in uncovered:
            kind, sure = self._stands_for(bar.family)
            if kind is not None:
                name = str(bar.number)
                self.marks.append(Mark(kind, line, float(bar.elapsed_s), name, sure))
        return sum(bar.elapsed_s for bar in uncovered)

    def _other(self, bar: Bar, line: int) -> None:
        if bar.family is self.family or self.main is None:
            return
        self.between.append(bar)
        kind, sure = self._stands_for(bar.family)
        if kind is not None:
            self.marks.append(Mark(kind, line, sure=sure))

    def _stands_for(self, family: Family) -> tuple[EventKind | None, bool]:
        if family.role is Role.OTHER:
            if self.nested_is_evaluation and not family.description:
                return EventKind.EVAL, True
            if PART_OF_A_STEP * len(family.bars) > self.num_kept:
                return None, False
        return NESTED.get(family.role, (None, False))

    def _close(self) -> None:
        """The last drawing of a bar tells how long it lived after its last step."""
        bar = self.main
        if bar is None or not bar.closing_line or bar.last == bar.birth:
            return
        if self.has_stamps:
            self.log.clock(bar.closing_wall, bar.closing_line)
        elif bar.elapsed_s > bar.kept_s:
            self.log.clock(float(bar.elapsed_s + self.offset_s), bar.closing_line)


def _lineage(bars: list[Bar]) -> list[Bar]:
    """The bars that follow one another; those that run beside one are of other ranks."""
    lineage = bars[:1]
    for bar in bars[1:]:
        if lineage[-1].last < bar.birth:
            lineage.append(bar)
    return lineage


def _shifted(numbers: list[int], offset: int) -> list[int]:
    return [number + offset for number in numbers] if offset else numbers


def _are_stamped(lineage: list[Bar]) -> bool:
    stamped = sum(bar.num_stamped for bar in lineage)
    return stamped >= MOSTLY * max(1, sum(bar.num_kept for bar in lineage))
