"""The two clocks of a log brought together: how long the steps of each record took.

A record ends an interval of one or more steps. Its seconds come from the wall clock where the log
has one; from the printed durations otherwise, by the rule that the dialect declares. Printed
durations of a sampled log are never summed: the steps between are estimated at the baseline.
"""

from __future__ import annotations

from array import array
from math import isnan
from operator import sub
from typing import TYPE_CHECKING

from instride.explain.processes import Process
from instride.steps.model import EventKind, Pauses, Sampling

if TYPE_CHECKING:
    from instride.explain.timeline import Timeline

STRETCH = 1 << 16
"""Records that are worked on at once."""
BLOCKING = (EventKind.EVAL, EventKind.SAVE, EventKind.CLEANUP)


class Filling:
    """Writes the seconds of every interval into a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline, self.run = timeline, timeline.run
        self._average_s = self._average()

    def fill(self, process: Process) -> None:
        self._fill_first(process)
        if self.run.wall and self._fill_by_steady_wall(process):
            timed: bytearray | None = bytearray()
        else:
            timed = self._fill_by_wall(process) if self.run.wall else None
        if timed is None and self._is_plain(process):
            rest = slice(process.begin + 1, process.end)
            self.timeline.seconds[rest] = self.run.seconds[rest]
        elif timed is None or not all(timed[1:]):
            self._fill_by_print(process, timed)
        if self.run.dialect.pauses is Pauses.NONE:
            self._add_stated(process)

    def _is_plain(self, process: Process) -> bool:
        """Whether every step is there with a time of its own."""
        printed = self.run.seconds
        if not printed or self._average_s is not None or not process.is_dense:
            return False
        return not isnan(sum(printed[process.begin : process.end]))

    def _fill_by_print(self, process: Process, timed: bytearray | None) -> None:
        """Take printed durations, as the dialect says what they stand for."""
        seconds, step = self.timeline.seconds, self.run.step
        one_step = self.run.dialect.sampling in (Sampling.EVERY_STEP, Sampling.EVERY_KTH)
        for index in range(process.begin + 1, process.end):
            if timed is not None and timed[index - process.begin]:
                continue
            took = self._printed(index)
            covered = step[index] - step[index - 1]
            if isnan(took):
                seconds[index] = 0.0
            elif one_step and covered > 1:
                seconds[index] = took
                self.timeline.is_single[index] = 1
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
            self.timeline.seconds[begin:end] = array(self.timeline.seconds.typecode, between)
        return True

    def _fill_by_wall(self, process: Process) -> bytearray:
        """Take differences of the wall clock; return which records of the process have one."""
        timed = bytearray(len(process))
        seconds, wall = self.timeline.seconds, self.run.wall
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
                    self.timeline.clock_backwards.append(index)
                known = index
        return timed

    def _share_out(
        self, known: int, index: int, between: float, process: Process, timed: bytearray
    ) -> None:
        """Give records without a timestamp their part of the time between two that have one."""
        step = self.run.step
        total = max(1, step[index] - step[known])
        for each in range(known + 1, index + 1):
            self.timeline.seconds[each] = between * (step[each] - step[each - 1]) / total
            timed[each - process.begin] = 1

    def _fill_first(self, process: Process) -> None:
        """The first record has nothing before it to take a difference from."""
        index = process.begin
        took = self._printed(index)
        if isnan(took):
            self.timeline.seconds[index] = self._first_by_own_clock(index, process)
        elif self.run.dialect.sampling is Sampling.EVERY_KTH:
            self.timeline.seconds[index] = took
            self.timeline.is_single[index] = self.timeline.num_steps(index, process) > 1
        else:
            self.timeline.seconds[index] = took * self.timeline.num_steps(index, process)

    def _add_stated(self, process: Process) -> None:
        """Where the trainer stops its clock and nothing else runs, add what the log states."""
        for index, events in self.timeline.events_at.items():
            if process.begin <= index < process.end and not self.timeline.has_wall(index, process):
                self.timeline.seconds[index] += sum(event.seconds or 0.0 for event in events)

    def _printed(self, index: int) -> float:
        """The printed duration; the average where the log has nothing but totals."""
        return self.run.seconds_at(index) if self._average_s is None else self._average_s

    def _average(self) -> float | None:
        run = self.run
        if run.dialect.sampling is not Sampling.TOTALS or not run.total_s:
            return None
        stated = sum(event.seconds or 0.0 for event in run.events if event.kind in BLOCKING)
        return max(0.0, run.total_s - stated) / max(1, run.step[-1])

    def _first_by_own_clock(self, index: int, process: Process) -> float:
        """A bar's elapsed time at its first record is what the first steps took."""
        wall = self.run.wall_at(index)
        if index != process.begin or self.run.clock_is_absolute or isnan(wall):
            return 0.0
        is_resumed = index > 0
        starts_at_zero = self.run.step[index] <= 2 * process.stride
        return wall if is_resumed or starts_at_zero else 0.0
