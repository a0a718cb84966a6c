"""A recording keeps one record a step, however many ranks printed it, and keeps restarts."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import inf, isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Clock, EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.recording import JUDGE_AFTER, Recording


def recording() -> Recording:
    return Recording(NanoGPT.dialect)


def record(steps: Iterable[int]) -> Run:
    log = recording()
    for line, step in enumerate(steps, 1):
        log.step(step, line, 0.5)
    return log.finish()


def side_by_side(
    num_ranks: int, num_steps: int, skew: int = 0, first: int = 0, seed: int = 1
) -> Iterator[tuple[int, int]]:
    """(rank, step) as ranks print into one log, each up to `skew` steps behind the first."""
    dice = random.Random(seed)
    behind = [0, *(dice.randint(0, skew) for _ in range(num_ranks - 1))]
    if num_ranks > 1:
        behind[-1] = skew
    for now in range(num_steps + skew):
        ranks = list(range(num_ranks))
        dice.shuffle(ranks)
        for rank in ranks:
            if 0 <= now - behind[rank] < num_steps:
                yield rank, first + now - behind[rank]


@pytest.mark.parametrize("num_ranks", [2, 3, 8, 50])
@pytest.mark.parametrize("skew", [0, 1, 2, 3])
@pytest.mark.parametrize("num_steps", [20, 3 * JUDGE_AFTER // 2])
def test_ranks_that_print_side_by_side_count_once(
    num_ranks: int, skew: int, num_steps: int
) -> None:
    num_steps = num_steps if num_ranks < 8 else num_steps // 10 + 10
    run = record(step for _, step in side_by_side(num_ranks, num_steps, skew))
    assert list(run.step) == list(range(num_steps))
    assert run.num_duplicates == (num_ranks - 1) * num_steps


@given(
    num_ranks=st.integers(2, 12),
    num_steps=st.integers(10, 200),
    skew=st.integers(0, 3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_no_order_of_ranks_leaves_a_step_twice(
    num_ranks: int, num_steps: int, skew: int, seed: int
) -> None:
    run = record(step for _, step in side_by_side(num_ranks, num_steps, skew, seed=seed))
    assert list(run.step) == list(range(num_steps))


def test_columns_and_events_stay_together_when_ranks_are_dropped() -> None:
    log = recording()
    line = 0
    for step in range(30):
        for _ in range(4):
            line += 1
            log.step(step, line, seconds=step / 10, wall=1e9 + step, data=step / 100)
        if step == 9:
            log.event(EventKind.SAVE, line, seconds=2.0)
    run = log.finish()
    assert list(run.step) == list(range(30))
    assert list(run.line) == [1 + 4 * step for step in range(30)]
    assert list(run.seconds) == [step / 10 for step in range(30)]
    assert list(run.wall) == [1e9 + step for step in range(30)]
    assert list(run.data) == [step / 100 for step in range(30)]
    (event,) = run.events
    assert (event.kind, event.at, event.seconds) == (EventKind.SAVE, 10, 2.0)


def test_a_marker_that_every_rank_prints_in_its_own_place_counts_once() -> None:
    log = recording()
    for rank, step in side_by_side(8, 400, skew=2):
        if step % 100 == 50:
            log.event(EventKind.EVAL, step * 10 + rank, step=step)
        log.step(step, step * 10 + rank, 0.5)
    evaluated = [(event.step, event.at) for event in log.finish().events]
    assert evaluated == [(50, 50), (150, 150), (250, 250), (350, 350)]


def test_a_marker_of_many_ranks_counts_once_also_when_ranks_are_known() -> None:
    log = recording()
    num_steps = JUDGE_AFTER
    for rank, step in side_by_side(4, num_steps, skew=1):
        if step % 500 == 250:
            log.event(EventKind.SAVE, step * 10 + rank, step=step)
        log.step(step, step * 10 + rank, 0.5)
    saved = [event.step for event in log.finish().events]
    assert saved == list(range(250, num_steps, 500))


@pytest.mark.parametrize("back", [1, 2, 3, 50])
@pytest.mark.parametrize("num_steps", [20, 2 * JUDGE_AFTER])
def test_a_restart_a_few_steps_back_is_no_second_rank(back: int, num_steps: int) -> None:
    crash = num_steps // 2
    steps = [*range(crash), *range(max(0, crash - back), num_steps)]
    run = record(steps)
    assert list(run.step) == steps
    assert run.num_duplicates == 0


@pytest.mark.parametrize("num_steps", [2, 3, 5])
def test_a_few_steps_and_the_same_again_are_a_restart(num_steps: int) -> None:
    run = record([*range(num_steps), *range(num_steps)])
    assert list(run.step) == [*range(num_steps), *range(num_steps)]


def test_a_launch_between_equal_markers_keeps_them_apart() -> None:
    log = recording()
    log.step(1, 1, 1.0)
    for line in (2, 4):
        log.event(EventKind.EVAL, line, step=2)
        log.event(EventKind.START, line + 1)
    log.step(2, 6, 1.0)
    kinds = [event.kind for event in log.finish().events]
    assert kinds == [EventKind.EVAL, EventKind.START] * 2


def test_restarts_in_a_row_are_no_ranks() -> None:
    steps = [step for start in range(0, 300, 10) for step in range(start, start + 13)]
    run = record(steps)
    assert list(run.step) == steps
    assert run.num_duplicates == 0


def test_a_launch_separates_equal_steps() -> None:
    log = recording()
    for launch in range(3):
        log.event(EventKind.START, 10 * launch + 1)
        for step in range(4):
            log.step(step, 10 * launch + 2 + step, 1.0)
    run = log.finish()
    assert list(run.step) == [0, 1, 2, 3] * 3
    assert run.num_duplicates == 0
    assert [event.at for event in run.events] == [0, 4, 8]


@pytest.mark.parametrize("num_steps", [40, JUDGE_AFTER])
def test_ranks_that_restart_are_dropped_in_both_processes(num_steps: int) -> None:
    log = recording()
    first = [step for _, step in side_by_side(4, num_steps, skew=1)]
    again = [step for _, step in side_by_side(4, num_steps, skew=1, first=num_steps - 10)]
    for line, step in enumerate(first, 1):
        log.step(step, line, 1.0)
    log.event(EventKind.START, len(first) + 1)
    for line, step in enumerate(again, len(first) + 2):
        log.step(step, line, 1.0)
    run = log.finish()
    assert list(run.step) == [*range(num_steps), *range(num_steps - 10, 2 * num_steps - 10)]
    assert [(event.kind, event.at) for event in run.events] == [(EventKind.START, num_steps)]


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


def test_the_last_time_is_kept_when_ranks_are_dropped() -> None:
    log = recording()
    for line, (_, step) in enumerate(side_by_side(4, 10), 1):
        log.step(step, line, 1.0)
    log.clock(50.0, 41)
    run = log.finish()
    assert len(run) == 10
    assert run.ends == [Clock(50.0, 41, 10)]


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
