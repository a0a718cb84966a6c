"""Hugging Face Trainer on the terminal: one bar without a name, and printed dictionaries.

    8%|8         | 2000/24758 [1:18:25<19:24:42,  3.07s/it]
    {'loss': 1.1445, 'learning_rate': 3.98e-05, 'epoch': 0.07}
    {'eval_loss': 1.2, 'eval_runtime': 642.6, 'epoch': 0.07}

Version 5 prints the numbers as strings: `{'loss': '1.145', 'epoch': '0.07'}`.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.bar_choosing import choose
from instride.steps.readers.bar_families import Family
from instride.steps.readers.bar_reader import BarReader
from instride.steps.readers.bars import LONGEST_BRACKETS
from instride.steps.readers.gaps import Mark, Printed
from instride.steps.readers.hf_epochs import EpochSteps
from instride.steps.readers.training_bar import Replay
from instride.steps.recording import Recording

RUNTIME = re.compile(r"'(\w{1,64})_runtime': '?(\d[\d.e+]{0,20})")
SETTING = re.compile(
    r"(Total optimization steps|Num Epochs|Num update steps per epoch) = (\d[\d,]{0,14})"
)
MARKERS = (
    ("Saving model checkpoint to ", EventKind.SAVE),
    ("Deleting older checkpoint ", EventKind.CLEANUP),
    ("***** Running Evaluation *****", EventKind.EVAL),
    ("***** Running Prediction *****", EventKind.EVAL),
    ("***** Running training *****", EventKind.START),
    ("Loading model from ", EventKind.LOAD),
    ("Resuming training from ", EventKind.LOAD),
    ("Continuing training from ", EventKind.LOAD),
    ("Training completed. ", EventKind.END),
)
"""All hold `ing `, which most lines do not."""
STATE_DICT_WARNING = "Positional args are being deprecated, use kwargs instead"
"""torch warns so when a state dict is taken, which a Trainer does to save."""


class HFTrainer(BarReader):
    """In a step the Trainer first logs, then evaluates, then saves: the pause lies between this
    update of the bar and the next. The clock is the bar's, in whole seconds.
    """

    dialect: ClassVar = Dialect(
        name="hf-trainer",
        title="Hugging Face Trainer",
        sample="{'loss': 1.1445, 'grad_norm': 0.52, 'learning_rate': 3.98e-05, 'epoch': 0.07}",
        pauses=Pauses.SMOOTHED,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.printed = Printed()
        self.epochs = EpochSteps()
        self.total: int | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        return "'loss': " in line and "'epoch': " in line and "{'" in line

    def feed(self, number: int, line: str) -> None:
        start = self.bars.feed(number, line)
        if start >= 0 and len(line) - start < LONGEST_BRACKETS:
            return
        if "{'" in line:
            self._dictionary(number, line)
        elif "ing " in line:
            self._marker(number, line)
        elif " = " in line and (found := SETTING.search(line)):
            self._setting(found[1], int(found[2].replace(",", "")))

    def finish(self) -> None:
        family = self._training_bar()
        if family is not None:
            replay = Replay(self.log, self.bars, family, None, nested_is_evaluation=True)
            replay.run()
        else:
            self._finish_without_bar()

    def _training_bar(self) -> Family | None:
        """The bar is redrawn at every dictionary: one with far fewer updates is another bar."""
        family = choose(self.bars.families.values(), self.total)
        if family is None or 2 * family.num_kept < len(self.printed):
            return None
        return family

    def _finish_without_bar(self) -> None:
        """Only dictionaries: number their steps by the epochs in them, if there is one way to."""
        every = self.epochs.steps_between()
        if every is None:
            return
        for index in range(len(self.printed)):
            self.printed.step[index] = every * (index + 1)
        run = self.log.run
        run.clock_is_absolute = True
        run.clock_resolution_s = 0.0
        if not self.printed.has_walls:
            run.dialect = msgspec.structs.replace(
                run.dialect, pauses=Pauses.NONE, sampling=Sampling.TOTALS
            )
        self.log.note(Note("counted-dictionaries", {"every": every}))
        self.printed.replay(self.log)

    def _dictionary(self, number: int, line: str) -> None:
        brace = line.find("{'")
        if "'loss': " in line:
            self.printed.add(0, number, stamp_before(line, brace))
            self.epochs.add_record(line)
        elif "_runtime': " in line:
            self._runtimes(number, line)
        elif "'eval_" in line:
            self._mark(Mark(EventKind.EVAL, number))

    def _runtimes(self, number: int, line: str) -> None:
        for split, text in RUNTIME.findall(line):
            try:
                seconds = float(text)
            except ValueError:
                continue
            if split == "train":
                self.log.run.total_s = seconds
                self.epochs.add_summary(line, seconds)
                self._mark(Mark(EventKind.END, number))
            else:
                self._mark(Mark(EventKind.EVAL, number, seconds, split))

    def _marker(self, number: int, line: str) -> None:
        for text, kind in MARKERS:
            if text in line:
                self._mark(Mark(kind, number))
                return
        if STATE_DICT_WARNING in line and "torch/nn/modules/module.py" in line:
            self._mark(Mark(EventKind.SAVE, number, sure=False))

    def _setting(self, name: str, value: int) -> None:
        if name == "Total optimization steps":
            self.total = value
        self.epochs.add_setting(name, value)

    def _mark(self, mark: Mark) -> None:
        self.bars.mark(mark)
        self.printed.mark(mark)
