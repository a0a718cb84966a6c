"""verl: `step:110 - actor/lr:0.000 - .. - timing_s/save_checkpoint:17.7 - timing_s/step:34.2 - ..`.

One line a step, with the durations of its parts. They are listed in the order in which they ended:
a save or test before `timing_s/step` is inside it (until August 2025), one after it came on top.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader

STEP = re.compile(r"step:(\d{1,15}) - ")
TIMING = re.compile(
    r"timing_s/(step|testing|save_checkpoint):(?:np\.float\d+\()?(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
)
KINDS = {"testing": EventKind.EVAL, "save_checkpoint": EventKind.SAVE}


class Verl(Reader):
    """The duration of a step is given with its save and test, wherever verl counts them."""

    dialect: ClassVar = Dialect(
        name="verl",
        title="verl",
        sample="(TaskRunner pid=4321) step:7 - actor/pg_loss:0.012 - timing_s/gen:4.137 - "
        "timing_s/testing:6.277 - timing_s/step:17.653 - perf/throughput:326.485",
        pauses=Pauses.SAME,
        sampling=Sampling.EVERY_STEP,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return "timing_s/step:" in line and _step(line) is not None

    def feed(self, number: int, line: str) -> None:
        at = line.find("timing_s/")
        if at >= 0:
            self._record(number, line, at)
        elif "step:" in line:
            self._first_validation(number, line)
        elif "Total training steps: " in line:
            wall = stamp(line)
            self.log.event(EventKind.START, number, wall=wall)
            self.log.clock(wall, number)
        elif "Load from checkpoint folder: " in line or "Training from scratch" in line:
            self.log.event(EventKind.LOAD, number, wall=stamp(line))

    def _record(self, number: int, line: str, at: int) -> None:
        found = _step(line)
        parts: dict[str, str] = dict(TIMING.findall(line, at))
        if found is None or ("step" not in parts and "timing_s/step:" not in line):
            return
        step, wall = int(found[1]), stamp_before(line, found.start())
        seconds: float | None = None
        for part, text in parts.items():
            duration = float(text)
            if part == "step":
                seconds = duration
            else:
                self.log.event(KINDS[part], number, duration, wall, step)
                if seconds is not None:
                    seconds += duration
        self.log.step(step, number, seconds, wall)

    def _first_validation(self, number: int, line: str) -> None:
        """Before the first step, a line with nothing but the results of a validation."""
        found = _step(line)
        if found is not None and line.startswith("val", found.end()):
            self.log.event(EventKind.EVAL, number, wall=stamp_before(line, found.start()))


def _step(line: str) -> re.Match[str] | None:
    """The head of a line of metrics; not one of the metrics that end in `step`."""
    found = STEP.search(line)
    if found is None or (found.start() and line[found.start() - 1] in "_/"):
        return None
    return found
