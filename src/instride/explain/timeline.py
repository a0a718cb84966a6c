"""The two clocks of a log brought together: how long the steps of each record took.

A record ends an interval of one or more steps. Its seconds come from the wall clock where the log
has one; from the printed durations otherwise, by the rule that the dialect declares. Printed
durations of a sampled log are never summed: the steps between are estimated at the baseline.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from math import isnan
from operator import attrgetter, sub

from instride.explain.processes import Process, cut_processes
from instride.steps.model import Event, EventKind, Pauses, Run, Sampling

STRETCH = 1 << 16
"""Records that are worked on at once."""
BLOCKING = (EventKind.EVAL, EventKind.SAVE, EventKind.CLEANUP)

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
                self._fill(process)
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
        if not is_alone or run.dialect.pauses is Pauses.NONE:
            return False
        return all(process.is_dense for process in self.processes) and not isnan(sum(run.seconds))

    def _fill(self, process: Process) -> None:
        printed = self._printed()
        self._fill_first(process, printed)
        if self.run.wall and self._fill_by_steady_wall(process):
            timed: bytearray | None = bytearray()
        else:
            timed = self._fill_by_wall(process) if self.run.wall else None
        if timed is None and self._is_plain(process, printed):
            rest = slice(process.begin + 1, process.end)
            self.seconds[rest] = printed[rest]
        elif timed is None or not all(timed[1:]):
            self._fill_by_print(process, printed, timed)
        if self.run.dialect.pauses is Pauses.NONE:
            self._add_stated(process)

    def _is_plain(self, process: Process, printed: array[float]) -> bool:
        """Whether every step is there with a time of its own."""
        return process.is_dense and not isnan(sum(printed[process.begin : process.end]))

    def _fill_by_print(
        self, process: Process, printed: array[float], timed: bytearray | None
    ) -> None:
        """Take printed durations, as the dialect says what they stand for."""
        seconds, step = self.seconds, self.run.step
        one_step = self.run.dialect.sampling in (Sampling.EVERY_STEP, Sampling.EVERY_KTH)
        for index in range(process.begin + 1, process.end):
            if timed is not None and timed[index - process.begin]:
                continue
            took = printed[index]
            covered = step[index] - step[index - 1]
            if isnan(took):
                seconds[index] = 0.0
            elif one_step and covered > 1:
                seconds[index] = took
                self.is_single[index] = 1
            else:
                seconds[index] = took * covered

    def _fill_by_steady_wall(self, process: Process) -> bool:
        """Take differences of a wall clock that is always there; False if it is not, or falls."""
        wall = self.run.wall
        for begin in range(process.begin + 1, process.end, STRETCH):
            end = min(begin + STRETCH, process.end)
            between = array("d", map(sub, wall[begin:end], wall[begin - 1 : end - 1]))
            if min(between) < 0 or isnan(sum(between)):
                return False
            self.seconds[begin:end] = array(self.seconds.typecode, between)
        return True

    def _fill_by_wall(self, process: Process) -> bytearray:
        """Take differences of the wall clock; return which records of the process have one."""
        timed = bytearray(len(process))
        seconds, wall = self.seconds, self.run.wall
        known = process.begin
        for index in range(process.begin + 1, process.end):
            between = wall[index] - wall[known]
            if between >= 0:
                if known == index - 1:
                    seconds[index] = between
                    timed[index - process.begin] = 1
                else:
                    self._share_out(known, index, between, process, timed)
                known = index
            elif between < 0 or isnan(wall[known]):
                if between < 0:
                    self.clock_backwards.append(index)
                known = index
        return timed

    def _share_out(
        self, known: int, index: int, between: float, process: Process, timed: bytearray
    ) -> None:
        """Give records without a timestamp their part of the time between two that have one."""
        step = self.run.step
        total = max(1, step[index] - step[known])
        for each in range(known + 1, index + 1):
            self.seconds[each] = between * (step[each] - step[each - 1]) / total
            timed[each - process.begin] = 1

    def _fill_first(self, process: Process, printed: array[float]) -> None:
        """The first record has nothing before it to take a difference from."""
        index = process.begin
        took = printed[index]
        if isnan(took):
            self.seconds[index] = self._first_by_own_clock(index, process)
        elif self.run.dialect.sampling is Sampling.EVERY_KTH:
            self.seconds[index] = took
            self.is_single[index] = self.num_steps(index, process) > 1
        else:
            self.seconds[index] = took * self.num_steps(index, process)

    def _fit_first(self, before: Process, process: Process) -> None:
        """A first record cannot have begun before the process before it ended."""
        if self.run.clock_is_absolute:
            room = self.run.wall_at(process.begin) - self.end_of_life(before)
            if 0 <= room < self.seconds[process.begin]:
                self.seconds[process.begin] = room

    def _add_stated(self, process: Process) -> None:
        """Where the trainer stops its clock and nothing else runs, add what the log states."""
        for index, events in self.events_at.items():
            if process.begin <= index < process.end and not self.has_wall(index, process):
                self.seconds[index] += sum(event.seconds or 0.0 for event in events)

    def _printed(self) -> array[float]:
        """Printed durations; the average where the log has nothing but totals."""
        run = self.run
        if run.dialect.sampling is not Sampling.TOTALS or not run.total_s:
            return run.seconds
        stated = sum(event.seconds or 0.0 for event in run.events if event.kind in BLOCKING)
        average = max(0.0, run.total_s - stated) / max(1, run.step[-1])
        return array(run.seconds.typecode, [average] * len(run))

    def _first_by_own_clock(self, index: int, process: Process) -> float:
        """A bar's elapsed time at its first record is what the first steps took."""
        wall = self.run.wall_at(index)
        if index != process.begin or self.run.clock_is_absolute or isnan(wall):
            return 0.0
        is_resumed = index > 0
        starts_at_zero = self.run.step[index] <= 2 * process.stride
        return wall if is_resumed or starts_at_zero else 0.0
