"""Ordinary steps: the records that show one, gathered into blocks of one level each."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import msgspec

from instride.explain.processes import Process
from instride.explain.timeline import Timeline
from instride.steps.model import Pauses

MOST_BLOCKS = 1024
"""Long processes are judged by the medians of this many blocks of records."""
TICKS = 20
"""A clock that counts whole seconds is read over at least this many of them."""


class Block(msgspec.Struct):
    begin: int
    end: int
    level: float


class Ordinary:
    """Records that should show an ordinary step: no marker inside, not the first of the process."""

    def __init__(self, timeline: Timeline, process: Process) -> None:
        self.seconds = timeline.seconds
        self.begin = process.begin + (1 if len(process) > 2 else 0)
        self.end = process.end
        marked = timeline.marked_between(self.begin, self.end)
        is_rare = len(marked) * 4 < 3 * len(process)
        # Where nearly every record holds a marker, a marker is what ordinary looks like.
        self.marked = timeline.events_at if is_rare else {}
        # But a trainer that stops its clock for a pause has printed what a step takes without.
        stops_clock = timeline.run.dialect.pauses is Pauses.NONE
        self.is_printed = not is_rare and stops_clock and timeline.has_wall(self.end - 1, process)
        self.timeline, self.process = timeline, process

    def value(self, index: int) -> float:
        """Seconds a step, by the clock that shows an ordinary one."""
        printed = self.timeline.run.seconds_at(index)
        if self.is_printed and printed > 0:
            return printed
        return self.timeline.value(index, self.process)

    def among(self, indices: range) -> list[int]:
        begin, end, seconds, marked = self.begin, self.end, self.seconds, self.marked
        return [i for i in indices if begin <= i < end and seconds[i] > 0.0 and i not in marked]

    def stretches(self) -> Iterator[range]:
        """Records between markers. By a coarse clock, steps of no time at all are ordinary too."""
        begin = self.begin
        marked = self.timeline.marked_between(begin, self.end) if self.marked else []
        for end in (*marked, self.end):
            if end > begin:
                yield range(begin, end)
            begin = end + 1


def blocks_of(timeline: Timeline, process: Process) -> list[Block]:
    ordinary = Ordinary(timeline, process)
    resolution = timeline.run.clock_resolution_s
    is_coarse = resolution and timeline.has_wall(process.end - 1, process)
    if is_coarse and not ordinary.is_printed:
        return _ticked_blocks(timeline, process, ordinary, TICKS * resolution)
    size = max(1, len(process) // MOST_BLOCKS)
    found = []
    for begin in range(process.begin, process.end, size):
        end = min(begin + size, process.end)
        indices = ordinary.among(range(begin, end, 1 + size // 64))
        values = [ordinary.value(i) for i in indices]
        if values:
            found.append(Block(begin, end, median(values)))
    return found


def _ticked_blocks(
    timeline: Timeline, process: Process, ordinary: Ordinary, shortest_s: float
) -> list[Block]:
    """Means over long enough stretches: one tick of a coarse clock says little about a step."""
    size = max(1, len(process) // MOST_BLOCKS)
    step = timeline.run.step
    found, begin, total_s, steps, count = [], process.begin, 0.0, 0, 0
    for stretch in ordinary.stretches():
        first = stretch.start
        while first < stretch.stop:
            end = min(stretch.stop, first + max(1, size - count))
            total_s = sum(timeline.seconds[first:end], total_s)
            before = step[first - 1] if first > process.begin else step[first] - 1
            steps += step[end - 1] - before
            count += end - first
            first = end
            if total_s >= shortest_s and count >= size:
                found.append(Block(begin, end, total_s / steps))
                begin, total_s, steps, count = end, 0.0, 0, 0
    if not found and total_s > 0:
        found.append(Block(begin, process.end, total_s / steps))
    return found
