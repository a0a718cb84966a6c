"""How a trainer that nobody has heard of may write its log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

SECONDS = [2.25, 0.51, 0.5, 0.52, 0.49, 0.5, 3.75, 0.51, 0.5, 0.53, 0.5, 0.48, 0.51, 0.5]


START = datetime(2025, 3, 1, 23, 59, 57, 250000, tzinfo=UTC)


class Row(NamedTuple):
    """One record of a training, to be printed in some style."""

    n: int
    seconds: float
    elapsed: float
    loss: float

    @property
    def ms(self) -> float:
        return self.seconds * 1000

    @property
    def when(self) -> datetime:
        return START + timedelta(seconds=self.elapsed)

    @property
    def clock(self) -> str:
        whole = int(self.elapsed)
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def rows(seconds: Sequence[float] = SECONDS, steps_each: int = 1) -> list[Row]:
    elapsed = accumulate(s * steps_each for s in seconds)
    return [
        Row(n, s, e, 4.0 - 0.05 * n + 0.01 * (n % 3))
        for n, (s, e) in enumerate(zip(seconds, elapsed, strict=True))
    ]


class Style(NamedTuple):
    name: str
    line: Callable[[Row], str]
    step: Callable[[int], int]
    """The step of record n."""
    tells: str
    """What the log tells: `seconds`, `wall` or both."""
    words: str
    """A part of what the user is told."""
    header: str = ""
    within: float = 0.0006
    """How exactly times are printed."""
    every: int = 1
    """Steps between two records."""


def stamp(row: Row, form: str) -> str:
    return row.when.strftime(form)


def millis(row: Row, form: str, dot: str = ".") -> str:
    return f"{row.when.strftime(form)}{dot}{row.when.microsecond // 1000:03}"
