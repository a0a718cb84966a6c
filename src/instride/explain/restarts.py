"""Restarts: the gap before a process, and the steps that were done in vain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import isnan

import msgspec

from instride.explain.processes import Process
from instride.explain.timeline import Timeline
from instride.steps.model import Clock, EventKind, Run


class Restart(msgspec.Struct):
    line: int
    resumed_at: int
    gap_s: float | None
    lost_steps: int
    lost_s: float
    """Time of the lost steps at their baseline; what slowed them down has its own owner."""
    lost: list[tuple[Process, int, int]]
    """Records that were done again: process, first, index after the last."""
    num_launches: int
    is_from_scratch: bool
    is_new_run: bool
    last_step: int
    """The last step seen before it."""
    last_line: int


def restarts(timeline: Timeline, base_s: Callable[[int, Process], float]) -> list[Restart]:
    """One entry for each process but the first."""
    kept = {id(process): process.end for process in timeline.processes}
    found = []
    for position in range(1, len(timeline.processes)):
        before, process = timeline.processes[position - 1 : position + 1]
        first = timeline.run.step[process.begin]
        resumed_after = first - timeline.num_steps(process.begin, process)
        lost = []
        if not process.is_new_run:
            lost = _lost(timeline, timeline.processes[:position], resumed_after, kept)
        again = [(index, owner) for owner, begin, end in lost for index in range(begin, end)]
        found.append(
            Restart(
                line=timeline.run.line[process.begin],
                resumed_at=first,
                gap_s=_gap(timeline, before, process),
                lost_steps=sum(timeline.num_steps(index, owner) for index, owner in again),
                lost_s=sum(
                    timeline.num_steps(index, owner) * base_s(index, owner)
                    for index, owner in again
                    if index > owner.begin or timeline.seconds[index] > 0
                ),
                lost=lost,
                num_launches=process.num_launches,
                is_from_scratch=resumed_after <= 0,
                is_new_run=process.is_new_run,
                last_step=timeline.run.step[before.end - 1],
                last_line=timeline.run.line[before.end - 1],
            )
        )
    return found


def _lost(
    timeline: Timeline, earlier: list[Process], resumed_after: int, kept: dict[int, int]
) -> list[tuple[Process, int, int]]:
    """Records of earlier processes beyond the step that was resumed from."""
    found = []
    for process in reversed(earlier):
        end = kept[id(process)]
        begin = bisect_right(timeline.run.step, resumed_after, process.begin, end)
        if begin < end:
            found.append((process, begin, end))
            kept[id(process)] = begin
        if begin > process.begin or process.is_new_run:
            break
    return found


def _gap(timeline: Timeline, before: Process, process: Process) -> float | None:
    """From the last sign of life of a process to the beginning of the next one's first step."""
    run = timeline.run
    if not run.clock_is_absolute:
        return None
    last, first = timeline.end_of_life(before), run.wall_at(process.begin)
    if isnan(last) or isnan(first):
        return None
    gap = first - timeline.seconds[process.begin] - last
    return gap if gap >= 0 else None


def vain_launches(timeline: Timeline) -> tuple[int, float]:
    """Launches after the last process that trained, and how long they kept trying."""
    run = timeline.run
    starts = sum(e.kind is EventKind.START and e.at == len(run) for e in run.events)
    if not starts or not run.ends or not run.clock_is_absolute:
        return starts, 0.0
    seconds = run.ends[-1].wall - timeline.end_of_life(timeline.processes[-1])
    return starts, seconds if seconds > 0 else 0.0


def launched(run: Run) -> Clock | None:
    """When the first process that trained was launched; the first time in the log if it is the
    first that is announced, or its announcement has no time."""
    if num_failed(run):
        last = next(e for e in reversed(run.events) if e.at == 0 and e.kind is EventKind.START)
        if last.wall is not None and run.first_clock is not None:
            return Clock(max(last.wall, run.first_clock.wall), last.line, 0)
    return run.first_clock


def num_failed(run: Run) -> int:
    """Launches before the first process that trained."""
    starts = sum(e.kind is EventKind.START and e.at == 0 and e.sure for e in run.events)
    return max(0, starts - 1)


def failed_launches(timeline: Timeline) -> tuple[int, float]:
    """Launches that came to no step before the first process that trained, and their time."""
    run = timeline.run
    begin = launched(run)
    if begin is None or run.first_clock is None or not run.clock_is_absolute:
        return num_failed(run), 0.0
    return num_failed(run), begin.wall - run.first_clock.wall
