"""Bars of tqdm as they are drawn into a log."""

from __future__ import annotations

from instride.steps.model import Run
from instride.steps.readers.tqdm import Tqdm
from tests.unit.readers.drawing import draw
from tests.unit.readers.drawing import read as read_as


def read(lines: list[str]) -> Run:
    return read_as(Tqdm, lines)


def epoch(
    total: int, step_s: float, name: str = "train", begin: int = 0, end: int | None = None
) -> list[str]:
    """The drawings of one bar, from `begin` on; each step is drawn twice."""
    end = total if end is None else end
    drawn = [draw(begin, total, 0, name)]
    for n in range(begin + 1, end + 1):
        drawn += [draw(n, total, (n - begin) * step_s, name)] * 2
    return drawn
