"""MetricLogger of torchvision, DETR, DINO and MAE, which every project has its own copy of.

Epoch: [0/100]  [  70/1562]  eta: 0:14:25  loss: 11.02 (10.99)  time: 0.4721  data: 0.0002
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import elapsed_s, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

# DINOv2 has no epochs: `Training  [  10/125000]  eta: ..`.
PLACE = re.compile(
    r"(?:Epoch:? ?\[ {0,8}(\d{1,7})(?:/ ?\d{1,7})?\]|Training)\s{1,4}"
    r"\[ {0,12}(\d{1,9})/(\d{1,9})\]\s{1,4}eta: "
)
NUMBER = r"(\d{1,9}(?:\.\d{1,9})?|nan|inf)"
TIMES = re.compile(rf"time: {NUMBER}(?: \([\d.]{{1,20}}\))?\s{{1,4}}data: {NUMBER}")
TEST = re.compile(
    r"(?:Test|Val|Valid|Validation|Eval|Evaluation): {0,2}(?:\[\d{1,7}\] {0,2})?"
    r"(?:\s\[ {0,12}\d{1,9}/(\d{1,9})\]\s{1,4}eta: |\s?Total time: (\S{1,20})"
    rf" \({NUMBER} s / it\))"
)
WINDOW = 20
"""Iterations that a printed time is the average of."""


class MetricLogger(Reader):
    """Every pass over a loader has a clock of its own, so that what is between two epochs is in no
    time. The first iteration of an epoch is printed alone; those printed soon after it are averages
    that still hold it, and it is taken out of them again.
    """

    dialect: ClassVar = Dialect(
        name="metric-logger",
        title="MetricLogger of torchvision, DETR, DINO, MAE",
        sample="Epoch: [0/100]  [  70/1562]  eta: 0:14:25  loss: 11.0190 (10.9951)  "
        "time: 0.4721  data: 0.0002  max mem: 11482",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._first: tuple[str | None, float, float] | None = None
        """Of the first iteration of an epoch: the epoch, its time, its wait for data."""
        self._num_tests = 0
        """Batches of the test set."""

    @staticmethod
    def sniff(line: str) -> bool:
        if "eta: " not in line or (found := PLACE.search(line)) is None:
            return False
        return TIMES.search(line, found.end()) is not None

    def feed(self, number: int, line: str) -> None:
        if "eta: " in line:
            if found := PLACE.search(line):
                self._record(number, line, found)
            elif found := TEST.search(line):
                self._num_tests = int(found[1])
                mark(self.log, EventKind.EVAL, number, line, found.start())
        elif "Total time: " in line:
            self._total(number, line)
        elif "istributed" in line:
            if "| distributed init (rank 0)" in line or "Not using distributed mode" in line:
                mark_start_once(self.log, number, line, line.find("istributed"))
        elif "Found checkpoint at " in line or "Resume checkpoint " in line:
            mark(self.log, EventKind.LOAD, number, line, line.find("checkpoint"))
        elif "Training time " in line:
            mark(self.log, EventKind.END, number, line, line.find("Training time "))

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        times = TIMES.search(line, found.end())
        if times is None:
            return
        epoch, iteration, num_iterations = found[1], int(found[2]), int(found[3])
        seconds, data = float(times[1]), float(times[2])
        first = self._first
        if iteration == 0:
            self._first = epoch, seconds, data
        elif iteration < WINDOW and first is not None and first[0] == epoch:
            seconds = max(seconds + (seconds - first[1]) / iteration, 0.0)
            data = max(data + (data - first[2]) / iteration, 0.0)
        step = int(epoch or 0) * num_iterations + iteration
        self.log.step(step, number, seconds, stamp_before(line, found.start()), data)

    def _total(self, number: int, line: str) -> None:
        """The end of an epoch, or of an evaluation with what it took."""
        found = TEST.search(line)
        if found is None:
            if "Epoch: [" in line:
                mark(self.log, EventKind.EPOCH, number, line, line.find("Epoch: ["))
        elif found[2]:
            # The whole seconds of the total, or finer: the average of as many batches.
            total_s = elapsed_s(found[2])
            fine_s = float(found[3]) * self._num_tests
            if total_s is None or total_s <= fine_s < total_s + 1:
                total_s = fine_s
            mark(self.log, EventKind.EVAL, number, line, found.start(), seconds=total_s)
