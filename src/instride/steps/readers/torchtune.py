"""torchtune: `1|12|Loss: 1.07:   2%|2         | 12/512 [00:28<19:20,  2.32s/it]`, a bar an epoch.

Its text logs say `Step 12 | loss:1.07 lr:2e-05 tokens_per_second_per_gpu:5123.1`: no time in them.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.bar_choosing import choose
from instride.steps.readers.bar_families import Bar
from instride.steps.readers.bar_reader import BarReader
from instride.steps.readers.bars import LONGEST_BRACKETS, parse
from instride.steps.readers.gaps import Mark, Printed
from instride.steps.readers.training_bar import Replay
from instride.steps.recording import Recording

LABEL = re.compile(r"\d{1,9}\|(\d{1,15})(?=[:|])")
NAMED_LABEL = re.compile(r"\d{1,9}\|\d{1,15}\|Loss: ")
PRINTED = re.compile(r"Step (\d{1,15}) \| loss:|\{\"step\": (\d{1,15}), \"loss\": ")
SAVED = re.compile(
    r"(?:Checkpoint saved in|Saving (?:asynchronous )?checkpoint took) (\d{1,9}\.\d{1,6}) sec"
)
SIZE = re.compile(r" checkpoint of size (\d{1,9}\.\d{1,6}) GiB saved to ")
SAVING = ("Starting checkpoint save", "Saving checkpoint", " checkpoint of size ")


class Torchtune(BarReader):
    """The description is set after the bar has moved, so only the bar's own count is true. A save
    stops the clock behind the printed tokens a second, but not the bar's.
    """

    dialect: ClassVar = Dialect(
        name="torchtune",
        title="torchtune",
        sample="1|12|Loss: 1.0712:   2%|2         | 12/512 [00:28<19:20,  2.32s/it]",
        pauses=Pauses.NONE,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.printed = Printed()

    @staticmethod
    def sniff(line: str) -> bool:
        if "|Loss: " in line:
            return NAMED_LABEL.search(line) is not None and parse(line) is not None
        return "tokens_per_second_per_gpu" in line and PRINTED.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        start = self.bars.feed(number, line)
        if start >= 0 and len(line) - start < LONGEST_BRACKETS:
            return
        if "heckpoint" in line:
            self._checkpoint(number, line)
        elif "loss" in line:
            self._loss(number, line)
        elif " with resolved config:" in line:
            self._mark(Mark(EventKind.START, number))

    def finish(self) -> None:
        families = self.bars.families.values()
        family = choose(each for each in families if NAMED_LABEL.search(each.description))
        if family is None and not self.printed:
            family = choose(families)
        if family is not None:
            Replay(self.log, self.bars, family, _steps_before).run()
        else:
            self.log.run.clock_is_absolute = True
            self.log.run.clock_resolution_s = 0.0
            self.printed.replay(self.log)

    def _checkpoint(self, number: int, line: str) -> None:
        if found := SIZE.search(line):
            self.log.size(float(found[1]) * 2**30, number)
        if found := SAVED.search(line):
            self._mark(Mark(EventKind.SAVE, number, float(found[1])))
        elif any(text in line for text in SAVING):
            self._mark(Mark(EventKind.SAVE, number))
        elif "Loading checkpoint from" in line or " loaded the " in line:
            self._mark(Mark(EventKind.LOAD, number))

    def _loss(self, number: int, line: str) -> None:
        if found := PRINTED.search(line):
            wall = stamp_before(line, found.start())
            self.printed.add(int(found[1] or found[2]), number, wall)
        elif "alidation loss: " in line or "val_loss:" in line:
            self._mark(Mark(EventKind.EVAL, number))

    def _mark(self, mark: Mark) -> None:
        self.bars.mark(mark)
        self.printed.mark(mark)


def _steps_before(bar: Bar) -> int | None:
    """Steps of the epochs before a bar: what its description counts beyond the bar itself.

    A description that is still the one of the step before counts one less.
    """
    beyond = [int(found[1]) - n for n, label in bar.labels if (found := LABEL.search(label))]
    return max(0, *beyond) if beyond else None
