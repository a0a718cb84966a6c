"""mmengine and mmcv: `Epoch(train) [1][ 50/100]  lr: ..  eta: ..  time: 0.645  data_time: 0.0087`.

Averages over the iterations since the last record, as text or as JSON lines. The JSON of mmcv does
not say how many iterations an epoch has: that is learnt from the epochs that end.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.fields import number_after, whole_after
from instride.steps.readers.packed_steps import packed, unpack_learnt
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording
from instride.steps.stamps import PREFIX_WIDTH

RECORD = re.compile(
    r"(?:Epoch(?:\(train\))? {0,8}\[ {0,6}(\d{1,6})\]\[ {0,12}(\d{1,12})/ {0,12}(\d{1,12})\]"
    r"|Iter(?:\(train\))? {0,8}\[ {0,12}(\d{1,12})/ {0,12}\d{1,12}\])\s"
)
DATA, JSON_DATA = " data_time: ", '"data_time": '
SAVING = re.compile(r"Saving checkpoint at (\d{1,12}) (epoch|iter)")


class MMEngine(StampedReader):
    """The timer starts anew before the checkpoint hook runs: where iterations are counted, saving
    and evaluating is in the next record, as time waited for data, which it is not. Where epochs
    are counted, both come between epochs, and an epoch starts the timer anew: in no record.
    """

    dialect: ClassVar = Dialect(
        name="mmengine",
        title="mmengine, mmcv (OpenMMLab)",
        sample="2026/01/02 03:04:05 - mmengine - INFO - Epoch(train)  [1][ 50/100]  "
        "lr: 1.0000e-03  eta: 0:12:30  time: 0.6450  data_time: 0.0087  memory: 3813  loss: 0.8877",
        pauses=Pauses.NEXT,
        sampling=Sampling.AVERAGE,
    )
    markers: ClassVar = {
        "(val) [": EventKind.EVAL,
        "oad checkpoint from ": EventKind.LOAD,
        "Environment info:": EventKind.START,
        "System environment:": EventKind.START,
        "Start running, host: ": EventKind.START,
        "Checkpoints will be saved to ": EventKind.START,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._is_packed: bool | None = None
        """Whether steps are an epoch and a place in it, of unknown length."""
        self._has_epochs = False

    @staticmethod
    def sniff(line: str) -> bool:
        if DATA in line:
            return RECORD.search(line) is not None and number_after(line, " time: ") is not None
        return JSON_DATA in line and _json_step(line) is not None

    def feed(self, number: int, line: str) -> None:
        if DATA in line:
            self._text(number, line)
        elif '": ' in line:
            self._json(number, line)
        elif found := SAVING.search(line) if "Saving " in line else None:
            self._saving(number, line, found)
        elif self.marked(line):
            self.take_marker(number, line)
        elif not len(self.log.run):
            self.log.clock(self.wall(line, PREFIX_WIDTH), number)

    def _text(self, number: int, line: str) -> None:
        found = RECORD.search(line)
        if found is None:
            self.take_marker(number, line)
            return
        seconds = number_after(line, " time: ", found.end())
        if seconds is None or self._is_packed:
            return
        self._is_packed = False
        epoch, place, length, iteration = found.groups()
        if iteration is None:
            self._has_epochs = True
            step = (int(epoch) - 1) * int(length) + int(place)
        else:
            step = int(iteration)
        data = number_after(line, DATA, found.end())
        self.log.step(step, number, seconds, self.wall(line, found.start()), data)

    def _json(self, number: int, line: str) -> None:
        found = _json_step(line)
        if found is None:
            if '"mode": "val"' in line or (JSON_DATA in line and '"step": ' in line):
                self.log.event(EventKind.EVAL, number)
            elif '"env_info": ' in line:
                self.tell(EventKind.START, number, None)
            return
        step, is_packed = found
        if self._is_packed in (None, is_packed):
            self._is_packed = is_packed
            seconds = number_after(line, '"time": ')
            self.log.step(step, number, seconds, data=number_after(line, JSON_DATA))
            self._has_epochs = self._has_epochs or (not is_packed and '"epoch": ' in line)

    def _saving(self, number: int, line: str, found: re.Match[str]) -> None:
        wall = self.wall(line, found.start())
        step = int(found[1]) if found[2] == "iter" else None
        self.log.event(EventKind.SAVE, number, wall=wall, step=step)
        self.log.clock(wall, number)

    def finish(self) -> None:
        super().finish()
        run = self.log.run
        if self._is_packed:
            self._has_epochs = unpack_learnt(run.step)
        if self._has_epochs:
            run.dialect = msgspec.structs.replace(run.dialect, pauses=Pauses.NONE)


def _json_step(line: str) -> tuple[int, bool] | None:
    """The step of a JSON record, and whether it still has to be counted on through the epochs."""
    iteration = whole_after(line, '"iter": ')
    if iteration is None or '"time": ' not in line:
        return None
    if '"mode": "train"' in line:
        epoch = whole_after(line, '"epoch": ')
        return None if epoch is None else (packed(epoch, iteration), True)
    if '"mode": ' in line or '"step": ' not in line:
        return None
    return iteration, False
