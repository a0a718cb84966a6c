"""openpi: `05:16:53.089 [I] Progress on: 7.00it/200kit rate:6.5s/it remaining:.. elapsed:02:02`.

This is how tqdm-loggable writes a bar into a log, every ten seconds; Orbax writes the checkpoints.
Counts from 1000 on are rounded to three digits, and the rate is a moving average: the timestamps
are the truth.
"""

from __future__ import annotations

import re
from math import isnan
from typing import ClassVar

from instride.steps.clocks import elapsed_s
from instride.steps.model import MISSING, Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.bars import Role, Update
from instride.steps.readers.contract import Reader
from instride.steps.readers.counted import CountedProcess
from instride.steps.readers.orbax import OrbaxSaves, Save
from instride.steps.readers.rounded import Count, rounded
from instride.steps.recording import Recording
from instride.steps.stamps import Stamps

BAR = "Progress on:"
COUNT = re.compile(
    r" (?:-|(\d[\d.]{0,12})([kMG]?)[^\s/\d.]{0,24})/\S{1,32} rate:\S{1,40} "
    r"remaining:\S{1,40} elapsed:(\d[\d:]{3,12})(?![\d:])"
)
LONGEST_NAME = 120
LONGEST_BAR = 400
MARKER = re.compile(
    r"\] (?:(?P<launch>Running on: )|(?P<load>Restoring (?:checkpoint|item) from )"
    r"|(?P<closing>Waiting for checkpoint manager to finish))"
)


class OpenPi(Reader):
    """The bar's clock runs through every pause. A save says at which step it is, and when training
    went on: that moment is a record too, so that the steps after it stand for themselves.
    """

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="openpi",
        title="openpi (JAX, Orbax)",
        sample="10:02:03.456 [I] Progress on: 1.01kit/30.0kit rate:1.9it/s remaining:4:17:22 "
        "elapsed:09:48 postfix:- (417:tqdm_logging.py:145)",
        pauses=Pauses.SAME,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.stamps = Stamps()
        self.saves = OrbaxSaves()
        self.process = CountedProcess()
        self.processes = [self.process]

    @staticmethod
    def sniff(line: str) -> bool:
        where = line.find(BAR)
        return where >= 0 and COUNT.search(line, where, where + LONGEST_BAR) is not None

    def feed(self, number: int, line: str) -> None:
        where = line.find(BAR)
        if where >= 0:
            self._bar(number, line, where)
        elif "] " in line:
            self._message(number, line)

    def finish(self) -> None:
        self._give_up_save()
        moments = [seen for process in self.processes for seen in process.seen]
        is_stamped = bool(moments) and not any(isnan(seen.stamp) for seen in moments)
        self.log.run.clock_is_absolute = is_stamped
        self.log.run.clock_resolution_s = self.stamps.resolution_s if is_stamped else 1.0
        for process in self.processes:
            process.write(self.log, is_stamped)

    def _bar(self, number: int, line: str, where: int) -> None:
        found = COUNT.search(line, where, where + LONGEST_BAR)
        if found is None:
            return
        name = line[where + len(BAR) : found.start()].strip().removesuffix(":")
        role = Update(name, 0, None, 0, "it").role
        if role is Role.EVALUATION:
            self.process.note(number, self._stamp(line, where), EventKind.EVAL)
        if role not in (Role.TRAINING, Role.OTHER):
            return
        digits, scale, elapsed = found.groups()
        count, passed = rounded(digits or "0", scale or ""), elapsed_s(elapsed)
        if count is None or passed is None:
            return
        self._give_up_save()
        if self.process.goes_back(count, passed):
            self._begin(CountedProcess())
        self.process.add(count, number, self._stamp(line, where), passed)

    def _message(self, number: int, line: str) -> None:
        if (save := self.saves.feed(number, line)) is not None:
            self._saved(number, line, save)
        elif found := MARKER.search(line):
            stamp = self._stamp(line, found.start())
            if found["launch"]:
                self._give_up_save()
                self._begin(CountedProcess(number, stamp))
            else:
                kind = EventKind.LOAD if found["load"] else EventKind.SAVE
                self.process.note(number, stamp, kind)

    def _begin(self, process: CountedProcess) -> None:
        self.process = process
        self.processes.append(process)

    def _saved(self, number: int, line: str, save: Save) -> None:
        stamp, step, process = self._stamp(line, len(line)), save.step, self.process
        if save.is_whole:
            process.note(number, stamp)
            return
        process.note(number, stamp, EventKind.SAVE, step, save.seconds)
        if step is not None and not isnan(stamp) and process.fits(step):
            last = process.seen[-1]
            passed = last.elapsed_s + max(0.0, stamp - last.stamp)
            process.add(Count(step, step, step), number, stamp, passed)

    def _give_up_save(self) -> None:
        """Training goes on, or ends, without a word on how long it waited for the save."""
        if self.saves.begun is not None:
            step, line = self.saves.begun
            self.saves.begun = None
            self.process.note(line, MISSING, EventKind.SAVE, step)

    def _stamp(self, line: str, end: int) -> float:
        stamp = self.stamps.find(line, min(end, LONGEST_NAME))
        return MISSING if stamp is None else stamp
