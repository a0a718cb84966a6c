"""Several jobs that write into one log at once: their records, told apart by their steps."""

from __future__ import annotations

from array import array

from instride.steps.columns import Column
from instride.steps.model import Clock, Event, EventKind, Run

MOST_RESTARTS = 20
SHARE = 0.15
"""Steps that go back more often than this, of all records, are not restarts."""
MOST_CHAINS = 64


def keep(run: Run, indices: list[int]) -> None:
    """Drop all records but these; events and clocks stay where they were among them."""
    kept_before, position = [], 0
    for index in range(len(run.step) + 1):
        kept_before.append(position)
        if position < len(indices) and indices[position] == index:
            position += 1
    run.step = Column(run.step[index] for index in indices)
    run.line = Column(run.line[index] for index in indices)
    for name in ("seconds", "wall", "data"):
        column = getattr(run, name)
        if column:
            setattr(run, name, type(column)(column.typecode, (column[i] for i in indices)))
    run.events = [
        Event(e.kind, e.line, kept_before[e.at], e.seconds, e.wall, e.step, e.sure)
        for e in run.events
    ]
    run.ends = [Clock(end.wall, end.line, kept_before[end.at]) for end in run.ends]


def longest_job(run: Run) -> list[int] | None:
    """The records of the longest of several jobs; None if the log looks like one job.

    A job goes on where it stopped: a record belongs to the job whose last step is nearest below.
    """
    announced = {event.at for event in run.events if event.kind is EventKind.START}
    back = sum(index not in announced for index in run.step.falls())
    if back <= max(MOST_RESTARTS, SHARE * len(run)):
        return None
    step = array("q", run.step)
    chains: list[list[int]] = []
    for index in range(len(run)):
        below = [chain for chain in chains if step[chain[-1]] < step[index]]
        if below:
            max(below, key=lambda chain: step[chain[-1]]).append(index)
        elif len(chains) < MOST_CHAINS:
            chains.append([index])
    return max(chains, key=len)
