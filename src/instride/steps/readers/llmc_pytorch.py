"""llm.c in PyTorch: `step   12/20 | train loss 7.1 | norm 1.2 | lr 1e-04 | (245.10 ms | ..)`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark

RECORD = re.compile(
    r"step {1,12}(\d{1,18})/\d{1,18} \| train loss [^|:]{1,40}(?:\|[^|:]{1,40}){0,4}?"
    r"\| \((\d{1,15}(?:\.\d{1,9})?) ms \| "
)
RUNNING = re.compile(r"Running pytorch \d")


class LlmCPyTorch(Reader):
    """The twin of llm.c for comparison. Its clock starts at the top of the loop, before the
    validation and the sample, which are therefore in the time of the step that is printed next.
    """

    dialect: ClassVar = Dialect(
        name="llmc-pytorch",
        title="llm.c (train_gpt2.py)",
        sample="step   12/18865 | train loss 7.104512 | norm 1.2043 | lr 1.03e-05 "
        "| (245.10 ms | 2139012 tok/s)",
        pauses=Pauses.SAME,
        sampling=Sampling.EVERY_STEP,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return " ms | " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if " ms | " in line and (found := RECORD.search(line)):
            wall = stamp_before(line, found.start())
            self.log.step(int(found[1]), number, float(found[2]) / 1e3, wall)
        elif "val loss " in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("val loss"))
        elif "---------------" in line:
            # A sample stands between two such rules.
            mark(self.log, EventKind.EVAL, number, line, line.find("---------------"))
        elif "Running pytorch " in line:
            if found := RUNNING.search(line):
                mark(self.log, EventKind.START, number, line, found.start())
        elif "iters avg: " in line:
            mark(self.log, EventKind.END, number, line, line.find("final "))
