"""Logs whose bars are not the training: the steps of an unknown trainer stand between them.

A script may draw bars for its evaluations alone, and print the training as plain lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from instride.steps.readers.bar_choosing import choose
from instride.steps.readers.bar_families import Family
from instride.steps.readers.bar_reader import BarReader
from instride.steps.readers.bars import Role, parse
from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.readers.guess import guess
from instride.steps.recording import Recording
from instride.steps.source import Source

SAMPLE_LINES = 20_000
FEWEST_STEPS = 5
LINES_A_BAR = 2
"""Lines with steps for every bar: one for each is what a script says of an epoch at its end."""
MOSTLY = 0.9


def trained_outside(reader_type: type[Reader], source: Source) -> type[Reader] | None:
    """A guessed reader, if the log has steps, and they are not what its bars count."""
    if not issubclass(reader_type, BarReader):
        return None
    lines = [each for each in islice(source.lines(), SAMPLE_LINES) if len(each[1]) <= LONGEST_LINE]
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for number, line in lines:
        reader.feed(number, line)
    bars = choose(reader.bars.families.values())
    reader.finish()
    if bars is not None and bars.role is Role.TRAINING and len(log.run):
        return None
    guessed = guess(lines)
    if guessed is None:
        return None
    has_none = bars is None or not len(log.run)
    return guessed.reader if has_none or _are_outside(guessed.reader, lines, bars) else None


def _are_outside(
    guessed: type[Reader], lines: Sequence[tuple[int, str]], bars: Family | None
) -> bool:
    """Whether steps are printed while no bar runs, and more often than there are bars."""
    inside = outside = 0
    is_running = False
    for _, line in lines:
        if (bar := parse(line)) is not None:
            is_running = bar.total is None or bar.n < bar.total
        elif guessed.sniff(line):
            inside += is_running
            outside += not is_running
    num_bars = len(bars.bars) if bars is not None and bars.role is not Role.EVALUATION else 0
    least = max(FEWEST_STEPS, LINES_A_BAR * num_bars)
    return outside >= least and outside >= MOSTLY * (inside + outside)
