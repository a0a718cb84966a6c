"""llm.c: `step   12/18865 | loss 7.1 (+1.2z)| norm 1.2 (-0.1z)| lr 1e-04 | 2450.10 ms | ..`."""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark

# The CUDA trainer of today, and `step 1/10: train loss 4.3 (24.1 ms, 9000 tok/s)` or
# `step 1: train loss 4.3 (took 1300.5 ms)` of older versions and of the one for CPUs.
RECORD = re.compile(
    r"step {1,12}(\d{1,18})(?:/\d{1,18})?"
    r"(?: \| (?:train )?loss [^|:]{1,40}(?:\|[^|:]{1,40}){1,4}?\| |"
    r": train loss [^:|]{1,80}?\((?:took )?)"
    r"(\d{1,15}(?:\.\d{1,9})?) ms\b"
)
CHECKPOINT = re.compile(r"(Writing|Deleting) checkpoint at step (\d{1,18})")


class LlmC(Reader):
    """The time is that of the training section alone: validation, HellaSwag, samples and
    checkpoints, all before that section, are in no printed number. Its tok/s is smoothed.
    """

    dialect: ClassVar = Dialect(
        name="llmc",
        title="llm.c",
        sample="step   12/18865 | loss 7.104512 (+1.21z)| norm 1.2043 (-0.12z)| lr 1.03e-05 "
        "| 245.10 ms | 45.1% bf16 MFU | 2139012 tok/s",
        pauses=Pauses.NONE,
        sampling=Sampling.EVERY_STEP,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return " ms" in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if " ms" in line and (found := RECORD.search(line)):
            wall = stamp_before(line, found.start())
            self.log.step(int(found[1]), number, float(found[2]) / 1e3, wall)
        elif "val loss " in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("val loss"))
        elif "HellaSwag: " in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("HellaSwag"))
        elif "generating:" in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("generating"))
        elif "ing checkpoint at step " in line:
            if found := CHECKPOINT.search(line):
                kind = EventKind.SAVE if found[1] == "Writing" else EventKind.CLEANUP
                mark(self.log, kind, number, line, found.start(), int(found[2]))
        else:
            self._sets_up(number, line)

    def _sets_up(self, number: int, line: str) -> None:
        if "| Parameter  " in line:
            mark(self.log, EventKind.START, number, line, line.find("|"))
        elif "| intermediate checkpoint " in line:
            mark(self.log, EventKind.LOAD, number, line, line.find("|"))
        elif "train dataset num_batches: " in line:  # for CPUs there is no table
            mark(self.log, EventKind.START, number, line, line.find("train dataset"))
        elif "total average iteration time: " in line:
            mark(self.log, EventKind.END, number, line, line.find("total average"))
