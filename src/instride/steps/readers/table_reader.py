"""Reads the rows of a table that was learnt: one record a row."""

from __future__ import annotations

from typing import ClassVar

from instride.steps.model import EventKind
from instride.steps.notes import Note
from instride.steps.readers.guess_table import LearntTable, split
from instride.steps.readers.marking import EpochCount, MarkedReader
from instride.steps.recording import Recording
from instride.steps.stamps import span_s


class TableReader(MarkedReader):
    """Reads the rows of a learnt table; a row of names in the middle is a new process."""

    learnt: ClassVar[LearntTable]
    note: ClassVar[Note]
    """What was learnt, for the user."""

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.note(self.note)
        self._epochs = EpochCount(first_epoch=self.learnt.first_epoch)
        self._last: int | None = None
        if self.learnt.elapsed_at is not None and self.learnt.stamp_at is None:
            self.use_own_clock()

    def feed(self, number: int, line: str) -> None:
        learnt = self.learnt
        if learnt.separator not in line:
            self.other(number, line)
        elif (cells := learnt.cells(line)) is not None:
            self._row(number, cells)
        elif self._last is not None and split(line, learnt.separator) == learnt.header:
            self.mark(EventKind.START, number)
        else:
            self.other(number, line)

    def _row(self, number: int, cells: list[str]) -> None:
        learnt = self.learnt
        seconds, wall = self._seconds(cells), self._wall(cells)
        step = _whole(cells[learnt.step_at])
        if step is None:
            return
        if learnt.epoch_at is not None:
            epoch = _whole(cells[learnt.epoch_at])
            if epoch is None:
                return
            step = self.count(number, epoch, step)
        if any(cells[at] for at in learnt.evals_at):
            self.mark(EventKind.EVAL, number, wall=wall if self.log.run.clock_is_absolute else None)
            if step == self._last or (seconds is None and wall is None):
                return
        if seconds is not None and learnt.times.is_interval:
            gap = step - self._last if self._last is not None else learnt.stride
            seconds /= gap if 0 < gap <= 10 * learnt.stride else learnt.stride
        self._last = step
        data = None if learnt.data_at is None else span_s(cells[learnt.data_at])
        data = None if data is None else data * learnt.times.data_scale
        self.record(number, step, seconds, wall, data)

    def _seconds(self, cells: list[str]) -> float | None:
        at, times = self.learnt.seconds_at, self.learnt.times
        value = None if at is None else span_s(cells[at])
        if value is None or (times.is_rate and value <= 0):
            return None
        return 1 / value if times.is_rate else value * times.scale

    def _wall(self, cells: list[str]) -> float | None:
        learnt = self.learnt
        if learnt.stamp_at is not None:
            return self.stamps.read(cells[learnt.stamp_at])
        if learnt.elapsed_at is None:
            return None
        return self.since_start(cells[learnt.elapsed_at], learnt.times.elapsed_scale)


def _whole(cell: str) -> int | None:
    return int(cell) if cell.isdecimal() and len(cell) < 16 else None
