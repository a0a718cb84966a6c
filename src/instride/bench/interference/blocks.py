"""Steps in blocks with a rival and without, compared with their neighbours."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median

import msgspec

from instride.bench.interference.names import STEP, STEPS
from instride.bench.interference.report import Trace

BEFORE_S = 1.2
"""What a trace shows before its block, where the pause is as long."""
TAIL = 0.95


class Block(msgspec.Struct, frozen=True):
    start_s: float
    end_s: float


class Inflation(msgspec.Struct, frozen=True):
    median: float
    mean: float
    p95: float
    spread: float


class Steps:
    """All steps of a training, by when they ended."""

    def __init__(self, folder: Path) -> None:
        data = (folder / STEPS).read_bytes()
        numbers = array("d", data[: len(data) // STEP.size * STEP.size])
        self.ends_s, self.seconds = numbers[::2], numbers[1::2]
        timed = zip(self.ends_s, self.seconds, strict=True)
        self._middles_s = array("d", (end_s - took_s / 2 for end_s, took_s in timed))

    def __len__(self) -> int:
        return len(self.seconds)

    def within(self, block: Block) -> list[float]:
        """Seconds of the steps whose middle lies in a block."""
        first = bisect_left(self._middles_s, block.start_s)
        return list(self.seconds[first : bisect_left(self._middles_s, block.end_s)])

    def trace(self, name: str, block: Block, rest_s: float, work_s: float) -> Trace:
        """From a while before a block on, as long as work goes on in every row."""
        first = bisect_left(self.ends_s, block.start_s - min(BEFORE_S, rest_s))
        last = bisect_left(self.ends_s, block.start_s + work_s)
        at_s = [round(end_s - block.start_s, 4) for end_s in self.ends_s[first:last]]
        return Trace(name, at_s, [round(took_s, 6) for took_s in self.seconds[first:last]])


def typical(steps: Steps, works: list[Block], rests: list[Block]) -> Block:
    """The block of work that is most like the median of them all."""
    with_it = [steps.within(block) for block in works]
    without = [steps.within(block) for block in rests]
    ratios = [_ratio(fmean, with_it, without, index) for index in range(len(works))]
    middle = median(ratios)
    return works[min(range(len(works)), key=lambda index: abs(ratios[index] - middle))]


def inflation(steps: Steps, works: list[Block], rests: list[Block]) -> Inflation | None:
    """Of each block of work over the mean of the rests before and behind it; None if a block has
    no step in it."""
    with_it = [steps.within(block) for block in works]
    without = [steps.within(block) for block in rests]
    if not all(with_it) or not all(without):
        return None
    ratios = [_ratio(median, with_it, without, index) for index in range(len(works))]
    means = [_ratio(fmean, with_it, without, index) for index in range(len(works))]
    quarters = [quantile(ratios, share) for share in (0.25, 0.75)]
    tail = quantile([took_s for each in with_it for took_s in each], TAIL)
    base_tail = quantile([took_s for each in without for took_s in each], TAIL)
    return Inflation(median(ratios), fmean(means), tail / base_tail, quarters[1] - quarters[0])


def _ratio(
    middle: Callable[[list[float]], float],
    with_it: list[list[float]],
    without: list[list[float]],
    index: int,
) -> float:
    base_s = (middle(without[index]) + middle(without[index + 1])) / 2
    return middle(with_it[index]) / base_s


def quantile(values: list[float], share: float) -> float:
    """Between the two nearest values, in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
