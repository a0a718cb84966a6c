"""Processes: where one ends and the next begins, and which of them a marker belongs to."""

from __future__ import annotations

import pytest

from instride.explain.timeline import Timeline
from instride.steps.model import EventKind, Sampling
from tests.unit.explain.making import Training


def borders(training: Training) -> list[tuple[int, int]]:
    return [(process.begin, process.end) for process in Timeline(training.finish()).processes]


@pytest.mark.parametrize("resumed_after", [0, 2, 4])
def test_a_step_that_is_not_beyond_the_last_one_begins_a_process(resumed_after: int) -> None:
    training = Training()
    training.train(5)
    training.resume(resumed_after)
    training.train(5)
    assert borders(training) == [(0, 5), (5, 10)]


def test_a_launch_begins_a_process_even_if_the_steps_go_on() -> None:
    training = Training()
    training.mark(EventKind.START)
    training.train(5)
    training.resume(5, has_banner=True)
    training.train(5)
    assert borders(training) == [(0, 5), (5, 10)]


def test_a_bar_whose_time_starts_anew_begins_a_process() -> None:
    training = Training(has_wall=True, is_absolute=False)
    training.train(5)
    training.resume(5)
    training.train(5)
    assert borders(training) == [(0, 5), (5, 10)]


def test_missing_step_numbers_begin_no_process() -> None:
    training = Training()
    training.train(5)
    training.step = 100
    training.train(5)
    assert borders(training) == [(0, 10)]


def test_steps_that_leap_after_a_checkpoint_was_loaded_begin_a_process() -> None:
    training = Training()
    training.train(5)
    training.mark(EventKind.LOAD)
    training.step = 100
    training.train(5)
    assert borders(training) == [(0, 5), (5, 10)]


def test_a_checkpoint_that_is_loaded_between_two_steps_begins_no_process() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(50)
    training.mark(EventKind.LOAD)
    training.train(50)
    assert borders(training) == [(0, 10)]


def test_beginning_anew_beside_a_save_is_another_training() -> None:
    training = Training()
    training.train(50)
    training.pause(EventKind.SAVE, 3.0, is_named=True)
    training.train(5)
    training.resume(0, has_banner=True)
    training.train(20)
    first, second = Timeline(training.finish()).processes
    assert first.unused_save is None
    assert second.is_new_run
    assert second.unused_save is not None
    assert second.unused_save.step == 51


@pytest.mark.parametrize("resumed_after", [0, 50])
def test_going_on_from_a_save_or_beginning_anew_without_one_is_the_same_training(
    resumed_after: int,
) -> None:
    training = Training()
    training.train(50)
    if resumed_after:
        training.pause(EventKind.SAVE, 3.0)
    training.train(5)
    training.resume(resumed_after, has_banner=True)
    # A save of its own is none that it could have gone on from.
    training.pause(EventKind.SAVE, 3.0)
    training.train(20)
    assert not any(process.is_new_run for process in Timeline(training.finish()).processes)


def test_launches_before_a_process_are_counted() -> None:
    training = Training()
    training.train(5)
    for _ in range(3):
        training.resume(5, has_banner=True)
    training.train(5)
    assert [process.num_launches for process in Timeline(training.finish()).processes] == [1, 3]


def test_what_follows_the_end_of_a_training_is_a_new_run() -> None:
    training = Training()
    training.train(5)
    training.mark(EventKind.END)
    training.resume(0, has_banner=True)
    training.train(9)
    training.resume(6)
    training.train(5)
    processes = Timeline(training.finish()).processes
    assert [process.is_new_run for process in processes] == [False, True, False]


def test_a_process_of_one_record_covers_as_many_steps_as_its_neighbours_records() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(50)
    training.resume(30)
    training.train(10)
    timeline = Timeline(training.finish())
    assert timeline.num_steps(5, timeline.processes[1]) == 10


def test_a_marker_belongs_to_the_record_after_it() -> None:
    training = Training()
    training.train(4)
    training.pause(EventKind.EVAL, 1.0)
    training.train(4)
    timeline = Timeline(training.finish())
    assert list(timeline.events_at) == [4]
    assert not timeline.closing


def test_a_marker_after_the_last_record_of_a_process_closes_it() -> None:
    training = Training()
    training.train(4)
    training.pause(EventKind.SAVE, 1.0)
    training.resume(4, has_banner=True)
    training.pause(EventKind.EVAL, 1.0)
    training.train(4)
    training.pause(EventKind.SAVE, 1.0)
    timeline = Timeline(training.finish())
    assert {at: [e.kind for e in events] for at, events in timeline.events_at.items()} == {
        4: [EventKind.EVAL]
    }
    assert {at: [e.kind for e in events] for at, events in timeline.closing.items()} == {
        4: [EventKind.SAVE],
        8: [EventKind.SAVE],
    }


def test_the_same_marker_before_and_after_a_launch_is_two() -> None:
    training = Training()
    training.train(4)
    training.pause(EventKind.EVAL, 1.0, is_named=True)
    training.resume(4, has_banner=True)
    training.pause(EventKind.EVAL, 2.0, is_named=True, is_stated=True)
    training.train(4)
    timeline = Timeline(training.finish())
    assert [event.seconds for event in timeline.closing[4]] == [None]
    assert [event.seconds for event in timeline.events_at[4]] == [2.0]


def test_a_marker_of_a_launch_that_never_trained_does_not_close_the_process_before() -> None:
    training = Training()
    training.train(4)
    training.resume(4, has_banner=True)
    training.pause(EventKind.EVAL, 1.0, is_stated=True)
    assert not Timeline(training.finish()).closing


def test_a_marker_that_looks_back_belongs_to_the_record_before_it() -> None:
    training = Training()
    training.train(4)
    training.mark(EventKind.AFTER_SAVE)
    training.train(4)
    assert list(Timeline(training.finish()).events_at) == [3]


def test_a_marker_that_looks_back_does_not_look_into_another_process() -> None:
    training = Training()
    training.mark(EventKind.AFTER_SAVE)
    training.train(4)
    training.resume(2, has_banner=True)
    training.mark(EventKind.AFTER_SAVE)
    training.train(4)
    assert not Timeline(training.finish()).events_at
