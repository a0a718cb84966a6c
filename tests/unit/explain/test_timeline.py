"""Intervals: how long the steps of each record took, by which of the two clocks."""

from __future__ import annotations

import pytest

from instride.explain.timeline import Timeline
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training

NAN = float("nan")


def test_a_log_of_every_step_has_the_printed_seconds() -> None:
    training = Training()
    training.train(3, lambda step: float(step))
    assert list(Timeline(training.finish()).seconds) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("sampling", [Sampling.AVERAGE, Sampling.RUNNING_TOTAL])
def test_an_average_stands_for_all_steps_since_the_last_record(sampling: Sampling) -> None:
    training = Training(sampling, every=10)
    training.train(30, 0.5)
    timeline = Timeline(training.finish())
    assert list(timeline.seconds) == pytest.approx([5.0, 5.0, 5.0])
    assert [timeline.value(i, timeline.processes[0]) for i in range(3)] == pytest.approx([0.5] * 3)


def test_one_printed_step_of_ten_stands_for_itself_alone() -> None:
    training = Training(Sampling.EVERY_KTH, every=10)
    training.train(30, 0.5)
    timeline = Timeline(training.finish())
    process = timeline.processes[0]
    assert list(timeline.seconds) == [0.5, 0.5, 0.5]
    assert (timeline.num_steps(1, process), timeline.timed_steps(1, process)) == (10, 1)


def test_the_wall_clock_shows_the_steps_between_printed_ones() -> None:
    training = Training(Sampling.EVERY_KTH, every=10, has_wall=True)
    training.train(15)
    training.train(1, 8.0)
    training.train(14)
    timeline = Timeline(training.finish())
    assert list(timeline.seconds) == pytest.approx([1.0, 17.0, 10.0])
    assert timeline.timed_steps(1, timeline.processes[0]) == 10


def test_the_wall_clock_wins_over_the_printed_seconds() -> None:
    training = Training(pauses=Pauses.NONE, has_wall=True)
    training.train(2)
    training.pause(EventKind.EVAL, 7.0)
    training.train(2)
    assert list(Timeline(training.finish()).seconds) == pytest.approx([1.0, 1.0, 8.0, 1.0])


def test_a_record_without_its_timestamp_takes_no_time_off_the_wall() -> None:
    training = Training(has_wall=True, prints=False)
    training.train(5)
    training.has_wall = False
    training.train(1)
    training.has_wall = True
    training.train(5)
    assert list(Timeline(training.finish()).seconds) == pytest.approx([0.0] + [1.0] * 10)


def test_the_first_record_has_its_printed_seconds_or_none() -> None:
    printed, unprinted = Training(has_wall=True), Training(has_wall=True, prints=False)
    for training in (printed, unprinted):
        training.train(2, 3.0)
    assert list(Timeline(printed.finish()).seconds) == pytest.approx([3.0, 3.0])
    assert list(Timeline(unprinted.finish()).seconds) == pytest.approx([0.0, 3.0])


def test_a_bar_that_starts_at_zero_times_its_first_step() -> None:
    training = Training(has_wall=True, prints=False, is_absolute=False)
    training.train(1, 28.0)
    training.train(2, 0.7)
    assert list(Timeline(training.finish()).seconds) == pytest.approx([28.0, 0.7, 0.7])


def test_a_bar_seen_from_its_middle_on_does_not_time_its_first_step() -> None:
    training = Training(has_wall=True, prints=False, is_absolute=False, step=1699)
    training.now += 3900.0
    training.train(2, 2.0)
    assert list(Timeline(training.finish()).seconds) == pytest.approx([0.0, 2.0])


def test_a_step_without_a_time_counts_no_seconds() -> None:
    training = Training()
    training.train(4, lambda step: NAN if step == 2 else 1.0)
    assert list(Timeline(training.finish()).seconds) == [1.0, 0.0, 1.0, 1.0]


def test_where_the_clock_goes_back_the_printed_seconds_are_taken() -> None:
    training = Training(has_wall=True)
    training.train(3, 2.0)
    training.now -= 3600.0
    training.train(3, 2.0)
    timeline = Timeline(training.finish())
    assert timeline.clock_backwards == [3]
    assert list(timeline.seconds) == pytest.approx([2.0] * 6)
    assert len(timeline.processes) == 1


@pytest.mark.parametrize("has_wall", [False, True])
def test_a_stated_pause_that_the_printed_clock_leaves_out_counts_once(has_wall: bool) -> None:
    training = Training(pauses=Pauses.NONE, has_wall=has_wall)
    training.train(3)
    training.pause(EventKind.SAVE, 6.0, is_stated=True)
    training.train(3)
    assert list(Timeline(training.finish()).seconds) == pytest.approx([1, 1, 1, 7, 1, 1])


def test_a_log_of_totals_has_their_average_without_the_stated_pauses() -> None:
    training = Training(Sampling.TOTALS, Pauses.NONE, every=10)
    training.train(50)
    training.pause(EventKind.EVAL, 30.0, is_stated=True)
    training.train(50)
    run = training.finish()
    run.total_s = 230.0
    seconds = list(Timeline(run).seconds)
    assert seconds[:5] == pytest.approx([20.0] * 5)
    assert seconds[5] == pytest.approx(50.0)
