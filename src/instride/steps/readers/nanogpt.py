"""nanoGPT: `iter 100: loss 2.31, time 135.20ms, mfu 12.30%`, every `log_interval` iterations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.dense import DenseReader
from instride.steps.readers.stamped_events import mark, mark_start_once

# Forks print perplexity or the learning rate before the time, `time: 1.35 s`, and no `mfu`.
# No field may hold a colon but the first: a record cut off by the next one is not mixed with it.
RECORD = re.compile(
    r"iter {1,8}(\d{1,18}): loss [^,:]{1,40}(?:, \w{1,20}:? [^,:]{1,40}){0,4}?, "
    r"time:? (\d{1,15}(?:\.\d{1,9})?|nan|inf) ?(ms|s)\b"
)
PLAIN = re.compile(
    r"\niter ([0-9]{1,18}): loss [^,:\n]{1,40}, time ([0-9]{1,9}\.[0-9]{1,9})ms\b[^\n]{0,200}(?=\n)"
)
EVALUATION = re.compile(r"step (\d{1,18})(?:, tokens [\d,]{1,30})?: .{0,80}?val loss ")
SAVING = re.compile(r"[Ss]av(?:ing|ed) (?:\w{1,20} )?checkpoint to ")
LAUNCH = re.compile(r"Initializing (?:a new model from scratch|from OpenAI GPT-2 weights)")
UNITS = {"ms": 1e-3, "s": 1.0}


class NanoGPT(DenseReader):
    """The clock runs from the end of one iteration to the end of the next, so that an evaluation
    and a save, which happen at the top of iteration N, are in the time printed for N.
    """

    dialect: ClassVar = Dialect(
        name="nanogpt",
        title="nanoGPT",
        sample="iter 100: loss 2.3100, time 135.20ms, mfu 12.30%",
        pauses=Pauses.SAME,
        sampling=Sampling.EVERY_KTH,
    )

    plain: ClassVar = PLAIN

    @staticmethod
    def sniff(line: str) -> bool:
        return "iter " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "iter " in line and (found := RECORD.search(line)):
            step, time, unit = found.groups()
            wall = stamp_before(line, found.start())
            self.log.step(int(step), number, float(time) * UNITS[unit], wall)
        elif "val loss " in line:
            if found := EVALUATION.search(line):
                mark(self.log, EventKind.EVAL, number, line, found.start(), int(found[1]))
        elif " checkpoint to " in line:
            if found := SAVING.search(line):
                mark(self.log, EventKind.SAVE, number, line, found.start())
        else:
            self._sets_up(number, line)

    def feed_plain(
        self, lines: Sequence[int], fields: Sequence[list[str]], begin: int, end: int
    ) -> None:
        steps, times = (column[begin:end] for column in fields)
        unit = UNITS["ms"]
        self.log.steps(list(map(int, steps)), lines, [time * unit for time in map(float, times)])

    def _sets_up(self, number: int, line: str) -> None:
        if "tokens per iteration will be" in line:
            mark_start_once(self.log, number, line, line.find("tokens per"))
        elif "Resuming training from " in line:
            where = line.find("Resuming")
            mark_start_once(self.log, number, line, where)
            mark(self.log, EventKind.LOAD, number, line, where)
        elif "Initializing " in line:
            if found := LAUNCH.search(line):
                mark_start_once(self.log, number, line, found.start())
        elif "compiling the model" in line:
            mark(self.log, EventKind.COMPILE, number, line, line.find("compiling"))
