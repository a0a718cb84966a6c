"""Composer: `[batch=25/100]:`, then one indented line for each value.

    [epoch=1][batch=25/100]:
         Train time/batch: 24
         Train throughput/batches_per_sec: 0.8000
         Train time/train: 0.0087
         Train time/val: 0.0000
         Train time/total: 0.0087

The clock is `time/total`, in hours unless the speed monitor was told another unit; no line says
which. The rate beside it does.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import log
from statistics import median
from typing import ClassVar

import msgspec

from instride.steps.clocks import stamp_before
from instride.steps.model import Dialect, Event, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

HEAD = re.compile(
    r"(?<![\w\]])(?:\[epoch=(\d{1,9})\])?\[(batch|sample|token|epoch|iteration)=(\d{1,18})"
    r"(?:/(\d{1,18}))?\]:?(?!\w)"
)
VALUE = re.compile(
    r"Train (time|wall_clock|throughput)/(batch|total|val|batches_per_sec): "
    r"(\d{1,18}(?:\.\d{1,9})?(?:e[-+]?\d{1,3})?)"
)
SAVING = re.compile(r"[Ss]av(?:ing|ed) (?:\w{1,20} ){0,2}checkpoint|Checkpoint locally saved to ")
LOADED = re.compile(r"Loading checkpoint from |(?:checkpoint|weights) loaded from ")
UNITS_S = (3600.0, 1.0, 60.0, 86400.0)
"""What `time/total` may count, the default first."""
DIGITS = 1e-4
"""How finely the console prints it."""
MOST_SAMPLES = 2000
"""Records that the unit of the clock is learnt from, at most."""


class Block:
    """The lines of one record."""

    def __init__(self, line: int, head: re.Match[str], wall: float | None) -> None:
        self.line, self.wall = line, wall
        self.values: dict[str, float] = {}
        epoch, self.unit, count, total = head.groups()
        before = (int(epoch) - 1) * int(total) if epoch and total else 0
        self.count = int(count) + max(0, before)

    @property
    def step(self) -> int | None:
        """Batches done; the values count those before this one, where the head counts tokens."""
        if self.unit == "batch":
            return self.count
        return int(self.values["batch"]) + 1 if "batch" in self.values else None


class Composer(Reader):
    """The clock is stopped for an evaluation, which has one of its own (`time/val`); the total has
    both. A save comes after the lines of its batch, so that it is in the time of the next one.
    """

    dialect: ClassVar = Dialect(
        name="composer",
        title="Composer",
        sample="[batch=25/100]:",
        pauses=Pauses.NEXT,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.block: Block | None = None
        self.eval_line: int | None = None
        self.last_val = 0.0
        self.samples: list[tuple[int, float, float | None]] = []
        """Step, clock without evaluations, and rate of the first records that have a clock."""

    @staticmethod
    def sniff(line: str) -> bool:
        if "[batch=" not in line and "[token=" not in line and "[sample=" not in line:
            return False
        return HEAD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "Train " in line:
            if self.block is not None and (found := VALUE.search(line)):
                self.block.values[found[2]] = float(found[3])
        elif "=" in line and "[" in line:
            if "[Eval batch=" in line:
                self._close()
                self.eval_line = number
                mark(self.log, EventKind.EVAL, number, line, line.find("[Eval batch="))
            elif found := HEAD.search(line):
                self._close()
                self.block = Block(number, found, stamp_before(line, found.start()))
        elif "heckpoint" in line:
            self._checkpoint(number, line)
        elif "Starting training" in line or "Run name: " in line:
            self._close()
            mark_start_once(self.log, number, line, len(line))

    def _checkpoint(self, number: int, line: str) -> None:
        for shape, kind in ((SAVING, EventKind.SAVE), (LOADED, EventKind.LOAD)):
            if found := shape.search(line):
                self._close()
                mark(self.log, kind, number, line, found.start())
                return

    def finish(self) -> None:
        self._close()
        run = self.log.run
        if not self.samples:
            return
        unit_s = _unit_s(self.samples)
        run.clock_is_absolute = False
        run.clock_resolution_s = unit_s * DIGITS
        for index, wall in enumerate(run.wall):
            run.wall[index] = wall * unit_s
        run.events = [
            event if event.seconds is None else _scaled(event, unit_s) for event in run.events
        ]

    def _close(self) -> None:
        """Record the block that has come to its end."""
        block, self.block = self.block, None
        if block is None or (step := block.step) is None:
            return
        total, val = block.values.get("total"), block.values.get("val", 0.0)
        if total is None:
            # Without the speed monitor, there may be timestamps in front of the lines.
            self.log.step(step, block.line, wall=None if self.samples else block.wall)
            return
        if self.eval_line is not None and val > self.last_val:
            self.log.event(EventKind.EVAL, self.eval_line, seconds=val - self.last_val)
        self.last_val, self.eval_line = val, None
        if len(self.samples) < MOST_SAMPLES:
            self.samples.append((step, total - val, block.values.get("batches_per_sec")))
        self.log.step(step, block.line, wall=total)


def _unit_s(samples: list[tuple[int, float, float | None]]) -> float:
    """What the clock counts: the unit by which it agrees best with the printed rates."""
    ratios = []
    for (before, begin, _), (step, end, rate) in pairwise(samples):
        if rate and step > before and end > begin:
            ratios.append((step - before) / rate / (end - begin))
    if not ratios:
        return UNITS_S[0]
    middle = median(ratios)
    return min(UNITS_S, key=lambda unit_s: abs(log(unit_s / middle)))


def _scaled(event: Event, unit_s: float) -> Event:
    return msgspec.structs.replace(event, seconds=(event.seconds or 0.0) * unit_s)
