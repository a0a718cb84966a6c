"""MXNet's Speedometer: `Epoch[0] Batch [0-20]  Speed: 1997.40 samples/sec  accuracy=0.0133`.

The speed is that of the batches since the last line, in samples. How many a batch has is told by
the arguments, if they are printed, or by what an epoch took (`Epoch[0] Time cost=28.068`).
"""

from __future__ import annotations

import re
from statistics import median
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.marking import EpochCount
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording

# GluonCV prints `[Epoch 0][Batch 99], Speed: ..`, which is the speed of that batch alone. Sockeye
# counts updates, and tells their rate.
RECORD = re.compile(
    r"(?:Epoch|Iter) ?\[?(\d{1,7})\]? ?\[?Batch \[?(?:\d{1,9}-)?(\d{1,9})\],?\s{0,4}"
    r"Speed: (\d{1,12}(?:\.\d{1,9})?) samples/sec"
    r"(?: [\d.]{1,20} tokens/sec (\d{1,9}(?:\.\d{1,9})?) updates/sec)?"
)
TIME_COST = re.compile(r"[Tt]ime cost[=:] ?(\d{1,9}(?:\.\d{1,9})?)")
BATCH_SIZE = re.compile(r"\bbatch[_-]size[=:] ?(\d{1,7})\b")


class MXNet(StampedReader):
    """The Speedometer starts anew with an epoch, so that what is between two is in no speed."""

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="mxnet",
        title="MXNet, GluonCV, Sockeye",
        sample="INFO:root:Epoch[0] Batch [20]\tSpeed: 1997.40 samples/sec\taccuracy=0.013391",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )
    markers: ClassVar = {
        "ime cost": EventKind.EPOCH,
        "Saved checkpoint to ": EventKind.SAVE,
        "Validation-": EventKind.EVAL,
        "validation: ": EventKind.EVAL,
        "start with arguments ": EventKind.START,
        "Loaded model ": EventKind.LOAD,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._epochs = EpochCount()
        self._batch_size: int | None = None
        self._is_per_sample = False
        """Whether the seconds recorded so far are those of a sample, not of a batch."""
        self._last: tuple[str, int, float | None] | None = None
        """Epoch, batch and time of the last record."""
        self._epoch_s = 0.0
        """What the batches of this epoch would have taken with one sample each."""
        self._sizes: list[float] = []
        """Samples of a batch, by the clock or by what an epoch took."""
        self._paused_at: float | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        return "Speed: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "Speed: " in line:
            if found := RECORD.search(line):
                self._record(number, line, found)
        elif found_marker := self.marked(line):
            self._mark(number, line, *found_marker)
        elif "batch" in line:
            self._learn_batch_size(line)

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        epoch, batch = found[1], int(found[2])
        wall = self.wall(line, found.start())
        speed, updates = float(found[3]), float(found[4] or 0)
        seconds = 1 / updates if updates else 1 / speed if speed else None
        if wall is not None and line[: found.start()].endswith("["):
            seconds = None
        elif speed and not updates:
            self._is_per_sample = True
            self._compare(epoch, batch, wall, speed)
        self.log.step(self._epochs.step(int(epoch), batch), number, seconds, wall)
        self._last, self._paused_at = (epoch, batch, wall), None

    def _compare(self, epoch: str, batch: int, wall: float | None, speed: float) -> None:
        """Keep what tells the number of samples in a batch: by the speed, one takes so long."""
        num_batches = batch
        if self._last is not None and self._last[0] == epoch:
            num_batches -= self._last[1]
            before = self._last[2]
            if wall is not None and before is not None and num_batches > 0:
                self._sizes.append((wall - before) * speed / num_batches)
        else:
            self._epoch_s = 0.0
        self._epoch_s += max(0, num_batches) / speed

    def _learn_batch_size(self, line: str) -> None:
        if self._batch_size is None and (found := BATCH_SIZE.search(line)):
            self._batch_size = int(found[1]) or None

    def _mark(self, number: int, line: str, kind: EventKind, where: int) -> None:
        wall = self.wall(line, where)
        seconds = None
        if kind is EventKind.EPOCH:
            self._paused_at = wall
            found = TIME_COST.search(line)
            if found and self._epoch_s:
                self._sizes.append(float(found[1]) / self._epoch_s)
        elif kind is EventKind.START:
            self._learn_batch_size(line)
        elif self._paused_at is not None and wall is not None:
            # Both lines are printed when it is done: first the save, then the validation.
            seconds = wall - self._paused_at
            if kind is EventKind.SAVE:
                self._paused_at = wall
        self.tell(kind, number, wall, seconds)

    def finish(self) -> None:
        super().finish()
        if not self._is_per_sample:
            return
        size = self._batch_size
        if size is None and self._sizes:
            size = max(1, round(median(self._sizes)))
            self.log.note(Note("batch-size", {"size": size}))
        if size is None:
            self.log.note(Note("no-batch-size"))
            return
        seconds = self.log.run.seconds
        for index, each in enumerate(seconds):
            seconds[index] = each * size
