"""What readers of trainers with a progress bar have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from instride.steps.model import EventKind
from instride.steps.readers.barlog import BarLog
from instride.steps.readers.bars import PLAIN
from instride.steps.readers.dense import DenseReader
from instride.steps.readers.gaps import Mark
from instride.steps.readers.plain_bars import PlainBars
from instride.steps.recording import Recording


class BarReader(DenseReader):
    """Its clock is the bar's: whole seconds since the process began."""

    plain: ClassVar = PLAIN
    opens: ClassVar = "\r"

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_is_absolute = False
        log.run.clock_resolution_s = 1.0
        self.bars = BarLog()
        self._plain_bars = PlainBars(self.bars, self.feed)

    def feed_plain(
        self, lines: Sequence[int], fields: Sequence[list[str]], begin: int, end: int
    ) -> None:
        self._plain_bars.add(lines, fields, begin)

    def hear(self, kind: EventKind, number: int) -> None:
        self.bars.mark(Mark(kind, number))

    def feed_block(self, number: int, text: str) -> None:
        super().feed_block(number, text)
        self.bars.settle()
