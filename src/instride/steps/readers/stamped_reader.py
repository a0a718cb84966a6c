"""What readers share whose logs have timestamps of some form and a fixed text for every marker."""

from __future__ import annotations

from math import isnan
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import EventKind
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording
from instride.steps.stamps import Stamps

ANOTHER_S = 10.0
"""The same announcement so long after the last one is that of another process, not of a rank."""
SAME_TEXT = 12
"""Characters that tell announcements apart: one process may have several, far apart."""


class StampedReader(Reader):
    """Knows when a line was written, and what the texts of its trainer mean."""

    has_full_stamps: ClassVar[bool] = False
    """True where timestamps are `2026-01-02 03:04:05.678`; else their form is found out."""
    markers: ClassVar[dict[str, EventKind]] = {}
    """Texts that mark something, the first one that a line holds."""

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._stamps = Stamps()
        self._announced: dict[str, float | None] = {}
        """When a launch was announced last, by the beginning of the text."""

    def wall(self, line: str, end: int) -> float | None:
        """When a line was written, by the first timestamp that begins before `end`."""
        return stamp_before(line, end) if self.has_full_stamps else self._stamps.find(line, end)

    def marked(self, line: str) -> tuple[EventKind, int] | None:
        """What a line marks, and where its text begins."""
        for text, kind in self.markers.items():
            if text in line:
                return kind, line.find(text)
        return None

    def take_marker(self, number: int, line: str) -> None:
        """Record the event of a line that marks one, with its time."""
        if found := self.marked(line):
            kind, where = found
            wall = self.wall(line, where)
            if kind is EventKind.START and self._is_another(line[where : where + SAME_TEXT], wall):
                self.log.event(kind, number, wall=wall)
            self.tell(kind, number, wall)

    def _is_another(self, text: str, wall: float | None) -> bool:
        """Whether a launch is announced again, so that the one before it came to no step."""
        before, self._announced[text] = self._announced.get(text), wall
        if before is None or wall is None or wall - before < ANOTHER_S:
            return False
        self._announced = {text: wall}
        return is_launched(self.log)

    def tell(
        self, kind: EventKind, number: int, wall: float | None, seconds: float | None = None
    ) -> None:
        """Record an event; a launch that several ranks or lines announce counts once."""
        if kind is not EventKind.START or not is_launched(self.log):
            self.log.event(kind, number, seconds, wall)
        # After the event: the time of a launch must not count as the end of the process before.
        self.log.clock(wall, number)

    def finish(self) -> None:
        walls = [wall for wall in self.log.run.wall[:100] if not isnan(wall)]
        if walls and all(wall.is_integer() for wall in walls):
            self.log.run.clock_resolution_s = 1.0


def is_launched(log: Recording) -> bool:
    """Whether the process was announced that the next record will belong to."""
    at = len(log.run)
    for event in reversed(log.run.events):
        if event.at != at:
            return False
        if event.kind is EventKind.START:
            return True
    return False
