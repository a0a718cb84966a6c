"""For trainers that print every step: records that look alike are taken a stretch at a time.

A log of a gigabyte may have twenty million records, and calling `feed` for each costs more than all
the rest. So a block of the log is cut by the pattern of a plain record, which gives the fields of
all of them in columns, and between them what is left: lines that are fed as everywhere. Both ways
must give the same run, to which the tests hold every such reader.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain, compress
from typing import ClassVar

from instride.steps.readers.contract import LONGEST_LINE, Reader
from instride.steps.source import pieces


class DenseReader(Reader):
    plain: ClassVar[re.Pattern[str]]
    """A record that fills a piece of a line: it begins with what `opens` it, has groups for all
    that is read from it, and looks ahead to the end of the piece."""
    opens: ClassVar[str] = "\n"
    """The line feed before a record, or the carriage return where it overwrites the one before."""

    @abstractmethod
    def feed_plain(
        self, lines: Sequence[int], fields: Sequence[list[str]], begin: int, end: int
    ) -> None:
        """Take plain records that follow one another: those from `begin` to `end` (excluded).

        `fields` has a column for each group, of all plain records in the block.
        """

    def feed_block(self, number: int, text: str) -> None:
        is_line, feed = self.opens == "\n", self.feeding(text)
        if is_line == ("\r" in text):
            _feed_lines(feed, number, text)
            return
        if is_line:
            number, text = number - 1, "\n" + text
        stride = self.plain.groups + 1
        cut = self.plain.split(text)
        between = cut[::stride]
        fields = [cut[group::stride] for group in range(1, stride)]
        begin, last = 0, len(between) - 1
        for end in chain(compress(range(last), between), (last,)):
            if end > begin:
                size = end - begin
                lines = range(number + 1, number + 1 + size) if is_line else [number] * size
                self.feed_plain(lines, fields, begin, end)
                number, begin = number + size * is_line, end
            if between[end]:
                _feed_lines(feed, number, between[end])
                number += between[end].count("\n")


def _feed_lines(feed: Callable[[int, str], None], number: int, text: str) -> None:
    """Feed all that is no plain record; empty lines say nothing to such readers."""
    for line_number, line in pieces(number, text):
        if line and len(line) <= LONGEST_LINE:
            feed(line_number, line)
