"""PyTorch Lightning: `Epoch 0:  12%|#2        | 12/100 [00:09<01:06,  1.33it/s, v_num=3]`.

A bar of its own for every epoch, and bars of validations below it. What its CSV logger writes is
read as a table.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.bars import LONGEST_BRACKETS, parse
from instride.steps.readers.gaps import Mark
from instride.steps.readers.tqdm import Tqdm

LABEL = re.compile(r"(?:^|[\s:])Epoch \d{1,9}: {1,4}(?:\d{1,3}%|\|)")
MARKER = re.compile(
    r"global step (?P<saved>\d{1,15}): .{0,200}?, saving model to "
    r"|(?P<launch>GPU available: |You are using a CUDA device )"
    r"|(?P<load>Restor(?:ing|ed) (?:all )?states from the checkpoint )"
    r"|(?P<end>`Trainer\.fit` stopped: )"
)
HINTS = ("global step ", "available: ", "CUDA device", "states from ", "stopped: ")
"""What a line with a marker holds, and hardly any other."""
KINDS = {
    "launch": EventKind.START,
    "load": EventKind.LOAD,
    "end": EventKind.END,
}


class Lightning(Tqdm):
    """The bar's clock runs through the validations inside an epoch. What comes between the last
    step of an epoch and the next epoch is in the last drawing of the bar, which follows it.
    """

    is_general: ClassVar = False
    dialect: ClassVar = Dialect(
        name="lightning",
        title="PyTorch Lightning",
        sample="Epoch 0:  12%|#2        | 12/100 [00:09<01:06,  1.33it/s, v_num=3, loss=2.31]",
        pauses=Pauses.SMOOTHED,
        sampling=Sampling.RUNNING_TOTAL,
    )

    @staticmethod
    def sniff(line: str) -> bool:
        if "v_num=" not in line or LABEL.search(line) is None:
            return False
        return parse(line) is not None

    def feed(self, number: int, line: str) -> None:
        start = self.bars.feed(number, line)
        if start >= 0 and len(line) - start < LONGEST_BRACKETS:
            return
        if any(hint in line for hint in HINTS) and (found := MARKER.search(line)):
            self._mark(number, found)

    def _mark(self, number: int, found: re.Match[str]) -> None:
        saved = found["saved"]
        if saved is not None:
            self.bars.mark(Mark(EventKind.SAVE, number, step=int(saved)))
        elif found.lastgroup in KINDS:
            self.bars.mark(Mark(KINDS[found.lastgroup], number))
