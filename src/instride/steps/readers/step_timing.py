"""Step Timing Log: `2025-03-01T09:30:05.250000 [Step   1200] NORMAL       | total=5250.0ms`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark
from instride.steps.recording import Recording

RECORD = re.compile(
    r"\[Step {1,12}(\d{1,18})\] ([A-Z-]{1,20}) {1,20}\| (?:\w{1,20}=[\w.-]{1,30} \| ){0,8}?"
    r"total=(\d{1,15}(?:\.\d{1,9})?|nan|inf)ms\b"
)
STAMP_WIDTH = 34
"""The longest timestamp and a space: what stands before is the prefix of a log collector."""


class StepTiming(Reader):
    """The time of a step includes a save at its end. The steps after it, and the first ones of a
    process, are labelled POST-CKPT; the step that saved is labelled NORMAL.
    """

    dialect: ClassVar = Dialect(
        name="step-timing",
        title="Step Timing Log",
        sample="2025-03-01T09:30:05.250000 [Step   1200] NORMAL       | total=5250.0ms "
        "| mode=NORMAL",
        pauses=Pauses.SAME,
        sampling=Sampling.EVERY_STEP,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._next_after_normal: int | None = None
        """The step that follows a NORMAL one; if it is POST-CKPT, the NORMAL one saved."""

    @staticmethod
    def sniff(line: str) -> bool:
        return "[Step " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "[Step " in line:
            if found := RECORD.search(line):
                self._takes(number, line, found)
        elif "# Step Timing Log" in line:
            self._next_after_normal = None
            mark(self.log, EventKind.START, number, line, line.find("#"))

    def _takes(self, number: int, line: str, found: re.Match[str]) -> None:
        step, mode = int(found[1]), found[2]
        begin = found.start()
        wall = stamp(line[max(0, begin - STAMP_WIDTH) : begin])
        if mode == "POST-CKPT" and step == self._next_after_normal:
            self.log.event(EventKind.AFTER_SAVE, number, wall=wall)
        self.log.step(step, number, float(found[3]) / 1e3, wall)
        self._next_after_normal = step + 1 if mode == "NORMAL" else None
