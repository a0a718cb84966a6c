"""One process whose log tells rounded counts at known times, until it is known what they are."""

from __future__ import annotations

from itertools import pairwise
from math import floor, isnan
from statistics import median
from typing import NamedTuple

from instride.steps.model import MISSING, EventKind
from instride.steps.readers.rounded import Count, clip, steadiest
from instride.steps.recording import Recording

FAR_LONGER = 2.0
"""Times the usual distance of two records: of a longer one, the rest is taken for a pause."""
NEARLY = 1e-6


class Seen(NamedTuple):
    """A moment at which the log tells the count."""

    told: Count
    line: int
    stamp: float
    elapsed_s: float
    blocked_s: float = 0.0
    """How long training is known to have stood still since the moment before."""


class Note(NamedTuple):
    """Something between two moments: an event, or only a time if it has no kind."""

    at: int
    """Moments before it."""
    line: int
    stamp: float
    kind: EventKind | None = None
    step: int | None = None
    seconds: float | None = None


class CountedProcess:
    def __init__(self, line: int | None = None, stamp: float = MISSING) -> None:
        """`line` is that of its launch, if the log announces it."""
        self.line, self.stamp = line, stamp
        self.seen: list[Seen] = []
        self.notes: list[Note] = []
        self._blocked_s = 0.0

    def add(self, told: Count, line: int, stamp: float, elapsed_s: float) -> None:
        """Add a moment; only its time, if it tells an exact count that was told before."""
        if self.seen and told.low == told.high <= self.seen[-1].told.low:
            self.note(line, stamp)
        else:
            self.seen.append(Seen(told, line, stamp, elapsed_s, self._blocked_s))
            self._blocked_s = 0.0

    def note(
        self,
        line: int,
        stamp: float,
        kind: EventKind | None = None,
        step: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.notes.append(Note(len(self.seen), line, stamp, kind, step, seconds))
        self._blocked_s += seconds or 0.0

    def goes_back(self, count: Count, elapsed_s: float) -> bool:
        """Whether this cannot be the same process: its count or its clock starts anew."""
        if not self.seen:
            return False
        last = self.seen[-1]
        return count.high < last.told.low or elapsed_s + 1 < last.elapsed_s

    def fits(self, step: int) -> bool:
        """Whether a step may be the count of this moment."""
        return bool(self.seen) and step >= self.seen[-1].told.low

    def write(self, log: Recording, is_stamped: bool) -> None:
        """Record the process, by timestamps or by the bar's own clock."""
        if self.line is not None:
            _take(log, Note(0, self.line, self.stamp, EventKind.START), is_stamped)
        walls = [seen.stamp if is_stamped else seen.elapsed_s for seen in self.seen]
        has_begun = any(seen.told.high > 0 for seen in self.seen)
        course = steadiest(self._running(walls), clip([seen.told for seen in self.seen]))
        notes, last = iter([*self.notes, None]), -1
        note = next(notes)
        for index, seen in enumerate(self.seen):
            while note is not None and note.at <= index:
                _take(log, note, is_stamped)
                note = next(notes)
            step = floor(course[index] + NEARLY)
            if step > last and has_begun:
                log.step(step, seen.line, wall=self._ended(course, walls, index))
                last = step
        while note is not None:
            _take(log, note, is_stamped)
            note = next(notes)

    def _running(self, walls: list[float]) -> list[float]:
        """The clock without the pauses, as far as they are known: steps go on by this one."""
        between = [after - before for before, after in pairwise(walls)]
        longest = FAR_LONGER * median(between) if between else 0.0
        running = [0.0] if walls else []
        for seen, elapsed in zip(self.seen[1:], between, strict=True):
            running.append(running[-1] + min(max(0.0, elapsed - seen.blocked_s), longest))
        return running

    def _ended(self, course: list[float], walls: list[float], index: int) -> float:
        """When the last whole step before a moment ended."""
        begun = course[index] - floor(course[index] + NEARLY)
        done = course[index] - course[index - 1] if index else 0.0
        if begun <= NEARLY or done <= begun:
            return walls[index]
        running = max(0.0, walls[index] - walls[index - 1] - self.seen[index].blocked_s)
        return walls[index] - running * begun / done


def _take(log: Recording, note: Note, is_stamped: bool) -> None:
    wall = note.stamp if is_stamped and not isnan(note.stamp) else None
    if note.kind is not None:
        log.event(note.kind, note.line, note.seconds, wall, note.step)
    log.clock(wall, note.line)
