"""A run laid out: its processes, the seconds of every interval, the events that fall into it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from math import isnan
from operator import attrgetter

from instride.explain.intervals import BLOCKING, Filling
from instride.explain.processes import Process, cut_processes
from instride.steps.model import Event, EventKind, Pauses, Run, Sampling

_begin = attrgetter("begin")


class Timeline:
    """Seconds of every interval, and the events that fall into it."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.processes = cut_processes(run)
        self.events_at: dict[int, list[Event]] = {}
        """Events by the record whose interval holds them."""
        self.closing: dict[int, list[Event]] = {}
        """Events after the last record of a process, by the index after that record."""
        self._place_events()
        self.marked = sorted(self.events_at)
        self.clock_backwards: list[int] = []
        """Records at which the wall clock went back."""
        is_printed = self._is_printed()
        self.seconds = run.seconds if is_printed else array(run.seconds.typecode, [0.0]) * len(run)
        """Wall time of the interval; of the one printed step where nothing tells more."""
        may_be_single = run.dialect.sampling in (Sampling.EVERY_STEP, Sampling.EVERY_KTH)
        self.is_single = bytearray(len(run) if may_be_single and not is_printed else 0)
        """1 where `seconds` is the time of one step although the interval has more; empty where
        that cannot be."""
        for process in self.processes:
            process.stride = self._stride(process)
        if not is_printed:
            filling = Filling(self)
            for process in self.processes:
                filling.fill(process)
        for before, process in pairwise(self.processes):
            self._fit_first(before, process)

    def num_steps(self, index: int, process: Process) -> int:
        """Steps that the interval of a record covers."""
        step = self.run.step
        if index > process.begin:
            return 1 if process.is_dense else max(1, step[index] - step[index - 1])
        sampling = self.run.dialect.sampling
        if sampling is Sampling.EVERY_STEP or (
            sampling is Sampling.EVERY_KTH
            and (index > 0 or step[index] > process.stride or self.run.wall)
        ):
            return 1
        return max(1, min(process.stride, step[index]))

    def steps_of(self, begin: int, end: int) -> int:
        """Steps that records of one process cover, from `begin` to `end` (excluded)."""
        first = self.num_steps(begin, self.process_of(begin))
        return first + self.run.step[end - 1] - self.run.step[begin]

    def timed_steps(self, index: int, process: Process) -> int:
        """Steps that `seconds` of the interval stands for."""
        if self.is_single and self.is_single[index]:
            return 1
        return self.num_steps(index, process)

    def value(self, index: int, process: Process) -> float:
        """Seconds a step, as far as this record tells."""
        return self.seconds[index] / self.timed_steps(index, process)

    def has_wall(self, index: int, process: Process) -> bool:
        """Whether the wall clock, not only a printed duration, spans the interval."""
        wall = self.run.wall
        if not wall or index <= process.begin:
            return False
        return not (isnan(wall[index]) or isnan(wall[index - 1]))

    def is_unseen(self, at: int, process: Process) -> bool:
        """Whether marked pauses lie in a step between two printed ones, by a clock that shows one.

        The first record of a process is no such case where there is a wall clock: what came
        before it is start-up.
        """
        if self.run.dialect.sampling is not Sampling.EVERY_KTH or self.has_wall(at, process):
            return False
        if at == process.begin and self.run.wall:
            return False
        before = self.run.step[at - 1] if at > process.begin else -1
        steps = {event.step for event in self.events_at[at] if event.step is not None}
        between = {step for step in steps if before < step <= self.run.step[at]}
        return bool(between) and self.run.step[at] not in between

    def process_of(self, index: int) -> Process:
        return self.processes[bisect_right(self.processes, index, key=_begin) - 1]

    def marked_between(self, begin: int, end: int) -> list[int]:
        """Records from `begin` to `end` (excluded) whose intervals hold events, in order."""
        return self.marked[bisect_left(self.marked, begin) : bisect_left(self.marked, end)]

    def _place_events(self) -> None:
        """A marker belongs to the record after it, unless the process ended in between.

        Markers between two launches belong to a process that never trained: nobody's.
        """
        first_start: dict[int, int] = {}
        last_start: dict[int, int] = {}
        for position, event in enumerate(self.run.events):
            if event.kind is EventKind.START:
                first_start.setdefault(event.at, position)
                last_start[event.at] = position
        begins = {process.begin for process in self.processes}
        last = len(self.run.events)
        for position, event in enumerate(self.run.events):
            at = event.at
            if event.kind is EventKind.AFTER_SAVE and at not in begins:
                self.events_at.setdefault(at - 1, []).append(event)
            elif event.kind not in BLOCKING:
                continue
            elif at > 0 and position < first_start.get(at, last if at == len(self.run) else 0):
                self.closing.setdefault(at, []).append(event)
            elif at < len(self.run) and position > last_start.get(at, -1):
                self.events_at.setdefault(at, []).append(event)

    def end_of_life(self, process: Process) -> float:
        """The last time seen of a process, NaN without a clock."""
        last = self.run.wall_at(process.end - 1)
        launches = [
            event.line
            for event in self.run.events
            if event.kind is EventKind.START and event.at == process.end
        ]
        for end in self.run.ends:
            is_own = end.at == process.end and (not launches or end.line < launches[0])
            if is_own and end.wall > last:
                return end.wall
        return last

    def _stride(self, process: Process) -> int:
        step = self.run.step[process.begin : min(process.end, process.begin + 20_000)]
        strides = Counter(after - before for before, after in pairwise(step))
        return max(1, strides.most_common(1)[0][0]) if strides else self._usual_stride()

    def _usual_stride(self) -> int:
        """For a process of one record: what its neighbours do."""
        strides = [process.stride for process in self.processes if len(process) > 1]
        return max(strides, default=1)

    def _is_printed(self) -> bool:
        """Whether the printed durations are all there is, for every step: nothing to work out."""
        run = self.run
        is_alone = not run.wall and run.dialect.sampling is not Sampling.TOTALS
        if not is_alone or not run.seconds or run.dialect.pauses is Pauses.NONE:
            return False
        return all(process.is_dense for process in self.processes) and not isnan(sum(run.seconds))

    def _fit_first(self, before: Process, process: Process) -> None:
        """A first record cannot have begun before the process before it ended."""
        if self.run.clock_is_absolute:
            room = self.run.wall_at(process.begin) - self.end_of_life(before)
            if 0 <= room < self.seconds[process.begin]:
                self.seconds[process.begin] = room
