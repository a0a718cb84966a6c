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
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.readers.guess_anchors import Field
from instride.steps.readers.guess_learnt import Learnt
from instride.steps.readers.guess_table import LearntTable, learn_table
from instride.steps.readers.guess_text import TextReader, learn_text
from instride.steps.readers.guess_times import Times
from instride.steps.readers.table_reader import TableReader

SAMPLE_LINES = 20_000
ENOUGH_LINES = 3000
PROMISING = re.compile(r"(?i:step|iter|epoch|batch|update|loss)\W{0,6}\d")
UNIT_WORDS = {1e-6: "microseconds", 1e-3: "milliseconds", 1.0: "seconds", 60.0: "minutes"}


class Guess(msgspec.Struct, frozen=True):
    """What was learnt about a log."""

    words: str
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
    sentence = _sentence(found)

    class GuessedReader(TextReader):
        dialect: ClassVar = _dialect(found.times, found.stride)
        learnt = found
        words = sentence

        @staticmethod
        def sniff(line: str) -> bool:
            return found.step.literal in line and found.step.pattern.search(line) is not None

    return Guess(sentence, GuessedReader)


def _guess_table(found: LearntTable) -> Guess:
    names = [f"step in column `{found.step.name}`"]
    if found.epoch is not None:
        names.append(f"epoch in `{found.epoch.name}`")
    names += _time_words(found.times, "in")
    sentence = f"Guessed: {', '.join(names)}."

    class GuessedReader(TableReader):
        dialect: ClassVar = _dialect(found.times, found.stride)
        learnt = found
        words = sentence

        @staticmethod
        def sniff(line: str) -> bool:
            return found.cells(line) is not None

    return Guess(sentence, GuessedReader)


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


def _sentence(found: Learnt) -> str:
    """What was taken for what, in words."""
    words = [f"step {_place(found.step)}"]
    if found.epoch is not None:
        words.append(f"counted on through the epochs {_place(found.epoch)}")
    elif found.epoch_lines:
        words.append("counted on through the epochs on lines of their own")
    named = len(words)
    words += _time_words(found.times, "after")
    if found.form is not None:
        dated = " (no date)" if found.form == "time only" else ""
        words.append(f"timestamps on the lines{dated}")
    if len(words) == named:
        words.append("no time")
    return f"Guessed: {', '.join(words)}."


def _place(field: Field) -> str:
    if field.name:
        return f"after '{field.name}'"
    return f"before '{field.unit}'" if field.unit else "without a name"


def _time_words(times: Times, where: str) -> list[str]:
    words = []
    if (column := times.seconds) is not None:
        place = f"{where} '{column.name}'" if column.name else f"before '{column.unit}'"
        if times.is_rate:
            words.append(f"steps a second {place}")
        else:
            unit = UNIT_WORDS.get(times.scale, "seconds")
            words.append(
                f"{unit} {place}" + (" for all steps between" if times.is_interval else "")
            )
    if (column := times.elapsed) is not None:
        place = f" {where} '{column.name}'" if column.name else ""
        words.append(f"time since the start{place}")
    if (column := times.stamp) is not None:
        words.append(f"timestamps {where} '{column.name}'")
    if (column := times.data) is not None:
        words.append(f"waiting for data {where} '{column.name}'")
    return words
