"""TensorBoard: a scalar as its page exports it, `Wall time,Step,Value` or `[[wall, step, value]]`.

Any scalar will do: each value carries the time at which it was written.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.model import Dialect, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

HEADER = "Wall time,Step,Value"
ROW = re.compile(r"(\d{9,10}(?:\.\d{1,12})?(?:[eE]\+?\d{1,2})?),(\d{1,15}),[^,]{1,40}$")
POINT = re.compile(r"\[ ?(\d{9,10}(?:\.\d{1,12})?), ?(\d{1,15}), ?[^\],]{1,40}\]")
OPENING = re.compile(r"\s{0,8}\[" + POINT.pattern)


class TensorBoard(Reader):
    """The clock is that of the machine, so that it holds every pause, wherever it was."""

    takes_long_lines: ClassVar = True
    dialect: ClassVar = Dialect(
        name="tensorboard",
        title="TensorBoard scalar (CSV or JSON)",
        sample="Wall time,Step,Value",
        pauses=Pauses.NEXT,
        sampling=Sampling.RUNNING_TOTAL,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._is_csv = False

    @staticmethod
    def sniff(line: str) -> bool:
        return HEADER in line[:200] or (line[:9].lstrip()[:2] == "[[" and bool(OPENING.match(line)))

    def feed(self, number: int, line: str) -> None:
        if self._is_csv and (found := ROW.search(line[:200])):
            self._point(number, found)
        elif line[:9].lstrip()[:2] == "[[":
            for found in POINT.finditer(line):
                self._point(number, found)
        elif HEADER in line[:200]:
            self._is_csv = True

    def _point(self, number: int, found: re.Match[str]) -> None:
        self.log.step(int(found[2]), number, wall=float(found[1]))
