"""The last resort for a log that no reader knows: learn from its lines what a step looks like.

Nothing is guessed from a few numbers that happen to grow. There must be at least five records, the
step must nearly always rise, and names, units or a clock must say that this is a training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import ClassVar

import msgspec

from instride.steps.model import Dialect, Pauses, Sampling
from instride.steps.notes import Facts, Note
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.readers.guess_anchors import Field
from instride.steps.readers.guess_columns import Column
from instride.steps.readers.guess_learnt import Learnt
from instride.steps.readers.guess_table import LearntTable, learn_table
from instride.steps.readers.guess_text import TextReader, learn_text
from instride.steps.readers.guess_times import Times
from instride.steps.readers.table_reader import TableReader

SAMPLE_LINES = 20_000
ENOUGH_LINES = 3000
PROMISING = re.compile(r"(?i:step|iter|epoch|batch|update|loss)\W{0,6}\d")
UNIT_NAMES = {1e-6: "microseconds", 1e-3: "milliseconds", 1.0: "seconds", 60.0: "minutes"}
AFTER, COLUMN = "after", "column"
"""Where numbers stand, from their names: after them on a line, or under them in a table."""


class Guess(msgspec.Struct, frozen=True):
    """What was learnt about a log."""

    note: Note
    """What was taken for what, for the user."""
    reader: type[Reader]


def guess(lines: Iterable[tuple[int, str]]) -> Guess | None:
    """Learn the dialect of a log from its first lines; None if they are not clearly steps."""
    sample = [(n, text) for n, text in islice(lines, SAMPLE_LINES) if len(text) <= LONGEST_LINE]
    if (table := learn_table(sample)) is not None:
        return _guess_table(table)
    enough = _enough(sample)
    text = learn_text(sample[:enough])
    if text is None and enough < len(sample):
        text = learn_text(sample)
    return None if text is None else _guess_text(text)


def _enough(sample: Sequence[tuple[int, str]]) -> int:
    """How many lines hold all that needs to be seen: learning from all takes seconds."""
    promising = 0
    for position, (_, line) in enumerate(sample):
        if PROMISING.search(line):
            promising += 1
            if promising == ENOUGH_LINES:
                return position + 1
    return len(sample)


def _guess_text(found: Learnt) -> Guess:
    told = Note("guessed", _told_of_text(found))

    class GuessedReader(TextReader):
        dialect: ClassVar = _dialect(found.times, found.stride)
        learnt = found
        note = told

        @staticmethod
        def sniff(line: str) -> bool:
            return found.step.literal in line and found.step.pattern.search(line) is not None

    return Guess(told, GuessedReader)


def _guess_table(found: LearntTable) -> Guess:
    facts = {"step": found.step.name, "step_at": COLUMN, **_told_of_times(found.times, COLUMN)}
    if found.epoch is not None:
        facts |= {"epoch": found.epoch.name, "epoch_at": COLUMN}
    told = Note("guessed", facts)

    class GuessedReader(TableReader):
        dialect: ClassVar = _dialect(found.times, found.stride)
        learnt = found
        note = told

        @staticmethod
        def sniff(line: str) -> bool:
            return found.cells(line) is not None

    return Guess(told, GuessedReader)


def _dialect(times: Times, stride: int) -> Dialect:
    if times.seconds is None:
        sampling = Sampling.RUNNING_TOTAL
    elif times.is_interval or times.is_rate:
        sampling = Sampling.AVERAGE
    else:
        sampling = Sampling.EVERY_STEP if stride == 1 else Sampling.EVERY_KTH
    return Dialect(
        name="guess",
        title="unknown trainer (guessed)",
        sample="guessed from the log itself: any line with a step and a time",
        pauses=Pauses.SAME,
        sampling=sampling,
    )


def _told_of_text(found: Learnt) -> Facts:
    """What was taken for what: names, and where from them the numbers stand."""
    facts = {**_place("step", found.step), **_told_of_times(found.times, AFTER)}
    if found.epoch is not None:
        facts |= _place("epoch", found.epoch)
    elif found.epoch_lines:
        facts["epoch_at"] = "lines"
    if found.form is not None:
        facts["clock"] = "undated" if found.form == "time only" else "dated"
    return facts


def _place(what: str, field: Field | Column, where: str = AFTER) -> Facts:
    """Where a number stands: beside its name, else before its unit."""
    if field.name:
        return {what: field.name, f"{what}_at": where}
    return {what: field.unit or None, f"{what}_at": "before" if field.unit else "nameless"}


def _told_of_times(times: Times, where: str) -> Facts:
    facts: Facts = {}
    if times.seconds is not None:
        facts |= _place("time", times.seconds, where)
        unit = UNIT_NAMES.get(times.scale, "seconds")
        facts["unit"] = "rate" if times.is_rate else unit
        facts["between"] = int(times.is_interval and not times.is_rate)
    for what, column in (("elapsed", times.elapsed), ("stamp", times.stamp), ("data", times.data)):
        if column is not None:
            facts |= _place(what, column, where)
    return facts
