"""Processes: a run cut where it was started anew."""

from __future__ import annotations

from collections import Counter
from itertools import compress, count, islice, pairwise
from operator import lt, sub
from statistics import median

from instride.steps.model import Event, EventKind, Run


class Process:
    """One process of the run: records `begin` to `end` (excluded), nothing started anew inside."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.stride = 1
        """Steps from one record to the next, usually."""
        self.is_dense = False
        """Every step has a record."""
        self.num_launches = 1
        """How often a process was started since the last one that trained."""
        self.is_new_run = False
        """The process before this one had finished its training, or this one is another."""
        self.unused_save: Event | None = None
        """What the training before this one had saved, if this one began without it."""

    def __len__(self) -> int:
        return self.end - self.begin


MOST_SAMPLED = 20_000
FAR = 10
"""Times the usual distance of records that steps leap where another checkpoint was loaded."""


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
    cuts.update(run.step.falls())
    cuts.update(_leaps(run))
    if not run.clock_is_absolute:
        cuts.update(compress(count(1), map(lt, islice(run.wall, 1, None), run.wall)))
    borders = [0, *sorted(cuts), len(run)]
    processes = []
    for begin, end in pairwise(borders):
        process = Process(begin, end)
        process.is_dense = run.step[end - 1] - run.step[begin] == end - begin - 1
        process.num_launches = max(1, starts[begin])
        process.is_new_run = begin in ends
        processes.append(process)
    _tell_new_runs(run, processes)
    _tell_unused_saves(run, processes)
    return processes


def _leaps(run: Run) -> list[int]:
    """Records before which a checkpoint was loaded and steps are left out: another process."""
    loads = {
        event.at for event in run.events if event.kind is EventKind.LOAD and 0 < event.at < len(run)
    }
    if not loads:
        return []
    usual = median(islice(map(sub, islice(run.step, 1, None), run.step), MOST_SAMPLED))
    return [at for at in loads if run.step[at] - run.step[at - 1] > FAR * max(1, usual)]


def _tell_new_runs(run: Run, processes: list[Process]) -> None:
    """Runs that start at the beginning and end at the same step are experiments, not crashes."""
    lasts = Counter(run.step[process.end - 1] for process in processes)
    firsts = Counter(run.step[process.begin] for process in processes)
    for before, process in pairwise(processes):
        is_from_scratch = run.step[process.begin] == min(firsts)
        if is_from_scratch and lasts[run.step[before.end - 1]] > 1:
            process.is_new_run = True


def _tell_unused_saves(run: Run, processes: list[Process]) -> None:
    """A process that begins at the first step although a later one was saved is another training.

    Had it gone on from that save, its steps would have gone on too. Whether it was meant to, the
    log does not say.
    """
    firsts = min(run.step[process.begin] for process in processes)
    saves = [event for event in run.events if event.kind is EventKind.SAVE and event.sure]
    launches = [event for event in run.events if event.kind is EventKind.START]
    begin = 0
    for process in processes[1:]:
        if process.is_new_run:
            begin = process.begin
        launch = next((e.line for e in launches if e.at == process.begin), run.line[process.begin])
        earlier = [save for save in saves if begin < save.at and save.line < launch]
        if run.step[process.begin] == firsts and earlier and not process.is_new_run:
            process.is_new_run, process.unused_save = True, earlier[-1]
            begin = process.begin
