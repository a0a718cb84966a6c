"""timm: `Train: 2 [ 200/390 ( 51%)]  Loss: ..  Time: 0.512s, 250.1/s  (0.530s, ..)  LR: ..  Data:`.

Every `log_interval` updates, with the time of the last update alone; averages over the epoch in
brackets, which are not used.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark, mark_start_once

# No bracket may come between: a record cut off by the next one is not mixed with it.
RECORD = re.compile(
    r"Train: (\d{1,6}) \[ {0,10}(\d{1,10})/(\d{1,10}) \([^)]{1,8}\)\] [^\[\]]{0,400}? "
    r"Time: (\d{1,9}\.\d{1,9}|nan|inf)s, [^(]{1,30}\([^)]{1,50}\)"
    r"(?: {1,4}LR: [^ ]{1,20} {1,4}Data: (\d{1,9}\.\d{1,9}|nan|inf) )?"
)
EVALUATING = re.compile(r"Test(?: \(EMA\))?: \[ {0,10}\d")
LAUNCHES = ("Training with a single process", "Training in distributed mode with")


class Timm(Reader):
    """An epoch starts its own clock: evaluations and saves come between epochs, in no time."""

    dialect: ClassVar = Dialect(
        name="timm",
        title="timm (PyTorch Image Models)",
        sample="Train: 2 [ 200/390 ( 51%)]  Loss: 3.21 (3.40)  Time: 0.512s,  250.10/s  "
        "(0.530s,  241.51/s)  LR: 1.000e-03  Data: 0.010 (0.020)",
        pauses=Pauses.NONE,
        sampling=Sampling.EVERY_KTH,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return "Train: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "Train: " in line:
            self._record(number, line)
        elif "Test" in line:
            if found := EVALUATING.search(line):
                mark(self.log, EventKind.EVAL, number, line, found.start())
        elif "Current checkpoints:" in line:
            mark(self.log, EventKind.SAVE, number, line, line.find("Current "))
        elif "Training " in line:
            if any(words in line for words in LAUNCHES):
                mark_start_once(self.log, number, line, line.find("Training "))
        elif "Restoring model state from checkpoint" in line:
            mark(self.log, EventKind.LOAD, number, line, line.find("Restoring "))
        elif "*** Best metric: " in line:
            mark(self.log, EventKind.END, number, line, line.find("*** "))

    def _record(self, number: int, line: str) -> None:
        found = RECORD.search(line)
        if found is None:
            return
        epoch, update, updates, seconds, data = found.groups()
        step = int(epoch) * int(updates) + int(update)
        wall = stamp_before(line, found.start())
        waited = None if data is None else float(data)
        self.log.step(step, number, float(seconds), wall, waited)
