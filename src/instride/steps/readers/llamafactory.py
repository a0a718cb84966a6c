"""LLaMA-Factory's `trainer_log.jsonl`: every k steps a line with the time since the start.

{"current_steps": 5, "total_steps": 2178, "loss": 2.34, "elapsed_time": "0:32:48", ..}
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.notes import Note
from instride.steps.readers.bar_families import Family
from instride.steps.readers.barlog import BarLog
from instride.steps.readers.bars import Role, seconds
from instride.steps.readers.contract import Reader
from instride.steps.readers.gaps import Mark
from instride.steps.readers.training_bar import Replay
from instride.steps.recording import Recording

STEPS = re.compile(r'"current_steps": ?(\d{1,9}), ?"total_steps": ?(\d{1,9})')
ELAPSED = re.compile(r'"elapsed_time": ?"((?:\d{1,5} days?, )?\d{1,6}:\d\d:\d\d)"')
TRAINED = re.compile(r'"loss":(?! ?null)')
EVALUATED = re.compile(r'"(?:eval|predict)_loss":(?! ?null)')


class LlamaFactory(Reader):
    """A line is written when the Trainer logs, before it evaluates and saves: a pause is in the
    time up to the next line. A resumed run counts its time anew; two jobs may write to one file.
    """

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="llama-factory",
        title="LLaMA-Factory trainer_log.jsonl",
        sample='{"current_steps": 5, "total_steps": 2178, "loss": 2.3475, "lr": 1.8e-06, '
        '"epoch": 0.0023, "percentage": 0.23, "elapsed_time": "0:32:48", '
        '"remaining_time": "9 days, 21:39:23"}',
        pauses=Pauses.NEXT,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_is_absolute = False
        log.run.clock_resolution_s = 1.0
        self.writers = BarLog(is_drawn=False)
        self.family = Family("", None, Role.TRAINING)
        self.writers.families["", ""] = self.family
        self.total = ""

    @staticmethod
    def sniff(line: str) -> bool:
        return '"current_steps"' in line and STEPS.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if '"elapsed_time"' not in line:
            return
        steps, time = STEPS.search(line), ELAPSED.search(line)
        if steps is None or time is None:
            return
        step, elapsed, last = int(steps[1]), seconds(time[1]), self.family.bar
        if '_loss": ' in line and EVALUATED.search(line):
            is_begun = last is not None and last.n == step and elapsed >= last.elapsed_s
            # The line before, of the same step, was written as the evaluation began.
            took = elapsed - last.elapsed_s if is_begun and last is not None else None
            self.writers.mark(Mark(EventKind.EVAL, number, took, str(number), step=step))
            if not is_begun:
                return
        elif TRAINED.search(line):
            self.total = steps[2]
        elif self.total not in ("", steps[2]):
            return  # Progress of an evaluation or prediction that a later command made.
        self.writers.put(self.family, step, elapsed, number)

    def finish(self) -> None:
        if self.family.bars:
            Replay(self.log, self.writers, self.family, None).run()
            if self.log.run.num_duplicates:
                self.log.note(Note("first-job"))
