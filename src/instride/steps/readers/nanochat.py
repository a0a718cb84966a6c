"""nanochat: `step 00030/21400 (0.14%) | loss: 6.1 | lrm: 1.00 | dt: 476.12ms | tok/sec: ..`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

# Mid-training and fine-tuning print no total, since they do not know it.
RECORD = re.compile(
    r"step (\d{1,18})(?:/\d{1,18})? \(\d{1,4}(?:\.\d{1,6})?%\) {1,2}\| loss: [^|]{1,40}"
    r"(?:\|[^|]{1,60}){0,6}?\| dt: (\d{1,15}(?:\.\d{1,9})?|nan|inf)ms\b"
)
EVALUATION = re.compile(r"[Ss]tep (\d{1,18}) \| (\S)")
SAVED = re.compile(r"Saved (?:model parameters|optimizer state) to: ")
TASK = re.compile(r"accuracy: \S{1,20} \| centered: \S{1,20} \| time: (\d{1,9}\.\d{1,9})s")


class NanoChat(Reader):
    """The clock is stopped outside of forward, backward and optimizer: evaluations and saves are
    in no printed time, nor in `total time`. Only the tasks of the CORE metric tell their seconds.
    """

    dialect: ClassVar = Dialect(
        name="nanochat",
        title="nanochat",
        sample="step 00030/21400 (0.14%) | loss: 6.123456 | lrm: 1.00 | dt: 476.12ms "
        "| tok/sec: 1,101,168 | bf16_mfu: 48.60 | epoch: 1 | total time: 0.15m | eta: 169.6m",
        pauses=Pauses.NONE,
        sampling=Sampling.EVERY_STEP,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._tasks_s = 0.0
        """What the tasks of the CORE metric that is being computed took so far."""

    @staticmethod
    def sniff(line: str) -> bool:
        return "| dt: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "| dt: " in line and (found := RECORD.search(line)):
            wall = stamp_before(line, found.start())
            self.log.step(int(found[1]), number, float(found[2]) / 1e3, wall)
        elif "tep " in line and (found := EVALUATION.search(line)):
            self._evaluates(number, line, found)
        elif "| centered: " in line:
            if found := TASK.search(line):
                self._tasks_s += float(found[1])
        elif "Saved " in line:
            if found := SAVED.search(line):
                mark(self.log, EventKind.SAVE, number, line, found.start())
        elif "Total training time: " in line:
            mark(self.log, EventKind.END, number, line, line.find("Total "))
        else:
            self._sets_up(number, line)

    def _evaluates(self, number: int, line: str, found: re.Match[str]) -> None:
        seconds = None
        if line.startswith("CORE metric", found.start(2)):
            seconds, self._tasks_s = self._tasks_s or None, 0.0
        mark(self.log, EventKind.EVAL, number, line, found.start(), int(found[1]), seconds)

    def _sets_up(self, number: int, line: str) -> None:
        if "Autodetected device type: " in line:
            self._launches(number, line, line.find("Autodetected"))
        elif "=> gradient accumulation steps: " in line:
            self._launches(number, line, line.find("Total batch"))
        elif "Resuming optimization from step " in line:
            where = line.find("Resuming")
            self._launches(number, line, where)
            mark(self.log, EventKind.LOAD, number, line, where)

    def _launches(self, number: int, line: str, where: int) -> None:
        self._tasks_s = 0.0
        mark_start_once(self.log, number, line, where)
