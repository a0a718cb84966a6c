"""Logs of unknown trainers as text: learning where steps and times stand, then reading them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from typing import ClassVar

from instride.steps.model import EventKind
from instride.steps.notes import Note
from instride.steps.readers.bars import BRACKETS
from instride.steps.readers.guess_anchors import Field
from instride.steps.readers.guess_columns import FEWEST_RECORDS
from instride.steps.readers.guess_group import Group, weight
from instride.steps.readers.guess_learnt import Learnt
from instride.steps.readers.guess_lines import (
    EPOCH_LINE,
    Key,
    Line,
    epoch_headers,
    kinds,
    take_apart,
)
from instride.steps.readers.guess_slots import is_whole, parts
from instride.steps.readers.guess_words import EVAL_WORD
from instride.steps.readers.marking import EpochCount, MarkedReader
from instride.steps.recording import Recording
from instride.steps.stamps import Stamps, span_s

MOST_CANDIDATES = 16


def learn_text(lines: Sequence[tuple[int, str]]) -> Learnt | None:
    """The best explanation of the lines as records of steps; None if there is no good one."""
    holders: dict[Key, list[Line]] = {}
    for number, text in lines:
        if (line := take_apart(number, text)) is not None:
            for key, slot in line.slots.items():
                if is_whole(slot):
                    holders.setdefault(key, []).append(line)
    ranked = sorted(
        (
            (weight(key, held[0].slots[key]), len(held), key)
            for key, held in holders.items()
            if len(held) >= FEWEST_RECORDS
        ),
        reverse=True,
    )
    headers = epoch_headers(lines)
    best: Learnt | None = None
    for named, _, key in ranked[:MOST_CANDIDATES]:
        for group in kinds(holders[key]) if named else ():
            found = Group(key, group, headers).learn()
            if found is not None and (best is None or found.score > best.score):
                best = found
    return best


class TextReader(MarkedReader):
    """Reads the records that were learnt, and generic markers between them."""

    learnt: ClassVar[Learnt]
    note: ClassVar[Note]
    """What was learnt, for the user."""

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        learnt = self.learnt
        log.note(self.note)
        if learnt.batch > 1:
            log.note(Note("batch-size", {"size": learnt.batch}))
        self.stamps = Stamps(learnt.form, counts_on=not learnt.is_own_clock)
        self._epochs = EpochCount(first_epoch=learnt.first_epoch)
        self._header_epoch = learnt.first_epoch
        self._is_counting_through = learnt.epoch is not None or learnt.epoch_lines
        self._last: int | None = None
        self._evaluates = False
        """An evaluation was announced since the last step."""
        has_stamps = learnt.form is not None or learnt.stamp is not None
        if (learnt.elapsed is not None and not has_stamps) or learnt.is_own_clock:
            self.use_own_clock()

    def feed(self, number: int, line: str) -> None:
        learnt = self.learnt
        if learnt.step.literal in line and learnt.required in line:
            found = learnt.step.pattern.search(line)
            if found is not None and self._take(number, line, found):
                return
        if learnt.epoch_lines and "poch" in line.lower() and (header := EPOCH_LINE.search(line)):
            self._header_epoch = int(header[1])
        self.other(number, line)

    def _take(self, number: int, line: str, found: re.Match[str]) -> bool:
        """Record the step of a line, unless it turns out to be of another kind."""
        learnt = self.learnt
        seconds, is_missing = self._seconds(line)
        if is_missing and learnt.needs_seconds:
            return False
        if not learnt.evaluates and (word := _eval_word(line)) is not None:
            self.mark(EventKind.EVAL, number, wall=self.stamp(line))
            if word < found.start() or learnt.evals_apart or not self._holds_more(line):
                return True
        step = ceil(_whole(found[1]) / learnt.batch)
        total = ceil(_whole(found[2]) / learnt.batch) if found.re.groups > 1 else None
        if self._evaluates and learnt.total not in (None, total):
            self.mark(EventKind.EVAL, number, wall=self.stamp(line))
            return True
        if self._is_counting_through:
            epoch = self._epoch(line)
            if epoch is None:
                return False
            step = self.count(number, epoch, step, total)
        if seconds is not None and learnt.times.is_interval:
            gap = step - self._last if self._last is not None else learnt.stride
            seconds /= gap if 0 < gap <= 10 * learnt.stride else learnt.stride
        self._last, self._evaluates = step, False
        data = _number(learnt.data, line)
        data = data * learnt.times.data_scale if data is not None else None
        self.record(number, step, seconds, self._wall(line), data)
        return True

    def mark(
        self,
        kind: EventKind,
        number: int,
        seconds: float | None = None,
        wall: float | None = None,
        step: int | None = None,
    ) -> None:
        self._evaluates = self._evaluates or kind is EventKind.EVAL
        super().mark(kind, number, seconds, wall, step)

    def _holds_more(self, line: str) -> bool:
        """Whether a line has all that a record has, and the results of an evaluation too."""
        slots = parts(line).slots
        labels = {slot.label.lower() for slot in slots}
        return self.learnt.labels <= labels and len(slots) > self.learnt.num_slots

    def _seconds(self, line: str) -> tuple[float | None, bool]:
        """The duration on a line, and whether there is none, not even an unreadable one."""
        field, times = self.learnt.seconds, self.learnt.times
        if field is None:
            return None, False
        found = field.pattern.search(line)
        if found is None:
            return None, True
        value = span_s(found[1]) if found[1] else None
        if value is None:
            return None, False
        if times.is_rate:
            return (1 / value if value > 0 else None), False
        return value * times.scale, False

    def _epoch(self, line: str) -> int | None:
        field = self.learnt.epoch
        if field is None:
            return self._header_epoch
        found = field.pattern.search(line)
        return _whole(found[1]) if found is not None else None

    def _wall(self, line: str) -> float | None:
        learnt, run = self.learnt, self.log.run
        if learnt.form is not None:
            wall = self.stamps.find(line)
            if learnt.is_own_clock:
                run.clock_resolution_s = self.stamps.resolution_s
            return wall
        if learnt.stamp is not None:
            found = learnt.stamp.pattern.search(line)
            return self.stamps.read(found[1]) if found is not None and found[1] else None
        if learnt.elapsed is None:
            return None
        found = learnt.elapsed.pattern.search(line)
        if found is None or not found[1]:
            return None
        return self.since_start(found[1], learnt.times.elapsed_scale)


def _eval_word(line: str) -> int | None:
    """Where a line names an evaluation; a bar in front of it is another line that was not ended."""
    if "val" in line or "Val" in line or "VAL" in line or "est" in line or "EST" in line:
        bar = BRACKETS.search(line)
        found = EVAL_WORD.search(line, line.find("]", bar.end()) + 1 if bar is not None else 0)
        return found.start() if found is not None else None
    return None


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _number(field: Field | None, line: str) -> float | None:
    if field is None:
        return None
    found = field.pattern.search(line)
    return span_s(found[1]) if found is not None and found[1] else None
