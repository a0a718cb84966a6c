"""GPT-NeoX: `samples/sec: 55.4 | iteration 20/ 11000 | elapsed time per iteration (ms): 1300.6 |`.

Averages over `log_interval` iterations. The clock runs on through evaluations and saves. NeoX
prints no timestamps, but its DeepSpeed does, just before the record of the same step.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

RECORD = re.compile(
    r"samples/sec: [^ |]+ \| iteration +(\d{1,15})/ *\d+ \| "
    r"elapsed time per iteration \(ms\): (\d+(?:\.\d+)?|nan|inf) \|"
)
DEEPSPEED = re.compile(r"step=(\d{1,15}), skipped=")
RESULTS = re.compile(r"(?:validation|test) results at (?:iteration (\d{1,15}))?")
ARGUMENTS = "-------------------- arguments --------------------"
INITIALIZING = "> initializing torch distributed ..."


class GptNeoX(Reader):
    """The launcher prints all arguments, once, before the trainer starts."""

    dialect: ClassVar = Dialect(
        name="gpt-neox",
        title="GPT-NeoX",
        sample=" samples/sec: 51.234 | iteration       20/   11000 | elapsed time per iteration "
        "(ms): 1249.2 | learning rate: 2.727E-04 | lm_loss: 9.161360E+00 |",
        pauses=Pauses.NEXT,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._is_launched = False
        """Whether the process was announced that the next record belongs to."""
        self._deepspeed: tuple[str, float | None] = ("", None)
        """The last step that DeepSpeed printed, and when."""

    @staticmethod
    def sniff(line: str) -> bool:
        return "samples/sec: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "samples/sec: " in line:
            self._record(number, line)
        elif "heckpoint" in line:
            self._checkpoint(number, line)
        elif " results at " in line:
            self._results(number, line)
        elif ", skipped=" in line:
            self._deepspeed_step(number, line)
        elif ARGUMENTS in line or (INITIALIZING in line and not self._is_launched):
            self.log.event(EventKind.START, number, wall=stamp(line))
            self._is_launched, self._deepspeed = True, ("", None)

    def _record(self, number: int, line: str) -> None:
        found = RECORD.search(line)
        if found is None:
            return
        wall = stamp_before(line, found.start())
        if wall is None and self._deepspeed[0] == found[1]:
            wall = self._deepspeed[1]
        self.log.step(int(found[1]), number, float(found[2]) / 1e3, wall)
        self._is_launched, self._deepspeed = False, ("", None)

    def _checkpoint(self, number: int, line: str) -> None:
        if "Saving model checkpoint" in line or "is about to be saved" in line:
            kind = EventKind.SAVE
        elif "Unable to load checkpoint" in line or "Loading checkpoint and starting" in line:
            kind = EventKind.LOAD
        else:
            return
        wall = stamp(line)
        self.log.event(kind, number, wall=wall)
        self.log.clock(wall, number)

    def _results(self, number: int, line: str) -> None:
        found = RESULTS.search(line)
        if found is not None:
            step = int(found[1]) if found[1] else None
            self.log.event(EventKind.EVAL, number, wall=stamp(line), step=step)

    def _deepspeed_step(self, number: int, line: str) -> None:
        found = DEEPSPEED.search(line)
        if found is not None:
            wall = stamp_before(line, found.start())
            self._deepspeed = (found[1], wall)
            self.log.clock(wall, number)
