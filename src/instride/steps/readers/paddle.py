"""The trainers of the Paddle family: OCR, Clas, Seg, Detection, NLP, Rec, Video, and templates.

[2026/01/30 01:23:26] ppocr INFO: epoch: [1/200], global_step: 5, loss: 75.56, avg_reader_cost:
0.14362 s, avg_batch_cost: 0.82421 s, avg_samples: 64.0, ips: 77.65 samples/s, eta: 6:02:34
[10/20 12:00:01] ppdet.engine INFO: Epoch: [0] [  20/1562] .. batch_cost: 0.91 data_cost: 0.31 ips:
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.marking import EpochCount
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording

STEP = re.compile(r"global[_ ]step:? ?(\d{1,15})\b")
EPOCH = re.compile(
    r"[Ee]poch[ :=]{1,2}\[? {0,4}(\d{1,7})(?!\d)(?:/\d{1,7})? {0,4}\]?,?[ \]\[]{0,3}"
    r"(?:[Ii]ter|batch_id|batch|train step)?[ :=]{0,2}\[? {0,8}(\d{1,9})(?:/(\d{1,9}))?\b"
)
EVALUATED = re.compile(r"\[[Ee]val\]|\] val step:")
"""A batch of an evaluation, which is timed as one of the training is."""
INFERRING = "start load model from "
"""PaddleRec goes on like this where it tries what it trained, batch by batch."""
NUMBER = r"(\d{1,9}(?:\.\d{1,9})?|nan|inf)"
BATCH = re.compile(rf"batch_cost[:=] ?{NUMBER}")
READER = re.compile(rf"(?:reader|data)_cost[:=] ?{NUMBER}")


class Paddle(StampedReader):
    """`batch_cost` is the average of a batch since the last line, its wait for data included; the
    clock is set anew after an evaluation or a save.
    """

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="paddle",
        title="PaddleOCR, PaddleClas, PaddleSeg, PaddleDetection",
        sample="[2026/01/30 01:23:26] ppocr INFO: epoch: [1/200], global_step: 5, lr: 0.001000, "
        "loss: 75.562096, avg_reader_cost: 0.14362 s, avg_batch_cost: 0.82421 s, "
        "avg_samples: 64.0, ips: 77.65025 samples/s, eta: 6:02:34",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )
    markers: ClassVar = {
        "cur metric, ": EventKind.EVAL,
        "[Eval][Epoch ": EventKind.EVAL,
        "Start evaluating (": EventKind.EVAL,
        "[EVAL] #Images": EventKind.EVAL,
        "Eval iter: ": EventKind.EVAL,
        "Total sample number: ": EventKind.EVAL,
        "save model in ": EventKind.SAVE,
        "save best model ": EventKind.SAVE,
        "Save checkpoint: ": EventKind.SAVE,
        "[EVAL] The model with the best ": EventKind.SAVE,
        "resume from ": EventKind.LOAD,
        "Resume model from ": EventKind.LOAD,
        "Finish resuming from ": EventKind.LOAD,
        "train with paddle ": EventKind.START,
        "Environment Information----": EventKind.START,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._epochs = EpochCount()
        self._infers = False

    @staticmethod
    def sniff(line: str) -> bool:
        if "batch_cost" not in line or BATCH.search(line) is None or EVALUATED.search(line):
            return False
        return STEP.search(line) is not None or EPOCH.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "batch_cost" in line:
            self._infers = self._infers and "loss" not in line
            if self._infers or EVALUATED.search(line):
                self.tell(EventKind.EVAL, number, self.wall(line, line.find("batch_cost")))
            else:
                self._record(number, line)
        elif INFERRING in line:
            self._infers = True
        elif "INFO" in line or "----" in line:
            self.take_marker(number, line)

    def _record(self, number: int, line: str) -> None:
        batch = BATCH.search(line)
        place = STEP.search(line) or EPOCH.search(line)
        if batch is None or place is None:
            return
        wall = self.wall(line, place.start())
        seconds = None if _is_no_average(line, place) else float(batch[1])
        reader = None if seconds is None else READER.search(line)
        self.log.step(
            self._step(line, place), number, seconds, wall, float(reader[1]) if reader else None
        )

    def _step(self, line: str, place: re.Match[str]) -> int:
        if place.re is STEP:
            return int(place[1])
        epoch, iteration, num_iterations = place.groups()
        # PaddleSeg counts iterations through all epochs, out of those of the whole training.
        if "[TRAIN] epoch" in line:
            return int(iteration)
        return self._epochs.step(
            int(epoch), int(iteration), int(num_iterations) if num_iterations else None
        )


def _is_no_average(line: str, place: re.Match[str]) -> bool:
    """Whether the time is not that of the batches since the last line.

    PaddleClas averages over the whole epoch, which says little of the last batches; PaddleVideo
    prints the time of the last batch alone. PaddleRec divides that of the first batch of an epoch
    by the number of batches between two lines.
    """
    if "[Train][Epoch " in line or " train step:" in line:
        return True
    return place.re is EPOCH and place[2] == "0" and "avg_" in line
