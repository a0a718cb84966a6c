"""LitGPT: `Epoch 1 | iter 128 step 2 | loss train: 2.1, val: n/a | iter time: 310.22 ms (step)`.

Its ancestors (Lit-GPT, TinyLlama) print `iter 128 step 2: loss 2.1, iter time: 310.22ms`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark, mark_start_once

TIMED = "iter time: "
# No part may hold a bar or `iter`: a record cut off by the next one is not mixed with it.
RECORD = re.compile(
    r"iter {1,4}(\d{1,15}) step {1,4}(\d{1,15})(?: \||:) loss [^|;]{1,60}?(?: \||,) "
    r"iter time: (\d{1,12}(?:\.\d{1,9})?|nan|inf) ?(ms|s)\b"
)
EVALUATED = re.compile(
    r"(?:iter|step) (\d{1,15}): val loss [^,]{1,40}, val time: (\d{1,12}(?:\.\d{1,9})?) ?(ms|s)\b"
)
SAVING = re.compile(r"Saving (?:\w{1,20} )?(?:checkpoint|weights) to ")
LAUNCH = re.compile(
    r"Time to instantiate model: |Number of trainable parameters: |Loading model with \{"
    r"|Resuming training from "
)
UNITS = {"ms": 1e-3, "s": 1.0}


class LitGPT(Reader):
    """A record times one iteration, a micro-batch: the last one of its step, which holds the
    optimizer's work, from after its data was fetched. Evaluations and saves are in no record.
    """

    dialect: ClassVar = Dialect(
        name="litgpt",
        title="LitGPT",
        sample="Epoch 1 | iter 128 step 2 | loss train: 2.113, val: n/a | iter time: 310.22 ms "
        "(step) remaining time: 1:02:03",
        pauses=Pauses.NONE,
        sampling=Sampling.EVERY_KTH,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        return TIMED in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if TIMED in line:
            if found := RECORD.search(line):
                self._record(number, line, found)
        elif "val time: " in line:
            if found := EVALUATED.search(line):
                seconds = float(found[2]) * UNITS[found[3]]
                mark(self.log, EventKind.EVAL, number, line, found.start(), int(found[1]), seconds)
        elif "aving " in line:
            if found := SAVING.search(line):
                mark(self.log, EventKind.SAVE, number, line, found.start())
        elif ("model" in line or "trainable " in line or "training from " in line) and (
            found := LAUNCH.search(line)
        ):
            mark_start_once(self.log, number, line, found.start())
            if found[0].startswith("Resuming"):
                mark(self.log, EventKind.LOAD, number, line, found.start())

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        iteration, step, time, unit = found.groups()
        wall = stamp_before(line, found.start())
        self.log.step(int(iteration), number, float(time) * UNITS[unit], wall)
        if int(iteration) > int(step) > 0:
            self.log.note(Note("micro-batches"))
