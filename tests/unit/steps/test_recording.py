"""A recording keeps one record a step, however many ranks printed it, and keeps restarts."""

from __future__ import annotations

from math import inf, isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Clock, EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.recording import Recording
from tests.unit.steps.recordings import recording


def test_equal_markers_between_two_records_are_one_and_the_longest_wins() -> None:
    log = recording()
    log.step(1, 1, 1.0)
    log.event(EventKind.EVAL, 2)
    log.event(EventKind.EVAL, 3, seconds=4.0)
    log.event(EventKind.EVAL, 4, seconds=2.0)
    log.event(EventKind.SAVE, 5, seconds=1.0)
    log.step(2, 6, 1.0)
    log.event(EventKind.EVAL, 7)
    found = [(event.kind, event.line, event.at, event.seconds) for event in log.finish().events]
    assert found == [
        (EventKind.EVAL, 3, 1, 4.0),
        (EventKind.SAVE, 5, 1, 1.0),
        (EventKind.EVAL, 7, 2, None),
    ]


def test_launches_are_counted_one_by_one() -> None:
    log = recording()
    for line in (1, 2, 3):
        log.event(EventKind.START, line)
    log.step(1, 4, 1.0)
    assert len(log.finish().events) == 3


@pytest.mark.parametrize("time", [nan, inf, -inf, -1.0, None])
def test_times_that_cannot_be_are_unknown(time: float | None) -> None:
    log = recording()
    log.step(1, 1, seconds=time, wall=time, data=time)
    log.event(EventKind.EVAL, 2, seconds=time)
    log.clock(time if time != -1.0 else None, 3)
    run = log.finish()
    assert isnan(run.seconds_at(0))
    assert all(isnan(value) for value in (*run.seconds, *run.wall))
    assert all(isnan(value) for value in run.data)
    assert run.events[0].seconds is None
    assert run.ends == []


def test_durations_that_are_never_printed_take_no_room() -> None:
    log = recording()
    log.steps(range(5), range(5), wall=[1.0] * 5)
    log.step(5, 5, wall=1.0)
    run = log.run
    assert (len(run), len(run.seconds)) == (6, 0)
    assert isnan(run.seconds_at(3))
    log.time_last(0.5)
    log.steps([6, 7], [6, 7], wall=[1.0, 1.0])
    assert [isnan(seconds) for seconds in run.seconds] == [*[True] * 5, False, True, True]
    assert run.seconds_at(5) == 0.5


def test_zero_is_a_time() -> None:
    log = recording()
    log.step(0, 1, seconds=0.0, wall=0.0, data=0.0)
    run = log.finish()
    assert (run.seconds[0], run.wall[0], run.data[0]) == (0.0, 0.0, 0.0)


def test_data_times_that_begin_late_keep_their_records() -> None:
    log = recording()
    log.step(1, 1, 1.0)
    log.step(2, 2, 1.0, data=0.25)
    log.step(3, 3, 1.0)
    data = log.finish().data
    assert [isnan(value) for value in data] == [True, False, True]
    assert data[1] == 0.25


def test_the_first_time_is_that_before_the_first_record() -> None:
    log = recording()
    log.clock(100.0, 1)
    log.clock(105.0, 2)
    log.step(1, 3, 1.0, wall=110.0)
    log.clock(111.0, 4)
    assert log.finish().first_clock == Clock(100.0, 1, 0)
    late = recording()
    late.step(1, 1, 1.0)
    late.clock(111.0, 2)
    assert late.finish().first_clock is None


def test_the_last_time_of_each_process_is_kept_if_it_comes_after_its_last_record() -> None:
    log = recording()
    log.step(1, 1, 1.0)
    log.clock(20.0, 2)
    log.clock(25.0, 3)
    log.event(EventKind.START, 4)
    log.clock(90.0, 4)
    log.step(1, 5, 1.0)
    log.clock(95.0, 6)
    log.step(2, 7, 1.0)
    log.event(EventKind.START, 8)
    log.step(3, 9, 1.0)
    log.clock(99.0, 10)
    assert log.finish().ends == [Clock(25.0, 3, 1), Clock(99.0, 10, 4)]


def test_a_note_is_told_once() -> None:
    log = recording()
    for _ in range(3):
        log.note(Note("batch-size", {"size": 8}))
    assert log.finish().notes == [Note("batch-size", {"size": 8})]


def test_nothing_recorded_is_an_empty_run() -> None:
    run = recording().finish()
    assert len(run) == 0
    assert [*run.ends, *run.events, *run.notes] == []


def test_a_very_long_log_keeps_its_columns_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.steps.recording.MANY", 100)
    log = Recording(NanoGPT.dialect)
    for step in range(300):
        log.step(step, step + 1, 0.1)
    log.step(1 << 40, 301, 0.1)
    run = log.finish()
    assert (run.seconds.itemsize, len(run.step)) == (4, 301)
    assert list(run.step) == [*range(300), 1 << 40]
    assert run.seconds[150] == pytest.approx(0.1)


@given(
    stretches=st.lists(
        st.lists(st.integers(0, 60), min_size=1, max_size=30).map(
            lambda steps: steps if steps[0] % 3 else sorted(set(steps))
        ),
        max_size=8,
    ),
    has_seconds=st.booleans(),
    has_wall=st.booleans(),
    has_data=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_stretch_of_steps_comes_to_the_same_as_its_steps(
    stretches: list[list[int]], has_seconds: bool, has_wall: bool, has_data: bool
) -> None:
    at_once, one_by_one = recording(), recording()
    line = 0
    for stretch in stretches:
        lines = range(line + 1, line + 1 + len(stretch))
        seconds = [step / 8 for step in stretch] if has_seconds else None
        walls = [1e9 + step for step in stretch] if has_wall else None
        at_once.steps(stretch, lines, seconds, walls)
        for index, step in enumerate(stretch):
            took = seconds[index] if seconds else None
            one_by_one.step(step, lines[index], took, walls[index] if walls else None)
        for log in (at_once, one_by_one):
            log.event(EventKind.SAVE, lines[-1] + 1)
            log.step(100, lines[-1] + 2, data=0.5 if has_data else None)
            log.event(EventKind.START, lines[-1] + 3)
        line = lines[-1] + 3
    assert said(at_once.finish()) == said(one_by_one.finish())


def said(run: Run) -> dict[str, object]:
    """All that a run holds; numbers as text, for NaN is not equal to itself."""
    columns = ("step", "line", "seconds", "wall", "data")
    rest = {name: value for name, value in vars(run).items() if name not in columns}
    return rest | {name: [str(each) for each in getattr(run, name)] for name in columns}


@pytest.mark.parametrize("size", [1, 7, 200])
def test_stretches_of_a_very_long_log_are_kept_short_too(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.steps.recording.MANY", 100)
    log = recording()
    for first in range(0, 300, size):
        log.steps(range(first, first + size), range(first, first + size), [0.5] * size)
    run = log.finish()
    assert len(run) >= 300
    assert (run.seconds.itemsize, set(run.seconds)) == (4, {0.5})
