"""Bars, and the families of those that have the same description (but for numbers) and total.

The bars of the epochs, of the ranks and of the processes are a family each.
"""

from __future__ import annotations

from instride.steps.columns import Column
from instride.steps.readers.bars import Role


class Bar:
    """One bar, from its first drawing to its last; an evaluation may have one every time."""

    __slots__ = (
        "before_s",
        "birth",
        "closing_line",
        "closing_wall",
        "drawn",
        "elapsed_s",
        "family",
        "first_drawn",
        "gain",
        "is_new",
        "kept_s",
        "labels",
        "last",
        "n",
        "num_kept",
        "num_stamped",
        "number",
        "row",
        "seen",
    )

    def __init__(self, number: int, family: Family, birth: int) -> None:
        self.number = number
        self.family = family
        self.birth = self.last = self.seen = birth
        """Updates of all bars before its first and last one, and before its last drawing."""
        self.row = 0
        """The place of its last update in the columns of its family."""
        self.n = -1
        self.elapsed_s = self.before_s = 0
        """Clock of the last drawing and of the one before."""
        self.kept_s = 0
        """Clock of the last update."""
        self.gain = 1
        self.drawn = self.first_drawn = family.num_drawn
        self.is_new = False
        """Whether it was seen at its creation."""
        self.num_kept = self.num_stamped = 0
        self.labels: tuple[tuple[int, str], ...] = ()
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
        self.has_labels = True
        """Whether its labels are kept: they say more than the percents."""
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
        self.counts, self.clocks, self.lines = Column(), Column(), Column()
        """Updates of all its bars, in the order of the log."""

    @property
    def num_kept(self) -> int:
        return sum(bar.num_kept for bar in self.bars)

    @property
    def elapsed_s(self) -> int:
        return sum(bar.elapsed_s for bar in self.bars)
