"""Recording: what readers write into. Drops what other ranks repeat, keeps the rest in a run."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice, repeat
from math import isfinite
from operator import lt

import msgspec

from instride.steps.interleaved import keep, longest_job
from instride.steps.model import MISSING, Clock, Dialect, Event, EventKind, Run
from instride.steps.notes import Note

RECENT = 4
"""Ranks that print side by side are fewer than this many distinct steps apart."""
LONGEST_S = 1e9
"""A step of more than thirty years is a misprint."""
LATEST = 1e11
"""So is a clock beyond the year 5000."""
MANY = 1 << 20
"""Records from which on columns are kept short."""
MOST_RANKS = 1024
"""Records to look back for a step that another rank may have printed."""
JUDGE_AFTER = 2000
"""Records to see before duplicates are dropped on sight instead of at the end."""
SHARED_BY_RANKS = 0.4
"""Share of repeated records above which several ranks, not restarts, wrote the log."""
BACK_BY_RANKS = 0.25
"""Ranks go back more often than this a step; restarts go on for longer."""


class Recording:
    """Takes steps, events and clock readings from a reader, in the order of the log."""

    def __init__(self, dialect: Dialect) -> None:
        self.run = Run(dialect)
        self._last_step = self._highest_step = -1
        self._begin = 0
        self._repeats: list[int] = []
        self._drop_on_sight = False
        self._num_seen = self._num_back = 0
        self._last_clock: Clock | None = None

    def step(
        self,
        step: int,
        line: int,
        seconds: float | None = None,
        wall: float | None = None,
        data: float | None = None,
    ) -> None:
        """Record that `step` ended; times that are not finite or negative count as unknown."""
        run = self.run
        self._num_seen += 1
        if step > self._highest_step:
            self._highest_step = step
        elif self._is_repeat(step):
            if self._num_seen > JUDGE_AFTER:
                self._settle()
            if self._drop_on_sight:
                run.num_duplicates += 1
                return
            self._repeats.append(len(run.step))
            self._num_back += step <= self._last_step
        self._last_step = step
        run.step.append(step)
        run.line.append(line)
        if seconds is not None or run.seconds:
            _append(run.seconds, seconds, run, LONGEST_S)
        if wall is not None or run.wall:
            _append(run.wall, wall, run)
        if data is not None or run.data:
            _append(run.data, data, run)
        if len(run.step) == MANY:
            self._compact()

    def steps(
        self,
        steps: Sequence[int],
        lines: Sequence[int],
        seconds: Sequence[float] | None = None,
        wall: Sequence[float] | None = None,
    ) -> None:
        """Record a stretch of steps at once; it comes to the same as one after the other.

        All times must be finite and possible, or absent: this is for what needs no second look.
        """
        run, size = self.run, len(steps)
        is_plain = steps[0] > self._highest_step and all(map(lt, steps, islice(steps, 1, None)))
        if not is_plain or len(run) < MANY <= len(run) + size:
            each_s = repeat(None) if seconds is None else seconds
            walls = repeat(None) if wall is None else wall
            for step, line, took, now in zip(steps, lines, each_s, walls, strict=False):
                self.step(step, line, took, now)
            return
        self._num_seen += size
        self._last_step = self._highest_step = steps[-1]
        if seconds is not None or run.seconds:
            _extend(run.seconds, seconds, len(run), size)
        if wall is not None or run.wall:
            _extend(run.wall, wall, len(run), size)
        if run.data:
            _extend(run.data, None, len(run), size)
        run.step.extend(steps)
        run.line.extend(lines)

    def _compact(self) -> None:
        """Halve the durations of a very long log: seven digits are enough."""
        self.run.seconds = array("f", self.run.seconds)

    def time_last(self, seconds: float) -> None:
        """Give the last record its duration, where a second line of its step has one."""
        run = self.run
        if not run.seconds:
            run.seconds.extend([MISSING] * len(run))
        run.seconds[-1] = seconds

    def stamp_last(self, wall: float) -> None:
        """Give the last record its wall clock, where a second line of its step has one."""
        run = self.run
        if not run.wall:
            run.wall.extend([MISSING] * len(run.step))
        run.wall[-1] = wall

    def event(
        self,
        kind: EventKind,
        line: int,
        seconds: float | None = None,
        wall: float | None = None,
        step: int | None = None,
        sure: bool = True,
    ) -> None:
        """Record a marker; the same one printed by several ranks counts once, the longest."""
        at = len(self.run.step)
        if seconds is not None and not (isfinite(seconds) and seconds >= 0):
            seconds = None
        self._add(Event(kind, line, at, seconds, wall, step, sure))
        if kind is EventKind.START:
            self._end_process()

    def clock(self, wall: float | None, line: int) -> None:
        """Note the time on a line without a step: it bounds start-up and closing work."""
        if wall is None or not isfinite(wall):
            return
        clock = Clock(wall, line, len(self.run.step))
        if clock.at == 0 and self.run.first_clock is None:
            self.run.first_clock = clock
        self._last_clock = clock

    def size(self, num_bytes: float, line: int) -> None:
        """Note that a save wrote a file of so many bytes; its marker stands near this line."""
        if isfinite(num_bytes) and num_bytes > 0:
            self.run.sizes.append((line, round(num_bytes)))

    def note(self, note: Note) -> None:
        """Tell the user what the reader had to guess or could not read; once each."""
        if note not in self.run.notes:
            self.run.notes.append(note)

    def finish(self) -> Run:
        self._settle()
        self._end_process()
        job = longest_job(self.run)
        if job is not None:
            self.note(Note("several-jobs", {"kept": len(job), "records": len(self.run)}))
            keep(self.run, job)
        return self.run

    def _end_process(self) -> None:
        """Keep how long the process lived after its last record; its steps may come again."""
        clock = self._last_clock
        if clock is not None and clock.at == len(self.run.step) > 0:
            self.run.ends.append(clock)
        self._last_clock = None
        self._last_step = self._highest_step = -1
        self._begin = len(self.run.step)

    def _add(self, event: Event) -> None:
        """Add an event, or merge it; ranks that lag behind print it a few records later."""
        events, seconds = self.run.events, event.seconds
        reach = RECENT if self._drop_on_sight and event.step is not None else 0
        for index in range(len(events) - 1, -1, -1):
            other = events[index]
            if other.at < event.at - reach or other.kind is EventKind.START:
                break
            if other.kind is event.kind and other.step == event.step:
                if seconds is not None and (other.seconds is None or seconds > other.seconds):
                    events[index] = msgspec.structs.replace(event, at=other.at)
                return
        events.append(event)

    def _is_repeat(self, step: int) -> bool:
        """Whether a step that is not beyond the highest one was printed a moment ago."""
        before: set[int] = set()
        after: set[int] = set()
        steps = self.run.step
        for index in range(len(steps) - 1, max(self._begin, len(steps) - MOST_RANKS) - 1, -1):
            other = steps[index]
            if other == step:
                return True
            near = before if other < step else after
            near.add(other)
            if len(near) >= RECENT:
                return False
        return False

    def _settle(self) -> None:
        """Decide whether repeated steps are ranks printing side by side, and drop them if so."""
        num_distinct = self._num_seen - len(self._repeats)
        is_shared = len(self._repeats) > SHARED_BY_RANKS * max(1, self._num_seen)
        # Two more, so that a few steps and the same again are a restart.
        if is_shared and self._num_back > BACK_BY_RANKS * (num_distinct + 2):
            self._drop_on_sight = True
            self._drop(self._repeats)
        self._repeats = []
        self._num_seen = self._num_back = 0

    def _drop(self, repeats: list[int]) -> None:
        run, doomed = self.run, set(repeats)
        keep(run, [index for index in range(len(run.step)) if index not in doomed])
        run.num_duplicates += len(doomed)
        self._begin -= bisect_left(repeats, self._begin)
        if (clock := self._last_clock) is not None:
            at = clock.at - bisect_left(repeats, clock.at)
            self._last_clock = msgspec.structs.replace(clock, at=at)
        events, run.events = run.events, []
        for event in events:
            self._add(event)


def _append(column: array[float], value: float | None, run: Run, limit: float = LATEST) -> None:
    """Append to a column that not all logs have, filling it up to here the first time."""
    if not column:
        column.extend([MISSING] * (len(run) - 1))
    column.append(value if value is not None and 0 <= value < limit else MISSING)


def _extend(column: array[float], values: Sequence[float] | None, length: int, size: int) -> None:
    """Append so many numbers to a column that not all logs have."""
    if not column:
        column.extend([MISSING] * length)
    column.extend([MISSING] * size if values is None else values)
