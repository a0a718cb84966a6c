"""Ultralytics' `results.csv`: one row an epoch, with the time since the training began.

epoch,time,train/box_loss,train/cls_loss,..
1,21.4533,1.2041,2.7514,..
"""

from __future__ import annotations

import re
from math import isfinite
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

HEADER = re.compile(r"(?:^|[\s:])epoch, {0,30}time, {0,30}(?:train|val|metrics)/")
ROW = re.compile(r"(?:^|[\s:])(\d{1,9}), {0,30}(\d{1,12}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?),")


class Ultralytics(Reader):
    """An epoch is a step. Its row is written after its validation and before its save, so that a
    save is in the time of the next row. A resumed training counts its time anew.
    """

    dialect: ClassVar = Dialect(
        name="ultralytics",
        title="Ultralytics results.csv",
        sample="epoch,time,train/box_loss,train/cls_loss,metrics/mAP50(B),val/box_loss,lr/pg0",
        pauses=Pauses.SAME,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_is_absolute = False
        self._is_table = False

    @staticmethod
    def sniff(line: str) -> bool:
        return "time," in line and HEADER.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "," not in line:
            return
        if self._is_table and (found := ROW.search(line)):
            elapsed_s = float(found[2])
            if isfinite(elapsed_s):
                self.log.step(int(found[1]), number, wall=elapsed_s)
        elif self.sniff(line):
            if self._is_table and len(self.log.run):
                self.log.event(EventKind.START, number)
            self._is_table = True
