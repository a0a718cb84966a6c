"""open_clip and open_lm: `Train Epoch: 4 [ 950272/3145728 (30%)] Data (t): 0.9 Batch (t): 2.4,`.

Averages over `log_every_n_steps`, counted in samples. Copied from a terminal, a record is cut into
lines of its width, wherever that falls.
"""

from __future__ import annotations

import re
from collections import Counter
from math import gcd
from typing import ClassVar

import msgspec

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.packed_steps import packed, unpacked
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

BEGINS = re.compile(r"Train Epoch: \d{1,6} ?\[ {0,20}\d{1,12}/")
# A terminal drops the blanks at the end of a line. Without what follows, a number may be cut.
# No bracket may come between: a record cut off by the next one is not mixed with it.
RECORD = re.compile(
    r"Train Epoch: (\d{1,6}) ?\[ {0,20}(\d{1,12})/(\d{1,12}) ?\([^)]{1,8}\)\][^\[\]]{0,600}?"
    r"Data ?\(t\)(:?)\s{0,4}(\d{1,9}\.\d{1,9}|nan|inf)[^()]{0,30}?"
    r"Batch ?\(t\):?\s{0,4}(\d{1,9}\.\d{1,9}|nan|inf)(?=[,\s])"
)
MOST_PIECES = 3
FIRST_VERSION_PRINTS_EVERY = 100
LAUNCHES = ("Running with a single process", "Running in distributed mode with")


class OpenClip(Reader):
    """An epoch starts its own clock, so that evaluations and saves, which come between epochs, are
    in no printed time. The first version prints every 100th step alone, and counts from 0.
    """

    dialect: ClassVar = Dialect(
        name="open-clip",
        title="open_clip, open_lm",
        sample="2026-01-02,03:04:05 | INFO | Train Epoch: 2 [ 409600/1638400 (25%)] "
        "Data (t): 0.021 Batch (t): 0.512, 8000.00/s, 1000.00/s/gpu LR: 0.000500 "
        "Logit Scale: 14.286 Contrastive_loss: 5.1 (5.3) Loss: 5.1 (5.3)",
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_resolution_s = 1.0
        self._cut: tuple[int, str, int] | None = None
        """A record whose end is on the next line: its line, its text, its number of pieces."""
        self._last = (0, 0)
        self._units: Counter[int] = Counter()
        """Samples that two records in a row have in common as a divisor: a step, as a rule."""
        self._samples_an_epoch: dict[int, int] = {}
        self._is_first_version = False

    @staticmethod
    def sniff(line: str) -> bool:
        return "Train Epoch: " in line and " (t)" in line and BEGINS.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "Train Epoch: " in line:
            self._begin(number, line)
            return
        if self._cut is not None and self._go_on(line):
            return
        if "Eval Epoch: " in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("Eval Epoch"))
        elif "tarting zero-shot" in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("tarting zero-shot"))
        elif "Start epoch " in line:
            mark(self.log, EventKind.EPOCH, number, line, line.find("Start epoch"))
        elif "Running " in line or "=> " in line:
            self._set_up(number, line)

    def _begin(self, number: int, line: str) -> None:
        self._cut = None
        if not self._record(number, line) and BEGINS.search(line):
            self._cut = number, line, 1

    def _go_on(self, line: str) -> bool:
        """Take the next piece of a record; whether it was one that ends the record's times."""
        assert self._cut is not None
        number, text, pieces = self._cut
        text += line
        if self._record(number, text):
            self._cut = None
            return True
        self._cut = (number, text, pieces + 1) if pieces + 1 < MOST_PIECES else None
        return False

    def _record(self, number: int, text: str) -> bool:
        found = RECORD.search(text)
        if found is None:
            return False
        epoch, samples = int(found[1]), int(found[2])
        self._learn(epoch, samples)
        self._samples_an_epoch.setdefault(epoch, int(found[3]))
        self._is_first_version = not found[4]
        wall = stamp_before(text, found.start())
        step = packed(epoch, samples)
        self.log.step(step, number, float(found[6]), wall, float(found[5]))
        return True

    def _learn(self, epoch: int, samples: int) -> None:
        last_epoch, last_samples = self._last
        if epoch == last_epoch and samples > last_samples:
            self._units[gcd(samples, last_samples)] += 1
        elif samples:
            # Only where nothing else is known: an epoch may have but one record.
            self._units.setdefault(samples, 0)
        self._last = epoch, samples

    def _set_up(self, number: int, line: str) -> None:
        if any(words in line for words in LAUNCHES):
            mark_start_once(self.log, number, line, line.find("Running "))
        elif "=> resuming checkpoint" in line or "=> loaded checkpoint" in line:
            mark(self.log, EventKind.LOAD, number, line, line.find("=> "))

    def finish(self) -> None:
        """Count in steps, now that it is known how many samples one has."""
        run = self.log.run
        unit = self._units.most_common(1)[0][0] if self._units else 1
        if self._is_first_version:
            run.dialect = msgspec.structs.replace(run.dialect, sampling=Sampling.EVERY_KTH)
            unit = max(1, unit // FIRST_VERSION_PRINTS_EVERY)
        for index, step in enumerate(run.step):
            epoch, samples = unpacked(step)
            steps_an_epoch = self._samples_an_epoch.get(epoch, 0) // unit
            run.step[index] = epoch * steps_an_epoch + samples // unit
