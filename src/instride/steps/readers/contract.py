"""What a reader is: one trainer's log, line by line, into a recording.

To add a trainer, write one file with one class, list it in `readers/__init__.py`, and the contract
tests run on it. `feed` gets each line without colours, carriage returns and line ends; prefixes
(ranks, timestamps) are still there, so search in the line instead of matching its start.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from instride.steps.model import Dialect, EventKind
from instride.steps.readers.torch_lines import TorchLines, holds_any
from instride.steps.recording import Recording
from instride.steps.source import pieces

LONGEST_LINE = 1 << 16
"""Longer lines hold no step that any known trainer prints; readers do not see them."""


class Reader(ABC):
    """Reads one dialect. One object reads one run, possibly from several files."""

    dialect: ClassVar[Dialect]
    is_general: ClassVar[bool] = False
    """True where trainers of their own dialect print such lines too (a progress bar)."""
    takes_long_lines: ClassVar[bool] = False
    """True where a whole document may stand on one line."""

    hears_torch: ClassVar[bool] = True
    """False where records are not written in the order of the lines, so that torch's own lines
    would get lost among them, or where torch does not train."""

    def __init__(self, log: Recording) -> None:
        self.log = log
        self._torch = TorchLines()

    @staticmethod
    @abstractmethod
    def sniff(line: str) -> bool:
        """Whether this line is a step record of this dialect, and of no more general one."""

    @abstractmethod
    def feed(self, number: int, line: str) -> None:
        """Take one line; `number` counts line feeds from 1."""

    def feed_block(self, number: int, text: str) -> None:
        """Take a stretch of the log that begins in line `number`: all its lines, one by one."""
        longest = math.inf if self.takes_long_lines else LONGEST_LINE
        feed = self.feeding(text)
        for line_number, line in pieces(number, text):
            if len(line) <= longest:
                feed(line_number, line)

    def feeding(self, text: str) -> Callable[[int, str], None]:
        """What takes the lines of a block: `feed`, or what looks for lines of torch first."""
        return self._feed_listening if self.hears_torch and holds_any(text) else self.feed

    def _feed_listening(self, number: int, line: str) -> None:
        kind = self._torch.told(line)
        if kind is not None and not self.sniff(line):
            self.hear(kind, number)
        self.feed(number, line)

    def hear(self, kind: EventKind, number: int) -> None:
        """Take what a line of torch marks."""
        self.log.event(kind, number)

    def finish(self) -> None:
        """Called after the last line, for readers that must see the whole log first."""
        return
