"""Weights & Biases: the history of a run, with `_step`, `_runtime` and `_timestamp`.

    {"_step": 120, "_runtime": 63.1, "_timestamp": 1700000063.1, "train/loss": 2.1}

As lines of JSON, or as a table with these columns. `_step` counts what was logged; where a trainer
logs its own step beside it, that one is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import ClassVar

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.guess_table import split
from instride.steps.recording import Recording

OBJECT = re.compile(r'"_step": ?\d')
HEADER = re.compile(r'(?:^|[,\s])"?_step"?(?:,|\s{0,2}$)')
STEPS = ("train/global_step", "trainer/global_step", "global_step", "_step")
"""Where the step is, the best first: the first one that is seen is kept to."""
EVALUATION = re.compile(r"(?:eval|val|valid|validation|test)[/_]\w")
TOOK = re.compile(r"(?:eval|val|valid|validation|test)[/_]runtime")


class Wandb(Reader):
    """A row is written when the trainer logs, so that an evaluation is in the time before the row
    that follows it. Some trainers give it a row of its own, which says how long it took.
    """

    dialect: ClassVar = Dialect(
        name="wandb",
        title="Weights & Biases history (JSON lines or CSV)",
        sample='{"_step": 120, "_runtime": 63.1, "_timestamp": 1700000063.1, "train/loss": 2.1}',
        pauses=Pauses.NEXT,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._columns: list[str] = []
        self._step_name = self._clock_name = ""
        self._last: int | None = None
        self._has_plain_rows = False
        """Some rows have no evaluation: then those that have one tell of it."""

    @staticmethod
    def sniff(line: str) -> bool:
        if "_step" not in line or ("_runtime" not in line and "_timestamp" not in line):
            return False
        if '"_step":' in line:
            return "{" in line and OBJECT.search(line) is not None
        return HEADER.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if '"_step":' in line:
            self._row(number, _object(line))
        elif self._columns and "," in line:
            cells = split(line, ",")
            if len(cells) == len(self._columns) and cells != self._columns:
                self._row(number, {k: v for k, v in zip(self._columns, cells, strict=True) if v})
        elif self.sniff(line):
            self._columns = split(line, ",")

    def _row(self, number: int, row: Mapping[str, object]) -> None:
        self._learn(row)
        step, wall = _number(row.get(self._step_name)), _number(row.get(self._clock_name))
        if step is None:
            return
        evaluated = [name for name in row if EVALUATION.match(name)]
        if evaluated and self._has_plain_rows:
            took = [_number(row[name]) for name in evaluated if TOOK.fullmatch(name)]
            seconds = sum(each for each in took if each is not None) or None
            stamp = wall if self.log.run.clock_is_absolute else None
            self.log.event(EventKind.EVAL, number, seconds, stamp, int(step))
        self._has_plain_rows = self._has_plain_rows or not evaluated
        if step == self._last:
            self.log.clock(wall, number)
            return
        self._last = int(step)
        self.log.step(self._last, number, wall=wall)

    def _learn(self, row: Mapping[str, object]) -> None:
        """Which names hold the step and the clock, from the first row that has them."""
        if not self._step_name:
            self._step_name = next((name for name in STEPS if name in row), "")
        if not self._clock_name:
            clocks = (name for name in ("_timestamp", "_runtime") if name in row)
            self._clock_name = next(clocks, "")
            self.log.run.clock_is_absolute = self._clock_name != "_runtime"


def _object(line: str) -> Mapping[str, object]:
    """The row in a line; none if it is mangled."""
    try:
        row = json.loads(line[line.find("{") :])
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _number(value: object) -> float | None:
    """A number that a clock or a counter may show."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and 0 <= number < 1e15 else None
