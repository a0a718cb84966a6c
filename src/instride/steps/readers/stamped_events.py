"""What readers do with a line that marks something: the event, and the time in its prefix."""

from __future__ import annotations

from instride.steps.clocks import stamp_before
from instride.steps.model import EventKind
from instride.steps.recording import Recording


def mark(
    log: Recording,
    kind: EventKind,
    number: int,
    line: str,
    where: int,
    step: int | None = None,
    seconds: float | None = None,
) -> None:
    """Record an event whose text begins at `where`; a timestamp before that is its time."""
    wall = stamp_before(line, where)
    log.event(kind, number, seconds, wall, step)
    # After the event: the time of a launch must not count as the end of the process before.
    log.clock(wall, number)


def mark_start_once(log: Recording, number: int, line: str, where: int) -> None:
    """Record a launch, unless one was seen since the last record.

    For trainers of which every rank prints the banner, or that have several lines of which some
    versions print only one: launches that fail before their first step are not counted.
    """
    at = len(log.run)
    for event in reversed(log.run.events):
        if event.at != at:
            break
        if event.kind is EventKind.START:
            return
    mark(log, EventKind.START, number, line, where)
