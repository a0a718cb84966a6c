"""Processes: a run cut where it was started anew."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from instride.steps.model import EventKind, Run


class Process:
    """One process of the run: records `begin` to `end` (excluded), nothing started anew inside."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.stride = 1
        """Steps from one record to the next, usually."""
        self.num_launches = 1
        """How often a process was started since the last one that trained."""
        self.is_new_run = False
        """The process before this one had finished its training."""

    def __len__(self) -> int:
        return self.end - self.begin


def cut_processes(run: Run) -> list[Process]:
    """Cut where the step or a process's own clock goes back, or where a launch is announced."""
    starts: Counter[int] = Counter()
    ends: set[int] = set()
    for event in run.events:
        if event.kind is EventKind.START:
            starts[event.at] += event.sure
        elif event.kind is EventKind.END:
            ends.add(event.at)
    cuts = {at for at in starts if 0 < at < len(run)}
    step, wall = run.step, run.wall
    own_clock = bool(wall) and not run.clock_is_absolute
    for index in range(1, len(run)):
        if step[index] <= step[index - 1] or (own_clock and wall[index] < wall[index - 1]):
            cuts.add(index)
    borders = [0, *sorted(cuts), len(run)]
    processes = []
    for begin, end in pairwise(borders):
        process = Process(begin, end)
        process.num_launches = max(1, starts[begin])
        process.is_new_run = begin in ends
        processes.append(process)
    _tell_new_runs(run, processes)
    return processes


def _tell_new_runs(run: Run, processes: list[Process]) -> None:
    """Runs that start at the beginning and end at the same step are experiments, not crashes."""
    lasts = Counter(run.step[process.end - 1] for process in processes)
    firsts = Counter(run.step[process.begin] for process in processes)
    for before, process in pairwise(processes):
        is_from_scratch = run.step[process.begin] == min(firsts)
        if is_from_scratch and lasts[run.step[before.end - 1]] > 1:
            process.is_new_run = True
