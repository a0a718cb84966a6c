"""Bars that are drawn anew: epochs, evaluations between them, restarts and ranks."""

from __future__ import annotations

import pytest

from instride.steps.model import EventKind
from instride.steps.notes import Note
from tests.unit.readers.drawing import draw
from tests.unit.readers.reading import events
from tests.unit.readers.tqdm_bars import epoch, read


def test_an_epoch_counts_on_from_the_last_one() -> None:
    run = read(epoch(10, 2) + epoch(10, 2) + epoch(10, 2))
    assert list(run.step) == list(range(1, 31))
    assert list(run.wall) == [2.0 * n for n in range(1, 31)]
    assert events(run) == [(EventKind.EPOCH, 10, None), (EventKind.EPOCH, 20, None)]
    assert run.notes == [Note("bar-an-epoch")]


def test_numbers_in_the_description_do_not_make_another_bar() -> None:
    first = [draw(n, 10, n, f"Epoch 1/3 loss {3 - n / 7:.3e}") for n in range(11)]
    second = [draw(n, 10, n, f"Epoch 2/3 loss {2 - n / 7}") for n in range(11)]
    third = [draw(n, 10, n, "Epoch 3/3 loss nan") for n in range(11)]
    assert list(read(first + second + third).step) == list(range(1, 31))


def test_time_of_a_bar_between_two_epochs_is_in_the_first_step_after_it() -> None:
    evaluation = [draw(n, 5, 6 * n, "Evaluating") for n in range(6)]
    run = read(epoch(10, 2) + evaluation + evaluation + epoch(10, 2))
    assert list(run.wall)[9:11] == [20.0, 20.0 + 60.0 + 2.0]
    assert events(run) == [(EventKind.EVAL, 10, 60.0), (EventKind.EPOCH, 10, None)]


def test_time_of_a_bar_inside_an_epoch_is_not_counted_twice() -> None:
    evaluation = [draw(n, 5, 6 * n, "Evaluating") for n in range(6)]
    first = epoch(10, 2)
    run = read(first[:9] + evaluation + [draw(n, 10, 2 * n + 30, "train") for n in range(5, 11)])
    assert list(run.wall)[3:5] == [8.0, 40.0]
    assert events(run) == [(EventKind.EVAL, 4, None)]


def test_an_evaluation_after_an_epoch_is_covered_by_a_bar_that_is_closed_later() -> None:
    evaluation = [draw(n, 5, 6 * n, "Evaluating") for n in range(6)]
    run = read(epoch(10, 2) + evaluation + [draw(10, 10, 51, "train")] + epoch(10, 2))
    assert list(run.wall)[9:11] == [20.0, 53.0]
    assert events(run) == [(EventKind.EVAL, 10, None), (EventKind.EPOCH, 10, None)]


def test_an_evaluation_with_more_updates_than_the_training_is_not_the_training() -> None:
    lines = [draw(0, 100, 0)]
    for n in range(1, 101):
        lines.append(draw(n, 100, 10 * n + 400 * ((n - 1) // 10)))
        if n % 10 == 0:
            lines += [draw(done, 50, 8 * done) for done in range(51)]
    run = read(lines)
    assert list(run.step) == list(range(1, 101))
    assert [(event.kind, event.at, event.sure) for event in run.events][:2] == [
        (EventKind.EVAL, 10, False),
        (EventKind.EVAL, 20, False),
    ]


def test_a_bar_of_epochs_around_the_training_is_not_the_training() -> None:
    lines = [draw(0, 5, 0, "Epoch")]
    for done in range(1, 6):
        lines += epoch(30, 2, "Iteration")
        lines.append(draw(done, 5, 61 * done, "Epoch"))
    run = read(lines)
    assert list(run.step) == list(range(1, 151))
    assert [kind for kind, _, _ in events(run)] == [EventKind.EPOCH] * 4


def test_a_bar_that_starts_anew_before_its_end_is_a_restart() -> None:
    run = read([*epoch(100, 2, end=40), "Killed", *epoch(100, 2, end=20)])
    assert list(run.step) == [*range(1, 41), *range(1, 21)]
    assert list(run.wall)[39:41] == [80.0, 2.0]
    assert events(run) == [(EventKind.START, 40, None)]


def test_a_resumed_bar_begins_where_it_was_saved() -> None:
    resumed = [draw(0, 1000, 0), *[draw(n, 1000, 2 * (n - 400)) for n in range(401, 420)]]
    run = read([draw(n, 1000, 2 * n) for n in range(430)] + resumed)
    assert list(run.step)[428:431] == [429, 401, 402]
    assert events(run) == [(EventKind.START, 429, None)]


def test_what_a_resumed_bar_shows_at_its_creation_is_no_step() -> None:
    run = read([draw(100, 512, 0), draw(101, 512, 9), draw(102, 512, 10)])
    assert list(run.step) == [101, 102]


def test_a_restart_in_a_later_epoch_repeats_the_steps_of_that_epoch() -> None:
    lines = epoch(50, 2, "Epoch 0") + epoch(50, 2, "Epoch 1") + epoch(50, 2, "Epoch 2", end=30)
    run = read(lines + epoch(50, 2, "Epoch 2", end=40))
    assert list(run.step)[129:132] == [130, 101, 102]
    assert events(run) == [
        (EventKind.EPOCH, 50, None),
        (EventKind.EPOCH, 100, None),
        (EventKind.START, 130, None),
    ]


def test_epochs_of_unknown_length_count_on_where_they_are_numbered() -> None:
    first = [draw(n, None, n, "Epoch 1") for n in range(31)]
    second = [draw(n, None, n, "Epoch 2") for n in range(26)]
    run = read(first + second)
    assert list(run.step) == list(range(1, 56))
    assert events(run) == [(EventKind.EPOCH, 30, None)]


def test_a_bar_of_unknown_length_that_starts_anew_is_a_restart() -> None:
    run = read([draw(n, None, n) for n in range(31)] + [draw(n, None, n) for n in range(9)])
    assert events(run) == [(EventKind.START, 30, None)]


@pytest.mark.parametrize("apart_s", [0, 1, 9])
def test_ranks_that_draw_the_same_bar_count_once(apart_s: int) -> None:
    """Their clocks began some seconds apart; the second rank is drawn a step late."""
    lines = []
    for n in range(41):
        lines.append(draw(n, 40, 3 * n, "[rank0]"))
        if n:
            lines.append(draw(n - 1, 40, max(0, 3 * n - apart_s), "[rank1]"))
    run = read(lines)
    assert list(run.step) == list(range(1, 41))
    assert list(run.wall) == [3.0 * n for n in range(1, 41)]
    assert events(run) == []


def test_a_drawing_of_the_epoch_before_is_not_taken_for_the_new_one() -> None:
    lines = epoch(10, 2)
    late = epoch(10, 2)
    run = read([*lines, late[0], draw(10, 10, 90, "train"), *late[1:]])
    assert list(run.step) == list(range(1, 21))
    assert list(run.wall)[9:11] == [20.0, 92.0]
