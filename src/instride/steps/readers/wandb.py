"""Weights & Biases: the history of a run, with `_step`, `_runtime` and `_timestamp`.

    {"_step": 120, "_runtime": 63.1, "_timestamp": 1700000063.1, "train/loss": 2.1}

As lines of JSON, or as a table with these columns. `_step` counts what was logged; where a trainer
logs its own step beside it, that one is taken. Else the rows of what is logged most often are the
steps: a program that logs a reward, then an average, then a video makes three rows of one step.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Mapping
from math import isfinite, isnan
from typing import ClassVar

from instride.steps.model import MISSING, Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.guess_table import split
from instride.steps.recording import Recording

OBJECT = re.compile(r'"_step": ?\d')
HEADER = re.compile(r'(?:^|[,\s])"?_step"?(?:,|\s{0,2}$)')
STEPS = ("train/global_step", "trainer/global_step", "global_step", "_step")
"""Where the step is, the best first: the first one that is seen is kept to."""
EVALUATION = re.compile(r"(?:eval|val|valid|validation|test)[/_]\w")
TOOK = re.compile(r"(?:eval|val|valid|validation|test)[/_]runtime")
MOST_SHAPES = 1000
"""Sets of names that are told apart; a run that logs more kinds of rows has no usual one."""


class Rows:
    """The rows of a history, kept until it is known which of them are steps."""

    def __init__(self) -> None:
        self.step = array("q")
        self.line = array("q")
        self.wall = array("d")
        self.shape = array("H")
        self.evaluated: dict[int, float | None] = {}
        """Rows with an evaluation, and what it took if they say so."""
        self._shapes: dict[frozenset[str], int] = {}

    def add(self, step: int, line: int, wall: float | None, names: frozenset[str]) -> None:
        if len(self._shapes) < MOST_SHAPES:
            self._shapes.setdefault(names, len(self._shapes))
        self.step.append(step)
        self.line.append(line)
        self.wall.append(MISSING if wall is None else wall)
        self.shape.append(self._shapes.get(names, 0))

    def usual_shapes(self) -> set[int]:
        """Those with the name that most rows have, and rows that name nothing."""
        counts: Counter[str] = Counter()
        frequency = Counter(self.shape)
        for names, index in self._shapes.items():
            for name in names:
                counts[name] += 0 if EVALUATION.match(name) else frequency[index]
        main = max(counts, key=lambda name: (counts[name], name), default=None)
        return {index for names, index in self._shapes.items() if not names or main in names}


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
        self._rows = Rows()

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
        if evaluated:
            took = [_number(row[name]) for name in evaluated if TOOK.fullmatch(name)]
            seconds = sum(each for each in took if each is not None) or None
            self._rows.evaluated[len(self._rows.step)] = seconds
        names = frozenset(name for name in row if name[:1] != "_" and name not in STEPS)
        self._rows.add(int(step), number, wall, names)

    def finish(self) -> None:
        rows = self._rows
        is_count_of_rows = self._step_name == "_step"
        shapes = rows.usual_shapes() if is_count_of_rows else set()
        last: int | None = None
        # Evaluations tell something only beside rows that have none.
        has_plain_rows = False
        for index, (step, line, wall) in enumerate(
            zip(rows.step, rows.line, rows.wall, strict=True)
        ):
            stamp = None if isnan(wall) else wall
            if index in rows.evaluated and has_plain_rows:
                when = stamp if self.log.run.clock_is_absolute else None
                self.log.event(EventKind.EVAL, line, rows.evaluated[index], when, step)
            has_plain_rows = has_plain_rows or index not in rows.evaluated
            if step == last or (is_count_of_rows and rows.shape[index] not in shapes):
                self.log.clock(stamp, line)
                continue
            last = step
            self.log.step(step, line, wall=stamp)

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
