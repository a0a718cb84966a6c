"""build-nanogpt: `step    30 | loss: 6.0 | lr 6e-04 | norm: 1.2 | dt: 3962.06ms | tok/sec: 132`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark

# Early versions separate by commas; forks add fields, `step: 30`, `30/19073` and `train loss`.
RECORD = re.compile(
    r"step:? {1,12}(\d{1,18})(?:/\d{1,18})? ?[|,] (?:train )?loss: [^|,]{1,40}"
    r"(?:[|,][^|,]{1,60}){0,8}?[|,] {1,2}dt: (\d{1,15}(?:\.\d{1,9})?|nan|inf) ?(ms|s)\b"
)
ACCURACY = re.compile(r" accuracy: \d+/\d+ ?=")
SAMPLE = re.compile(r"rank \d+ sample \d+: ")
CHECKPOINT = re.compile(r"\b([Ss]av(?:ing|ed)|[Ll]oad(?:ing|ed)|[Rr]esum(?:ing|ed))\b")
UNITS = {"ms": 1e-3, "s": 1.0}


class BuildNanoGPT(Reader):
    """The clock starts at the top of the loop, before validation, HellaSwag, samples and the save
    (which is silent), so that all of them are in the `dt` of the step that is printed next.
    """

    dialect: ClassVar = Dialect(
        name="build-nanogpt",
        title="build-nanogpt",
        sample="step    30 | loss: 6.012345 | lr 2.6014e-05 | norm: 1.2031 | dt: 396.06ms "
        "| tok/sec: 132373.50",
        pauses=Pauses.SAME,
        sampling=Sampling.EVERY_STEP,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return " dt: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if " dt: " in line and (found := RECORD.search(line)):
            step, time, unit = found.groups()
            wall = stamp_before(line, found.start())
            self.log.step(int(step), number, float(time) * UNITS[unit], wall)
        elif "validation loss: " in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("validation"))
        elif " accuracy: " in line:
            self._evaluates(number, line, ACCURACY)
        elif " sample " in line:
            self._evaluates(number, line, SAMPLE)
        elif "heckpoint" in line:
            self._keeps(number, line)
        elif "total desired batch size: " in line:
            mark(self.log, EventKind.START, number, line, line.find("total desired"))

    def _evaluates(self, number: int, line: str, pattern: re.Pattern[str]) -> None:
        if found := pattern.search(line):
            mark(self.log, EventKind.EVAL, number, line, found.start())

    def _keeps(self, number: int, line: str) -> None:
        """Forks tell of their checkpoints; the original saves without a word."""
        if found := CHECKPOINT.search(line):
            kind = EventKind.SAVE if found[1].lower().startswith("sav") else EventKind.LOAD
            mark(self.log, kind, number, line, found.start())
