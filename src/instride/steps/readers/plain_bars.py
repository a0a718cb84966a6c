"""Drawings of bars that look alike, held back until something else happens, then taken at once.

A bar that is drawn at every step makes up nearly all of its log. It comes to the same as feeding
the drawings one by one: where a stretch is anything but one known bar that goes on, it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, compress, islice
from operator import gt, le, sub

from instride.steps.readers.bar_families import Bar, Family
from instride.steps.readers.barlog import NO_NUMBERS, NUM_SAMPLES, BarLog

FEW = 16
"""Drawings that are fed one by one rather than looked at in parts."""


class PlainBars:
    def __init__(self, bars: BarLog, feed: Callable[[int, str], None]) -> None:
        """`feed` takes the number of a line and a drawing."""
        self.bars, self.feed = bars, feed
        self._lines: list[int] = []
        self._fields: Sequence[list[str]] = ()
        """Drawings, labels, counts, totals and clocks; of those held back, and others."""
        self._begin = 0
        bars.settle = self.settle

    def add(self, lines: Sequence[int], fields: Sequence[list[str]], begin: int) -> None:
        """Hold back drawings that follow those held back already; `begin` is the first one."""
        if not self._lines:
            self._fields, self._begin = fields, begin
        self._lines += lines

    def settle(self) -> None:
        """Take what was held back."""
        if self._lines:
            lines, self._lines = self._lines, []
            drawn = slice(self._begin, self._begin + len(lines))
            self._take(lines, [column[drawn] for column in self._fields])

    def _take(self, lines: list[int], fields: list[list[str]]) -> None:
        drawings, labels, counts, totals, clocks = fields
        family = self._family(labels, totals)
        if family is not None and family.bar is not None:
            n, elapsed_s = list(map(int, counts)), list(map(self.bars.clocks.__getitem__, clocks))
            if _goes_on(family.bar, n, elapsed_s):
                self._go_on(family.bar, n, elapsed_s, lines)
                return
        if len(lines) <= FEW:
            for line, drawing in zip(lines, drawings, strict=True):
                self.feed(line, drawing)
            return
        half = len(lines) // 2
        self._take(lines[:half], [column[:half] for column in fields])
        self._take(lines[half:], [column[half:] for column in fields])

    def _family(self, labels: list[str], totals: list[str]) -> Family | None:
        """The family that all of them belong to, if it is known, and has one bar that is open."""
        names = {label.translate(NO_NUMBERS) for label in set(labels)}
        if len(names) > 1 or totals.count(totals[0]) < len(totals):
            return None
        family = self.bars.families.get((names.pop(), totals[0]))
        if family is None or family.is_stamped or len(family.open) > 1:
            return None
        return family

    def _go_on(self, bar: Bar, n: list[int], elapsed_s: list[int], lines: list[int]) -> None:
        bars, family = self.bars, bar.family
        bars.last = family
        family.num_drawn += len(n)
        bar.drawn = family.num_drawn
        bar.before_s = elapsed_s[-2] if len(n) > 1 else bar.elapsed_s
        bar.elapsed_s = elapsed_s[-1]
        is_step = list(map(gt, n, chain((bar.n,), n)))
        is_redrawn = not is_step[-1]
        if all(is_step):
            bars.keep_all(bar, n, elapsed_s, lines)
        elif any(is_step):
            columns = (list(compress(each, is_step)) for each in (n, elapsed_s, lines))
            bars.keep_all(bar, *columns)
        if is_redrawn:
            bar.closing_line, bar.closing_wall = lines[-1], None
        bar.seen = bars.num_kept


def _goes_on(bar: Bar, n: list[int], elapsed_s: list[int]) -> bool:
    """Whether these drawings come one after the other, and after the last one of the bar."""
    total = bar.family.total
    if bar.family.has_labels and len(bar.labels) < NUM_SAMPLES:
        return False
    if n[0] < bar.n or elapsed_s[0] < bar.elapsed_s:
        return False
    if total and n[-1] > total:
        return False
    return (
        all(map(le, n, islice(n, 1, None)))
        and all(map(le, elapsed_s, islice(elapsed_s, 1, None)))
        and max(map(sub, n, chain((bar.n,), n))) <= bar.family.leap
    )
