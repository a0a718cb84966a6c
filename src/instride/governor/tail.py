"""Steps from a log that grows: only what is new is read, by the readers that `explain` has.

Readers want a whole log, and some hold records back until they have seen the end. So each look
gives the reader the head of the log and its last stretch, and takes the records that were not
there the time before.
"""

from __future__ import annotations

import os
import time
from math import isnan
from pathlib import Path

from instride.errors import InstrideError
from instride.governor.model import Step
from instride.steps.choosing import choose_reader
from instride.steps.model import Pauses, Run, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording
from instride.steps.source import ESCAPE, Source

HEAD_BYTES = 1 << 13
"""Where column names and settings stand."""
TAIL_BYTES = 1 << 14
EVERY_S, SELDOM_S = 0.25, 1.0
"""How often the log is looked at: no step is placed in time more exactly than that, unless its line
says when it was; then there is no hurry."""
QUARTER_S = 900.0
FRESH_S = 5.0
"""A record whose own clock is so near to now is placed by it."""
SINGLE = (Sampling.EVERY_STEP, Sampling.EVERY_KTH)


class LogSteps:
    """A source of steps. A log that is missing, or says nothing yet, is looked at again."""

    def __init__(self, path: Path, dialect: str | None = None) -> None:
        self.path = path
        self.resolution_s = EVERY_S
        self._dialect = dialect
        self._reader: type[Reader] | None = None
        self._num_tried_bytes = 0
        self._looked_s = float("-inf")
        self._begin_anew(None)

    def read(self, now_s: float) -> list[Step]:
        if now_s - self._looked_s < (EVERY_S if self.resolution_s else SELDOM_S):
            return []
        self._looked_s = now_s
        try:
            is_grown = self._take_what_is_new()
        except OSError:
            return []
        if not is_grown or not self._find_reader():
            return []
        return self._new_steps(self._parse(), now_s)

    def _begin_anew(self, identity: tuple[int, int] | None) -> None:
        self._identity = identity
        self._offset = 0
        self._head = b""
        self._tail = b""
        self._num_lines_before = 0
        """Line feeds between the head and the tail, and in the head."""
        self._last: tuple[int, int] | None = None
        """Line and step of the last record that was given out."""
        self._is_first = True

    def _take_what_is_new(self) -> bool:
        """Read what was added; False if nothing was, or no line is whole yet."""
        with self.path.open("rb") as log:
            status = os.fstat(log.fileno())
            identity = (status.st_dev, status.st_ino)
            if identity != self._identity or status.st_size < self._offset:
                self._begin_anew(identity)  # rotated, or written from its start again
            if status.st_size == self._offset:
                return False
            if self._offset < HEAD_BYTES:
                log.seek(0)
                self._head, self._tail = _whole_lines(log.read(HEAD_BYTES)), b""
                self._offset = len(self._head)
            if status.st_size > self._offset + TAIL_BYTES:
                self._skip_to(status.st_size - TAIL_BYTES)
            log.seek(self._offset)
            added = log.read(TAIL_BYTES)
        self._offset += len(added)
        self._add(added)
        return True

    def _skip_to(self, offset: int) -> None:
        """Old lines are of no use; their number is not known then, and need not be."""
        self._offset = offset
        self._num_lines_before += self._tail.count(b"\n") + TAIL_BYTES
        self._tail = b""

    def _add(self, added: bytes) -> None:
        self._tail += added
        if len(self._tail) > 2 * TAIL_BYTES:
            cut = self._tail.find(b"\n", len(self._tail) - TAIL_BYTES) + 1
            cut = cut or len(self._tail) - TAIL_BYTES
            self._num_lines_before += self._tail[:cut].count(b"\n")
            self._tail = self._tail[cut:]

    def _find_reader(self) -> bool:
        """Detect the dialect; again each time that there is twice as much to look at."""
        if self._reader is not None:
            return True
        if self._offset < 2 * self._num_tried_bytes:
            return False
        self._num_tried_bytes = self._offset
        try:
            self._reader = choose_reader([Source(str(self.path))], self._dialect, ())
        except InstrideError:
            return False
        return True

    def _parse(self) -> Run:
        assert self._reader is not None
        log = Recording(self._reader.dialect)
        reader = self._reader(log)
        head = _text(self._head)
        reader.feed_block(1, head)
        num_head_lines = head.count("\n")
        reader.feed_block(
            1 + num_head_lines + self._num_lines_before, _text(_whole_lines(self._tail))
        )
        reader.finish()
        return log.finish()

    def _new_steps(self, run: Run, now_s: float) -> list[Step]:
        if not len(run) or run.dialect.sampling is Sampling.TOTALS:
            return []
        first = self._first_new(run)
        self._last = run.line[len(run) - 1], run.step[len(run) - 1]
        if self._is_first:
            self._is_first = False
            return []  # what was there before we came has no place in time
        age_s = _age_s(run)
        self.resolution_s = EVERY_S if age_s is None else 0.0
        return _placed(run, max(1, first), now_s - (age_s or 0.0))

    def _first_new(self, run: Run) -> int:
        if self._last is None:
            return 0
        for index in range(len(run) - 1, -1, -1):
            if (run.line[index], run.step[index]) == self._last:
                return index + 1
            if run.line[index] < self._last[0]:
                return index + 1
        return 0


def _placed(run: Run, first: int, end_s: float) -> list[Step]:
    """Records with their place in time, backwards from when the last one ended."""
    timed = [(index, *_times(run, index)) for index in range(first, len(run))]
    steps: list[Step] = []
    for index, seconds, span_s in reversed(timed):
        if seconds > 0 and span_s > 0:
            steps.append(Step(end_s, seconds, span_s))
        between_s = run.wall_at(index) - run.wall_at(index - 1)
        end_s -= between_s if between_s > 0 else seconds * _num_steps(run, index)
    return steps[::-1]


def _num_steps(run: Run, index: int) -> int:
    """Steps since the record before; after a restart there is no telling."""
    return max(1, run.step[index] - run.step[index - 1])


def _age_s(run: Run) -> float | None:
    """How long ago the last record was written, if its clock can be trusted for that.

    Clocks without a zone may be of any: those are whole quarters of an hour apart.
    """
    wall = run.wall_at(len(run) - 1)
    if isnan(wall) or wall % 1 == 0 or not run.clock_is_absolute or run.clock_resolution_s:
        return None
    age_s = (time.time() - wall) % QUARTER_S
    return age_s if age_s < FRESH_S else None


def _times(run: Run, index: int) -> tuple[float, float]:
    """Seconds of a step and of all that the record tells of; 0 where there is no telling."""
    num_steps = _num_steps(run, index)
    printed = run.seconds_at(index)
    if not isnan(printed) and run.dialect.pauses is not Pauses.SMOOTHED:
        is_single = run.dialect.sampling in SINGLE
        return printed, printed if is_single else printed * num_steps
    between_s = run.wall_at(index) - run.wall_at(index - 1)
    if isnan(between_s) or between_s <= run.clock_resolution_s:
        return 0.0, 0.0
    return between_s / num_steps, between_s


def _whole_lines(data: bytes) -> bytes:
    """Up to the last end of a line, or of a piece of one that a bar overwrites."""
    return data[: max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1]


def _text(data: bytes) -> str:
    return ESCAPE.sub(b"", data).decode("utf-8", "replace").replace("\r\n", "\n")
