"""Ranks that print the same steps count once; restarts are kept."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Clock, EventKind, Run
from instride.steps.recording import JUDGE_AFTER
from tests.unit.steps.recordings import recording


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


def test_the_last_time_is_kept_when_ranks_are_dropped() -> None:
    log = recording()
    for line, (_, step) in enumerate(side_by_side(4, 10), 1):
        log.step(step, line, 1.0)
    log.clock(50.0, 41)
    run = log.finish()
    assert len(run) == 10
    assert run.ends == [Clock(50.0, 41, 10)]
