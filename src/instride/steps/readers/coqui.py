"""Coqui TTS and its Trainer: a block of lines every `print_step` steps.

--> TIME: 2026-01-02 03:04:05 -- STEP: 24/406 -- GLOBAL_STEP: 1025
  | > loss: 0.2041  (0.2113)
  | > step_time: 1.3021  (1.2987)
  | > loader_time: 0.0121  (0.0114)
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording

# Older versions print no time.
HEADER = re.compile(r"STEP: \d{1,12}/-?\d{1,12} -- GLOBAL_STEP: (\d{1,15})")
TIME = re.compile(r"\| > (step|loader)_time: (\d{1,9}(?:\.\d{1,9})?)")


class Coqui(StampedReader):
    """The time of a step leaves out the wait for its batch, which is printed beside it: both make
    the step. Evaluations and saves are in neither.
    """

    dialect: ClassVar = Dialect(
        name="coqui",
        title="Coqui TTS Trainer",
        sample="   --> TIME: 2026-01-02 03:04:05 -- STEP: 24/406 -- GLOBAL_STEP: 1025",
        pauses=Pauses.NONE,
        sampling=Sampling.EVERY_KTH,
    )
    has_full_stamps = True
    markers: ClassVar = {
        "> EVALUATION": EventKind.EVAL,
        "--> EVAL PERFORMANCE": EventKind.EVAL,
        "> BEST MODEL : ": EventKind.SAVE,
        "> CHECKPOINT : ": EventKind.SAVE,
        "> EPOCH: ": EventKind.EPOCH,
        "> Training Environment": EventKind.START,
        "> Restoring from ": EventKind.LOAD,
        "> Model restored from step ": EventKind.LOAD,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._header: tuple[int, int, float | None] | None = None
        """Step, line and time of the block that is being read."""
        self._times: dict[str, float] = {}

    @staticmethod
    def sniff(line: str) -> bool:
        return " -- GLOBAL_STEP: " in line and HEADER.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "| > " in line:
            if "_time: " in line and (found := TIME.search(line)):
                self._times.setdefault(found[1], float(found[2]))
        elif " -- GLOBAL_STEP: " in line:
            self._record()
            if found := HEADER.search(line):
                self._header = int(found[1]), number, self.wall(line, found.start())
        elif "> TRAINING (" in line:
            self._record()
            self.log.clock(stamp(line), number)
        elif "> " in line and (marked := self.marked(line)):
            self._record()
            self.tell(marked[0], number, self.wall(line, marked[1]))

    def _record(self) -> None:
        """Record the block that ended before this line."""
        times, self._times = self._times, {}
        if self._header is None:
            return
        step, number, wall = self._header
        own, data = times.get("step"), times.get("loader")
        seconds = None if own is None else own + (data or 0.0)
        self.log.step(step, number, seconds, wall, data)
        self._header = None

    def finish(self) -> None:
        self._record()
        super().finish()
