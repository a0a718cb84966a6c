"""All bars of a log, kept until it is known which of them counts the training's steps.

Updates of all families are kept in columns, in the order of the log; an update that only redraws
the bar is not kept, but for its clock.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from instride.steps.clocks import stamp_before
from instride.steps.model import MISSING
from instride.steps.readers.bar_families import Bar, Family
from instride.steps.readers.bars import Clocks, Role, Update, cut, parse, whole
from instride.steps.readers.gaps import Mark

NO_NUMBERS = str.maketrans("", "", "0123456789.,+-e \t")
"""`e` is in `1e-05`; a family's name need not be readable."""
MOST_STEPS = 0xFFFFFFFF
"""What a column can hold."""
MOST_FAMILIES = 2000
NUM_SAMPLES = 4
"""Labels kept of each bar: the first updates may show those of the bar before."""
RANKS_APART_S = 60
"""Bars of several ranks start within this time."""
GONE_AFTER = 200
"""A bar that was not drawn while its family was drawn this often is closed."""


class BarLog:
    """Takes lines and marks; `is_drawn` is False where counts come from a file, never mangled."""

    def __init__(self, is_drawn: bool = True) -> None:
        self.is_drawn = is_drawn
        self.num_kept = 0
        """Updates of all bars."""
        self.stamps = array("d")
        """Timestamps in front of the bars; empty if there are none."""
        self.bars: list[Bar] = []
        self.families: dict[tuple[str, str], Family] = {}
        self.marks: list[Mark] = []
        self.marked_at = array("q")
        """How many updates came before each mark."""
        self.last: Family | None = None
        """The one drawn last."""
        self.clocks = Clocks()
        self.settle: Callable[[], None] = _nothing
        """Takes the updates that somebody holds back, before anything else is taken."""
        self._turns: list[Bar] = []
        """The bars that were drawn by turns."""
        self._turned_at, self._rows = array("q"), array("q")
        """Updates of all bars and those of the family before each turn."""

    def stretches(self) -> Iterator[tuple[Bar, int, int, int]]:
        """Updates of one bar in a row: bar, first, index after the last, row of the first."""
        borders = pairwise([*self._turned_at, self.num_kept])
        for bar, (begin, end), row in zip(self._turns, borders, self._rows, strict=True):
            yield bar, begin, end, row

    def mark(self, mark: Mark) -> None:
        self.settle()
        self.marks.append(mark)
        self.marked_at.append(self.num_kept)

    def feed(self, number: int, line: str) -> int:
        """Take one line; return where the brackets of its bar open, -1 if it has no bar."""
        parts = cut(line)
        if parts is None:
            return -1
        self.settle()
        start, label, n_text, total_text, elapsed_text = parts
        family = self.families.get((label.translate(NO_NUMBERS), total_text))
        if family is None:
            family = self._family(label, total_text, line)
            if family is None:
                return -1
        n = whole(n_text)
        if n is None or n > (family.total if family.total and total_text else MOST_STEPS):
            return -1
        self.last = family
        self.put(family, n, self.clocks[elapsed_text], number, label, line)
        return start

    def put(
        self, family: Family, n: int, elapsed_s: int, number: int, label: str = "", line: str = ""
    ) -> None:
        """Take one update of a bar of this family."""
        family.num_drawn += 1
        bar = family.bar
        if (
            bar is None
            or elapsed_s < bar.elapsed_s
            or n < bar.n
            or (n > bar.n and (n - bar.n > family.leap or len(family.open) > 1))
        ):
            bar = self._find(family, n, elapsed_s, label)
            if bar is None:
                return
        family.bar = bar
        bar.drawn = family.num_drawn
        if family.has_labels and len(bar.labels) < NUM_SAMPLES:
            bar.labels += ((n, label),)
        bar.before_s = bar.elapsed_s
        bar.elapsed_s = max(elapsed_s, bar.elapsed_s)
        stamp = stamp_before(line, len(label)) if family.is_stamped else None
        if n > bar.n:
            self._keep(bar, n, number, stamp)
        else:
            bar.closing_line, bar.closing_wall = number, stamp
        bar.seen = self.num_kept

    def _keep(self, bar: Bar, n: int, number: int, stamp: float | None) -> None:
        if bar.n >= 0:
            bar.gain = n - bar.n
        bar.n, bar.closing_line = n, 0
        if stamp is not None and not self.stamps:
            self.stamps.extend([MISSING] * self.num_kept)
        if stamp is not None or self.stamps:
            self.stamps.append(MISSING if stamp is None else stamp)
            bar.num_stamped += stamp is not None
        self._turn_to(bar)
        family = bar.family
        family.counts.append(n)
        family.clocks.append(bar.elapsed_s)
        family.lines.append(number)
        self._was_kept(bar, 1, bar.elapsed_s)

    def keep_all(
        self, bar: Bar, n: Sequence[int], elapsed_s: Sequence[int], lines: Sequence[int]
    ) -> None:
        """Keep updates by which a bar goes on, one after the other; none of them has a stamp."""
        bar.gain = n[-1] - (n[-2] if len(n) > 1 else bar.n)
        bar.n, bar.closing_line = n[-1], 0
        if self.stamps:
            self.stamps.extend([MISSING] * len(n))
        self._turn_to(bar)
        family = bar.family
        family.counts.extend(n)
        family.clocks.extend(elapsed_s)
        family.lines.extend(lines)
        self._was_kept(bar, len(n), elapsed_s[-1])

    def _was_kept(self, bar: Bar, num_updates: int, kept_s: int) -> None:
        self.num_kept += num_updates
        bar.num_kept += num_updates
        bar.last, bar.row = self.num_kept - 1, len(bar.family.counts) - 1
        bar.kept_s = kept_s

    def _turn_to(self, bar: Bar) -> None:
        if not self._turns or self._turns[-1] is not bar:
            self._turns.append(bar)
            self._turned_at.append(self.num_kept)
            self._rows.append(len(bar.family.counts))

    def _find(self, family: Family, n: int, elapsed_s: int, label: str) -> Bar | None:
        """The bar of the family that this update belongs to; a new one; None if it is mangled."""
        if len(family.open) > 1:
            oldest = family.num_drawn - GONE_AFTER
            family.open = [b for b in family.open if b.drawn > oldest or b is family.bar]
        fitting = [b for b in family.open if n >= b.n and elapsed_s >= b.elapsed_s]
        if fitting:
            near = [b for b in fitting if 0 < n - b.n <= max(2, 2 * b.gain) and not b.is_over]
            if near:
                return min(near, key=lambda b: (elapsed_s - b.elapsed_s, b is not family.bar))
            bar = min(fitting, key=lambda b: (n - b.n, elapsed_s - b.elapsed_s))
            return bar if n - bar.n <= family.leap or _agrees(label, n, family) else None
        last = family.bar
        if last is not None and self.is_drawn:
            if n >= last.n and n - last.n <= max(2, 2 * last.gain):
                if last.elapsed_s - elapsed_s <= RANKS_APART_S:
                    return last
                if elapsed_s >= last.before_s:
                    self._correct(last)
                    return last
            if n < last.n and elapsed_s >= last.elapsed_s > 0:
                return None
        bar = Bar(len(self.bars), family, self.num_kept)
        bar.is_new = elapsed_s == 0
        self.bars.append(bar)
        family.bars.append(bar)
        family.open.append(bar)
        return bar

    def _correct(self, bar: Bar) -> None:
        """The clock has not gone back: its last reading was a mangled one."""
        if bar.kept_s == bar.elapsed_s:
            bar.kept_s = bar.family.clocks[bar.row] = bar.before_s
        bar.elapsed_s = bar.before_s

    def _family(self, label: str, total_text: str, line: str) -> Family | None:
        """The family of a label that was not seen before, whatever its numbers."""
        name = label.translate(NO_NUMBERS)
        family = self.families.get((name.replace("nan", "").replace("inf", ""), total_text))
        update = parse(line)
        if update is None or len(self.families) >= MOST_FAMILIES:
            return None
        family = family or self._renamed(update) or self._overrun(update)
        if family is None:
            family = Family(update.description, update.total, update.role)
            family.is_stamped = stamp_before(line, len(label)) is not None
            family.has_labels = False
        family.has_labels = family.has_labels or bool(name)
        self.families[name, total_text] = family
        return family

    def _renamed(self, update: Update) -> Family | None:
        """The family drawn last, if this is its bar with a new description and nothing else new."""
        family = self.last
        if family is None or family.bar is None or family.total is None:
            return None
        bar = family.bar
        if update.total != family.total or update.n != bar.n or update.elapsed_s < bar.elapsed_s:
            return None
        if update.n == 0 and update.elapsed_s == 0:
            return None  # The first drawing of another bar looks the same.
        if update.role is not Role.OTHER:
            family.role, family.description = update.role, update.description
        return family

    def _overrun(self, update: Update) -> Family | None:
        """The family drawn last, if this is its bar beyond its total, which is not shown then."""
        family = self.last
        if update.total is not None or family is None or family.total is None:
            return None
        bar = family.bar
        if bar is None or bar.n < family.total or update.elapsed_s < bar.elapsed_s:
            return None
        is_next = 0 < update.n - bar.n <= max(2, 2 * bar.gain)
        names = {each.translate(NO_NUMBERS) for each in (update.description, family.description)}
        return family if is_next and len(names) == 1 else None


def _nothing() -> None:
    return


def _agrees(label: str, n: int, family: Family) -> bool:
    """Whether the percents in front of a bar are those of its count."""
    percents = label[-3:].strip()
    if not family.total or not percents.isdigit():
        return True
    return abs(100 * n / family.total - int(percents)) <= 1
