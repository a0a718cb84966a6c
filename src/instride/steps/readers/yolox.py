"""YOLOX: `2023-01-13 19:36:37.936 | INFO | .. - epoch: 2/20, iter: 10/112, mem: 4717Mb, iter_time:
0.095s, data_time: 0.001s, total_loss: 2.8, ..`, every `print_interval` iterations.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.stamped_reader import StampedReader

NUMBER = r"(\d{1,9}(?:\.\d{1,9})?|nan|inf)"
# Later versions print the memory of the machine beside that of the GPU.
RECORD = re.compile(
    r"epoch: (\d{1,7})/\d{1,7}, iter: (\d{1,9})/(\d{1,9}), (?:gpu )?mem: [^,]{1,20}, "
    rf"(?:mem: [^,]{{1,20}}, )?iter_time: {NUMBER}s, data_time: {NUMBER}s"
)


class Yolox(StampedReader):
    """The time is that of the iterations alone: evaluations and saves, which come between epochs,
    show in the timestamps. The next run writes on in the same file.
    """

    dialect: ClassVar = Dialect(
        name="yolox",
        title="YOLOX",
        sample="2026-01-02 03:04:05.678 | INFO     | yolox.core.trainer:after_iter:253 - "
        "epoch: 2/20, iter: 10/112, mem: 4717Mb, iter_time: 0.095s, data_time: 0.001s, "
        "total_loss: 2.8, lr: 1.483e-05, size: 800, ETA: 0:03:21",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )
    has_full_stamps = True
    markers: ClassVar = {
        "Save weights to ": EventKind.SAVE,
        "Evaluate in main process": EventKind.EVAL,
        "Average forward time: ": EventKind.EVAL,
        "---> start train epoch": EventKind.EPOCH,
        "Training of experiment is done": EventKind.END,
        "- args: Namespace(": EventKind.START,
        "Training start...": EventKind.START,
        "resume training": EventKind.LOAD,
        "loaded checkpoint '": EventKind.LOAD,
        "loading checkpoint for fine tuning": EventKind.LOAD,
    }

    @staticmethod
    def sniff(line: str) -> bool:
        return ", iter_time: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if ", iter_time: " in line:
            if found := RECORD.search(line):
                self._record(number, line, found)
        elif " | " in line or "Average forward" in line:
            self.take_marker(number, line)

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        epoch, iteration, num_iterations, seconds, data = found.groups()
        step = max(0, int(epoch) - 1) * int(num_iterations) + int(iteration)
        wall = self.wall(line, found.start())
        self.log.step(step, number, float(seconds), wall, float(data))
