"""LeRobot: `step:400 smpl:13K ep:40 epch:1.01 loss:2.2 grdn:49.8 lr:1.0e-05 updt_s:0.5 data_s:0.1`.

From a thousand steps on it prints `step:1K`, then `step:1K` again: the steps between are counted.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording

RECORD = re.compile(r"\bstep:(\d{1,15})([KMB]?) smpl:[^ ]{1,20} ep:[^ ]{1,20} epch:[^ ]{1,20} ")
TIME = re.compile(r"\b(updt|data|prep|step)_s:(\d{1,9}(?:\.\d{1,9})?)")
INTERVAL = re.compile(r"['\"]?log_freq['\"]?[:=] ?(\d{1,9})\b")
UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "B": 1_000_000_000}


class LeRobot(StampedReader):
    """The times are averages since the last line: of waiting for a batch, of preparing it and of
    the update, which make the step. Evaluations and saves come after the line, and are in none.
    """

    dialect: ClassVar = Dialect(
        name="lerobot",
        title="LeRobot",
        sample="INFO 2026-01-02 03:04:05 ot_train.py:357 step:400 smpl:13K ep:40 epch:1.01 "
        "loss:2.215 grdn:49.836 lr:1.0e-05 updt_s:0.504 data_s:0.083",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )
    has_full_stamps = True
    markers: ClassVar = {
        "Checkpoint policy after step ": EventKind.SAVE,
        "Eval policy at step ": EventKind.EVAL,
        ": eval_loss=": EventKind.EVAL,
        "End of training": EventKind.END,
        "Creating dataset": EventKind.START,
        "Start offline training": EventKind.START,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._interval = 0
        """Steps between two lines, by the settings or by the first lines."""
        self._last: int | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        return "step:" in line and "updt_s:" in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "updt_s:" in line:
            if found := RECORD.search(line):
                self._record(number, line, found)
        elif "log_freq" in line:
            if found := INTERVAL.search(line):
                self._interval = int(found[1])
        elif "tep" in line or "training" in line or "dataset" in line:
            self.take_marker(number, line)

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        step = self._step(int(found[1]), UNITS[found[2]])
        took = {name: float(value) for name, value in TIME.findall(line, found.end())}
        seconds = took.get("step")
        if seconds is None and "updt" in took:
            seconds = took["updt"] + took.get("prep", 0.0) + took.get("data", 0.0)
        wall = self.wall(line, found.start())
        self.log.step(step, number, seconds, wall, took.get("data"))

    def _step(self, printed: int, unit: int) -> int:
        """The step of a line: counted on from the one before, as far as what is printed allows."""
        step = printed * unit
        counted = (self._last or 0) + self._interval
        if unit > 1 and self._interval and 2 * abs(counted - step) <= unit:
            step = counted
        elif self._last is not None and step > self._last and not self._interval:
            self._interval = step - self._last
        self._last = step
        return step
