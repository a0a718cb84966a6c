"""All bars of a log, kept until it is known which of them counts the training's steps.

Bars with the same description (but for its numbers) and total are a family: the bars of the epochs,
of the ranks, of the processes. Updates of all families are kept in columns, in the order of the
log; an update that only redraws the bar is not kept, but for its clock.
"""

from __future__ import annotations

from array import array

from instride.steps.clocks import stamp_before
from instride.steps.model import MISSING
from instride.steps.readers.bars import Role, Update, cut, parse, seconds, whole
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


class Bar:
    """One bar, from its first drawing to its last."""

    def __init__(self, number: int, family: Family, birth: int) -> None:
        self.number = number
        self.family = family
        self.birth = self.last = self.seen = birth
        """Places in the columns: of its first and last update, and of its last drawing."""
        self.n = -1
        self.elapsed_s = self.before_s = 0
        """Clock of the last drawing and of the one before."""
        self.gain = 1
        self.drawn = self.first_drawn = family.num_drawn
        self.is_new = False
        """Whether it was seen at its creation."""
        self.num_kept = self.num_stamped = 0
        self.labels: list[tuple[int, str]] = []
        """n and label of its first drawings."""
        self.closing_line = 0
        """Of its last drawing, if that came after its last step."""
        self.closing_wall: float | None = None

    @property
    def is_at_end(self) -> bool:
        total = self.family.total
        return total is not None and total - self.n <= self.gain

    @property
    def is_over(self) -> bool:
        """Not drawn any more since another one was created; it may be once, when it is closed.

        A rank that lags behind is no other bar that was created: its clock is not at zero.
        """
        youngest = self.family.open[-1]
        if not youngest.is_new or self.family.num_drawn - youngest.first_drawn < 2:
            return False
        return self.drawn < youngest.first_drawn


class Family:
    """Bars with the same description and total."""

    def __init__(self, description: str, total: int | None, role: Role) -> None:
        self.description = description
        self.total = total
        self.role = role
        self.bars: list[Bar] = []
        self.open: list[Bar] = []
        """Those that may still be drawn; the one drawn last is `bar`."""
        self.bar: Bar | None = None
        self.num_drawn = 0
        self.leap = max(10, total // 50) if total else 1 << 40
        """Steps at once from which on a count is checked against the percents."""
        self.is_stamped = False

    @property
    def num_kept(self) -> int:
        return sum(bar.num_kept for bar in self.bars)

    @property
    def elapsed_s(self) -> int:
        return sum(bar.elapsed_s for bar in self.bars)


class BarLog:
    """Takes lines and marks; `is_drawn` is False where counts come from a file, never mangled."""

    def __init__(self, is_drawn: bool = True) -> None:
        self.is_drawn = is_drawn
        self.bar, self.n, self.elapsed_s = array("I"), array("I"), array("I")
        self.line = array("q")
        self.stamps = array("d")
        """Timestamps in front of the bars; empty if there are none."""
        self.bars: list[Bar] = []
        self.families: dict[tuple[str, str], Family] = {}
        self.marks: list[tuple[int, Mark]] = []
        """Each with the number of updates before it."""
        self._last: Family | None = None
        self._elapsed_text, self._elapsed_s = "00:00", 0

    def mark(self, mark: Mark) -> None:
        self.marks.append((len(self.n), mark))

    def feed(self, number: int, line: str) -> int:
        """Take one line; return where the brackets of its bar open, -1 if it has no bar."""
        parts = cut(line)
        if parts is None:
            return -1
        start, label, n_text, total_text, elapsed_text = parts
        family = self.families.get((label.translate(NO_NUMBERS), total_text))
        if family is None:
            family = self._family(label, total_text, line)
            if family is None:
                return -1
        n = whole(n_text)
        if n is None or n > (family.total or MOST_STEPS):
            return -1
        if elapsed_text != self._elapsed_text:
            self._elapsed_text, self._elapsed_s = elapsed_text, seconds(elapsed_text)
        self._last = family
        self.put(family, n, self._elapsed_s, number, label, line)
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
        if len(bar.labels) < NUM_SAMPLES:
            bar.labels.append((n, label))
        bar.before_s = bar.elapsed_s
        bar.elapsed_s = max(elapsed_s, bar.elapsed_s)
        stamp = stamp_before(line, len(label)) if family.is_stamped else None
        if n > bar.n:
            self._keep(bar, n, number, stamp)
        else:
            bar.closing_line, bar.closing_wall = number, stamp
        bar.seen = len(self.n)

    def _keep(self, bar: Bar, n: int, number: int, stamp: float | None) -> None:
        if bar.n >= 0:
            bar.gain = n - bar.n
        bar.n, bar.last, bar.closing_line = n, len(self.n), 0
        bar.num_kept += 1
        if stamp is not None and not self.stamps:
            self.stamps.extend([MISSING] * len(self.n))
        if stamp is not None or self.stamps:
            self.stamps.append(MISSING if stamp is None else stamp)
            bar.num_stamped += stamp is not None
        self.bar.append(bar.number)
        self.n.append(n)
        self.elapsed_s.append(bar.elapsed_s)
        self.line.append(number)

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
        bar = Bar(len(self.bars), family, len(self.n))
        bar.is_new = elapsed_s == 0
        self.bars.append(bar)
        family.bars.append(bar)
        family.open.append(bar)
        return bar

    def _correct(self, bar: Bar) -> None:
        """The clock has not gone back: its last reading was a mangled one."""
        if self.elapsed_s[bar.last] == bar.elapsed_s:
            self.elapsed_s[bar.last] = bar.before_s
        bar.elapsed_s = bar.before_s

    def _family(self, label: str, total_text: str, line: str) -> Family | None:
        """The family of a label that was not seen before, whatever its numbers."""
        name = label.translate(NO_NUMBERS)
        family = self.families.get((name.replace("nan", "").replace("inf", ""), total_text))
        update = parse(line)
        if update is None or len(self.families) >= MOST_FAMILIES:
            return None
        family = family or self._renamed(update)
        if family is None:
            family = Family(update.description, update.total, update.role)
            family.is_stamped = stamp_before(line, len(label)) is not None
        self.families[name, total_text] = family
        return family

    def _renamed(self, update: Update) -> Family | None:
        """The family drawn last, if this is its bar with a new description and nothing else new."""
        family = self._last
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


def _agrees(label: str, n: int, family: Family) -> bool:
    """Whether the percents in front of a bar are those of its count."""
    percents = label[-3:].strip()
    if not family.total or not percents.isdigit():
        return True
    return abs(100 * n / family.total - int(percents)) <= 1
