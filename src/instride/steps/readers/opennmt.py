"""OpenNMT-py: `Step 50/100000; acc: ..; ppl: ..; xent: ..; lr: ..; 6112/5950 tok/s; 4 sec`.

Every `report_every` steps, with the seconds since the process began to train.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.fields import number_after
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

RECORD = re.compile(
    r"Step {1,8}(\d{1,12})(?:/ {0,8}\d{1,12})?; (?:acc|xent)[^;]{1,40};(?: [^;]{1,60};){1,8} {1,8}"
    r"(\d{1,12}) sec\b"
)
SAVING = "Saving checkpoint "
LAUNCHES = ("Starting training on ", "Start training loop ")


class OpenNMT(Reader):
    """A record is printed before the step evaluates and saves. Timestamps are finer than the whole
    seconds of the elapsed time, which is used where there are none.
    """

    dialect: ClassVar = Dialect(
        name="opennmt-py",
        title="OpenNMT-py, Eole",
        sample="[2026-01-02 03:04:05,678 INFO] Step 50/100000; acc:   4.1; ppl: 8312.1; "
        "xent: 9.03; lr: 0.00001; 6112/5950 tok/s;      4 sec",
        pauses=Pauses.NEXT,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._has_stamps: bool | None = None
        self._evaluated_s = 0.0
        """What the log says of the evaluation since the last record, part by part."""
        self._evaluates = False

    @staticmethod
    def sniff(line: str) -> bool:
        return ("; acc" in line or "; xent" in line) and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "; acc" in line or "; xent" in line:
            self._record(number, line)
        elif "alid" in line:
            self._evaluation(number, line)
        elif " took: " in line and self._evaluates:
            self._part(number, line)
        elif SAVING in line:
            mark(self.log, EventKind.SAVE, number, line, line.find(SAVING))
        elif "Start" in line or "Loading checkpoint" in line:
            self._set_up(number, line)

    def _record(self, number: int, line: str) -> None:
        found = RECORD.search(line)
        if found is None:
            return
        wall = stamp_before(line, found.start())
        if self._has_stamps is None:
            self._has_stamps = wall is not None
            if wall is None:
                self.log.run.clock_is_absolute = False
                self.log.run.clock_resolution_s = 1.0
        if not self._has_stamps:
            wall = float(found[2])
        self.log.step(int(found[1]), number, wall=wall)
        self._evaluated_s, self._evaluates = 0.0, False

    def _evaluation(self, number: int, line: str) -> None:
        if "Validation " in line or "valid stats" in line or "valid dataset" in line:
            self._evaluates = True
            mark(self.log, EventKind.EVAL, number, line, line.find("alid"))
            if " took: " in line:
                self._part(number, line)

    def _part(self, number: int, line: str) -> None:
        """What a part took is on a line of its own; an evaluation may have several."""
        seconds = number_after(line, " took: ")
        if seconds is not None:
            self._evaluated_s += seconds
            self.log.event(EventKind.EVAL, number, self._evaluated_s)

    def _set_up(self, number: int, line: str) -> None:
        for words in LAUNCHES:
            if words in line:
                mark_start_once(self.log, number, line, line.find(words))
                return
        if "Loading checkpoint from " in line:
            mark(self.log, EventKind.LOAD, number, line, line.find("Loading "))
