"""DeepSpeed: `[2023-04-18 01:46:59,142] [INFO] [..:log_dist] [Rank 0] step=10, skipped=6, lr=[..`.

Every `steps_per_print` steps, with a timestamp and no duration. The line of the throughput timer
that follows (`global_step=10, .. CurrSamplesPerSec=..`) times the last of those steps alone, so
that it says nothing of the others. The pipeline engine prints an average besides:
`steps: 10 loss: 1.2 iter time (s): 0.123 samples/sec: ..`.
"""

from __future__ import annotations

import re
from math import isnan
from typing import ClassVar

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

RECORD = re.compile(r"step=(\d{1,15}), skipped=\d+, lr=")
PIPELINE = re.compile(r"steps: (\d{1,15}) loss: ")
ITER_TIME = re.compile(r"iter time \(s\): (\d+(?:\.\d+)?|nan|inf) samples/sec: ")
SAVES = ("Saving model checkpoint", "is about to be saved!", "[Torch] Sav")
LOADS = ("[Torch] Load", "[Torch] Begin Load", "Unable to find latest file at")


class DeepSpeed(Reader):
    """The average of the pipeline engine leaves evaluations and saves out; timestamps show them."""

    dialect: ClassVar = Dialect(
        name="deepspeed",
        title="DeepSpeed",
        sample="[2026-01-02 03:04:05,678] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, "
        "skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._is_starting = True
        self._is_launched = False
        """Whether the process was announced that the next record belongs to."""
        self._saving_since: float | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        if ", skipped=" in line:
            return RECORD.search(line) is not None
        return "iter time (s): " in line and _average(line) is not None

    def feed(self, number: int, line: str) -> None:
        if ", skipped=" in line:
            self._record(number, line)
        elif "iter time (s): " in line:
            self._average(number, line)
        elif "] [" in line:
            self._engine(number, line)
        elif "Evaluating " in line:
            if "***** Evaluating " in line or "Evaluating perplexity" in line:
                self.log.event(EventKind.EVAL, number, wall=stamp(line))
        elif "saving the final model" in line:
            self.log.event(EventKind.SAVE, number, wall=stamp(line))
        elif "Beginning of Epoch " in line:
            self.log.event(EventKind.EPOCH, number, wall=stamp(line))
        elif "cmd = " in line:
            self._launch(number, line)

    def _engine(self, number: int, line: str) -> None:
        """A line of DeepSpeed's own logger, other than a record."""
        if "SamplesPerSec=" in line:
            return
        if "heckpoint" in line or "[Torch] " in line or "Unable to find latest" in line:
            self._checkpoint(number, line)
        elif "cmd = " in line or "DeepSpeed info: version=" in line:
            self._launch(number, line)
        elif self._is_starting:
            self.log.clock(stamp(line), number)

    def _record(self, number: int, line: str) -> None:
        found = RECORD.search(line)
        if found is None:
            return
        step, wall = int(found[1]), stamp_before(line, found.start())
        if step == 0:
            # The engine says so when it is built; no step has been made.
            self.log.clock(wall, number)
        elif self._was_last(step) and wall is not None and isnan(self.log.run.wall_at(-1)):
            self.log.stamp_last(wall)
        else:
            self.log.step(step, number, wall=wall)
            self._begin_interval()

    def _average(self, number: int, line: str) -> None:
        average = _average(line)
        if average is None:
            return
        step, seconds, at = average
        if self._was_last(step) and isnan(self.log.run.seconds_at(-1)):
            self.log.time_last(seconds)
        else:
            self.log.step(step, number, seconds, stamp_before(line, at))
            self._begin_interval()

    def _was_last(self, step: int) -> bool:
        """Whether the last record is of this step, in this process: two lines tell of one step."""
        run = self.log.run
        return not self._is_starting and len(run) > 0 and run.step[-1] == step

    def _begin_interval(self) -> None:
        self._is_starting = self._is_launched = False
        self._saving_since = None

    def _checkpoint(self, number: int, line: str) -> None:
        wall = stamp(line)
        if "is ready now!" in line:
            since = self._saving_since
            seconds = None if wall is None or since is None else wall - since
            self.log.event(EventKind.SAVE, number, seconds, wall)
        elif any(words in line for words in SAVES):
            self._saving_since = self._saving_since or wall
            self.log.event(EventKind.SAVE, number, wall=wall)
        elif any(words in line for words in LOADS):
            self.log.event(EventKind.LOAD, number, wall=wall)
        else:
            return
        self.log.clock(wall, number)

    def _launch(self, number: int, line: str) -> None:
        """The launcher prints its command; without it, the first engine announces the process."""
        by_launcher = "cmd = " in line and "deepspeed" in line
        if by_launcher or ("DeepSpeed info" in line and not self._is_launched):
            wall = stamp(line)
            self.log.event(EventKind.START, number, wall=wall)
            self.log.clock(wall, number)
            self._begin_interval()
            self._is_starting = self._is_launched = True


def _average(line: str) -> tuple[int, float, int] | None:
    """The step, the seconds and the place in the line of what the pipeline engine prints."""
    found = PIPELINE.search(line)
    seconds = ITER_TIME.search(line, found.end()) if found else None
    if found is None or seconds is None:
        return None
    return int(found[1]), float(seconds[1]), found.start()
