"""modded-nanogpt: `step:250/1750 train_time:40210ms step_avg:160.84ms`, a running total."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark
from instride.steps.recording import Recording

RECORD = re.compile(
    r"step:(\d{1,18})/\d{1,18} (?:train_loss:\S{1,40} |(val)_loss:\S{1,40} )?"
    r"train_time:(\d{1,15}(?:\.\d{1,9})?)(ms|s)\b"
)
RUNNING = re.compile(r"Running [Pp]y[Tt]orch \d")
IN_MS = {"ms": 1.0, "s": 1e3}
UNTIMED = 10
"""Steps after which older versions start the total anew, to leave the compilation out."""


class ModdedNanoGPT(Reader):
    """The clock is stopped for the validation, of which `step:N/M val_loss:.. train_time:..` tells.

    That line waits for the GPU, the others do not: what it adds to the total is a backlog of the
    steps before it, and the step after it is short by as much. Hence steps are compared with steps.
    A validation counts only where it is the first to print the total after it began, or the first
    to print its step (many logs keep nothing else).
    """

    dialect: ClassVar = Dialect(
        name="modded-nanogpt",
        title="modded-nanogpt",
        sample="step:250/1750 train_time:40210ms step_avg:160.84ms",
        pauses=Pauses.NONE,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._step = 0
        self._total_ms = 0.0

    @staticmethod
    def sniff(line: str) -> bool:
        return " train_time:" in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if " train_time:" in line:
            if found := RECORD.search(line):
                self._takes(number, line, found)
        elif "Running " in line:
            if found := RUNNING.search(line):
                self._step, self._total_ms = 0, 0.0
                mark(self.log, EventKind.START, number, line, found.start())
        elif "Compiling model and warming up" in line:
            if '"Compiling' not in line:  # the log begins with the source that prints this
                mark(self.log, EventKind.COMPILE, number, line, line.find("Compiling"))
        elif "peak memory " in line and line.endswith(" MiB"):
            mark(self.log, EventKind.END, number, line, line.find("peak"))

    def _takes(self, number: int, line: str, found: re.Match[str]) -> None:
        step, total_ms = int(found[1]), float(found[3]) * IN_MS[found[4]]
        is_validation = found[2] is not None
        if step < self._step:
            self._step, self._total_ms = 0, 0.0
        if total_ms < self._total_ms:
            # The printed total is then the time of the steps since it began.
            self._step, self._total_ms = max(self._step, min(UNTIMED, step - 1)), 0.0
        if step > self._step or not is_validation:
            seconds = self._seconds_a_step(step, total_ms)
            self.log.step(step, number, seconds, stamp_before(line, found.start()))
            self._step, self._total_ms = step, total_ms
        elif not self._total_ms:
            self._total_ms = total_ms
        if is_validation:
            mark(self.log, EventKind.EVAL, number, line, found.start(), step)

    def _seconds_a_step(self, step: int, total_ms: float) -> float | None:
        """The average since the last step that was printed; none where a rank repeats that one."""
        num_steps = step - self._step
        return (total_ms - self._total_ms) / num_steps / 1e3 if num_steps else None
