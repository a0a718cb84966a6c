"""detectron2: `[08/30 23:01:02 d2.utils.events]:  eta: ..  iter: 19  total_loss: ..  time: ..`.

Every 20 iterations. Its `time` is an average since the start and says nothing of these iterations:
the timestamps do. `metrics.json` has no timestamps, and the median of the last 20 as `"time"`.
"""

from __future__ import annotations

from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.fields import number_after, whole_after
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.stamps import PREFIX_WIDTH

LOGGER = "utils.events"
ITERATION, JSON_ITERATION = " iter: ", '"iteration": '


class Detectron2(StampedReader):
    """The clock runs only inside an iteration; evaluation and saving are hooks, outside of it."""

    dialect: ClassVar = Dialect(
        name="detectron2",
        title="detectron2",
        sample="[01/02 03:04:05 d2.utils.events]:  eta: 0:14:02  iter: 59  total_loss: 1.204  "
        "time: 0.4311  last_time: 0.4290  data_time: 0.0031  last_data_time: 0.0029  "
        "lr: 0.0012  max_mem: 4012M",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )
    markers: ClassVar = {
        "Rank of current process: ": EventKind.START,
        "Starting training from iteration ": EventKind.START,
        "Saving checkpoint to ": EventKind.SAVE,
        "Start inference on ": EventKind.EVAL,
        "Total training time: ": EventKind.END,
        "Loading checkpoint from ": EventKind.LOAD,
        "[Checkpointer] Loading from ": EventKind.LOAD,
    }

    @staticmethod
    def sniff(line: str) -> bool:
        if LOGGER in line:
            return whole_after(line, ITERATION) is not None and " lr: " in line
        return (
            JSON_ITERATION in line
            and '"data_time": ' in line
            and whole_after(line, JSON_ITERATION) is not None
            and number_after(line, '"time": ') is not None
        )

    def feed(self, number: int, line: str) -> None:
        if LOGGER in line:
            self._text(number, line)
        elif JSON_ITERATION in line:
            self._json(number, line)
        elif ("ing " in line or "inference" in line or "process: " in line) and self.marked(line):
            self.take_marker(number, line)
        elif not len(self.log.run):
            self.log.clock(self.wall(line, PREFIX_WIDTH), number)

    def _text(self, number: int, line: str) -> None:
        """One iteration's own time is `last_time`, which older versions do not print."""
        begin = line.rfind(LOGGER)
        step = whole_after(line, ITERATION, begin)
        if step is None or " lr: " not in line:
            return
        seconds = number_after(line, " last_time: ", begin)
        data = number_after(line, " data_time: ", begin)
        self.log.step(step, number, seconds, self.wall(line, begin), data)

    def _json(self, number: int, line: str) -> None:
        step = whole_after(line, JSON_ITERATION)
        seconds = number_after(line, '"time": ')
        if step is None:
            return
        if seconds is not None:
            self.log.step(step, number, seconds, data=number_after(line, '"data_time": '))
        elif "/AP" in line:
            self.log.event(EventKind.EVAL, number, step=step)
