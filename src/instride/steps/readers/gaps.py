"""What happened between two records: several lines of one pause become one event.

Readers that must see the whole log before they know its steps keep marks until then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from instride.steps.columns import Column
from instride.steps.model import MISSING, EventKind
from instride.steps.recording import Recording


class Mark(NamedTuple):
    kind: EventKind
    line: int
    seconds: float | None = None
    name: str = ""
    """What took the seconds: two evaluation sets add up, one that two ranks time does not."""
    sure: bool = True
    step: int | None = None


def emit(log: Recording, marks: Iterable[Mark]) -> None:
    """Record the events between two records; a launch separates what was before it from the rest.

    Several launches count as one: every rank may announce it.
    """
    pauses: dict[EventKind, list[Mark]] = {}
    is_launched = False
    for mark in marks:
        if mark.kind is EventKind.START:
            if not is_launched:
                _emit_pauses(log, pauses)
                pauses = {}
                log.event(mark.kind, mark.line)
            is_launched = True
        else:
            pauses.setdefault(mark.kind, []).append(mark)
    _emit_pauses(log, pauses)


def _emit_pauses(log: Recording, pauses: dict[EventKind, list[Mark]]) -> None:
    for kind, marks in pauses.items():
        took: dict[str, float] = {}
        for mark in marks:
            if mark.seconds is not None:
                took[mark.name] = max(mark.seconds, took.get(mark.name, 0.0))
        best = next((mark for mark in marks if mark.seconds is not None), marks[0])
        log.event(
            kind,
            best.line,
            seconds=sum(took.values()) if took else None,
            step=best.step,
            sure=any(mark.sure for mark in marks),
        )


class Printed:
    """Steps that a log prints one a line, kept with the marks between them."""

    def __init__(self) -> None:
        self.step = Column()
        self.line = Column()
        self.wall = array("d")
        """Empty if no line has a time."""
        self._marks: list[Mark] = []
        self._marked_at = array("q")
        """How many steps came before each mark."""

    def __len__(self) -> int:
        return len(self.step)

    @property
    def has_walls(self) -> bool:
        return len(self.wall) > 0

    def add(self, step: int, line: int, wall: float | None = None) -> None:
        if wall is not None and not self.wall:
            self.wall.extend([MISSING] * len(self.step))
        if self.wall or wall is not None:
            self.wall.append(MISSING if wall is None else wall)
        self.step.append(step)
        self.line.append(line)

    def mark(self, mark: Mark) -> None:
        self._marks.append(mark)
        self._marked_at.append(len(self.step))

    def replay(self, log: Recording) -> None:
        following = 0
        for index in range(len(self.step) + 1):
            first = following
            following = bisect_right(self._marked_at, index, first)
            if following > first:
                emit(log, self._marks[first:following])
            if index < len(self.step):
                wall = self.wall[index] if self.wall else MISSING
                log.step(self.step[index], self.line[index], wall=wall)
