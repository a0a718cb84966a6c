"""Lines of a log, given to a reader one by one."""

from __future__ import annotations

from collections.abc import Iterable

from instride.steps.model import EventKind, Run
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording


def run_of(reader_type: type[Reader], lines: Iterable[str]) -> Run:
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    reader.finish()
    return log.finish()


def kinds(run: Run) -> list[tuple[EventKind, int]]:
    """What happened, before which record."""
    return [(event.kind, event.at) for event in run.events]


def events(run: Run) -> list[tuple[EventKind, int, float | None]]:
    """What happened, before which record, for how long."""
    return [(event.kind, event.at, event.seconds) for event in run.events]


def events_with_steps(run: Run) -> list[tuple[EventKind, int, float | None, int | None]]:
    """What happened, before which record, for how long, at which step."""
    return [(event.kind, event.at, event.seconds, event.step) for event in run.events]
