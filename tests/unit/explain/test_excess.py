"""What is beyond the baseline, and from when on it is out of the ordinary."""

from __future__ import annotations

import pytest

from instride.explain.baseline import Regime
from instride.explain.excess import Excess
from instride.explain.rhythm import Rhythm
from instride.explain.timeline import Timeline
from instride.steps.model import EventKind, Sampling
from tests.unit.explain.making import Training


def excess_of(
    training: Training, base_s: float = 1.0, spread_s: float = 0.0, rhythm: Rhythm | None = None
) -> Excess:
    timeline = Timeline(training.finish())
    (process,) = timeline.processes
    regime = Regime(process.begin, process.end, base_s, spread_s)
    return Excess(timeline, process, [regime], rhythm)


def test_a_step_is_slow_from_fifteen_percent_on() -> None:
    training = Training()
    training.train(4, lambda step: {2: 1.14, 3: 1.16}.get(step, 1.0))
    excess = excess_of(training)
    assert [excess.is_slow(index) for index in range(4)] == [False, False, True, False]
    assert excess.left == {2: pytest.approx(0.16)}


def test_steps_that_spread_widely_are_slow_only_beyond_their_spread() -> None:
    training = Training()
    training.train(3, lambda step: {2: 1.28, 3: 1.32}.get(step, 1.0))
    excess = excess_of(training, spread_s=0.1)
    assert [excess.is_slow(index) for index in range(3)] == [False, False, True]


def test_a_slow_step_of_the_rhythm_is_as_expected() -> None:
    training = Training()
    training.train(8, lambda step: 1.3 if step % 4 == 0 else 1.0)
    rhythm = Rhythm(4, 0, (1.3, 1.0, 1.0, 1.0))
    assert excess_of(training, rhythm=rhythm).left == {}
    assert excess_of(training_again(), rhythm=None).left.keys() == {3, 7}


def training_again() -> Training:
    training = Training()
    training.train(8, lambda step: 1.3 if step % 4 == 0 else 1.0)
    return training


def test_a_slow_step_that_is_not_due_in_the_rhythm_is_slow() -> None:
    training = Training()
    training.train(8, lambda step: 1.3 if step in (4, 6, 8) else 1.0)
    excess = excess_of(training, rhythm=Rhythm(4, 0, (1.3, 1.0, 1.0, 1.0)))
    assert excess.left.keys() == {5}


def test_a_tick_of_a_coarse_clock_is_not_slow() -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0)
    training.train(100, 0.7)
    assert excess_of(training, base_s=0.7).left == {}


def test_milliseconds_more_are_never_slow() -> None:
    training = Training()
    training.train(3, lambda step: 0.0035 if step == 2 else 0.002)
    assert excess_of(training, base_s=0.002).left == {}


def test_the_excess_of_an_average_is_that_of_all_its_steps() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(30, lambda step: 6.0 if step == 15 else 1.0)
    excess = excess_of(training)
    assert excess.seconds(1) == pytest.approx(5.0)
    assert excess.factor(1) == pytest.approx(1.5)


def test_a_marked_record_is_looked_at_however_little_it_is_beyond() -> None:
    training = Training()
    training.train(3)
    training.pause(EventKind.SAVE, 0.01)
    training.train(3)
    assert excess_of(training).left == {3: pytest.approx(0.01)}


def test_no_more_can_be_taken_than_is_left() -> None:
    training = Training()
    training.train(3, lambda step: 4.0 if step == 2 else 1.0)
    excess = excess_of(training)
    assert excess.take(1, 2.0) == 2.0
    assert excess.remains_slow(1)
    assert excess.take(1, 2.0) == pytest.approx(1.0)
    assert not excess.remains_slow(1)
    assert excess.take(1, 2.0) == 0.0
    assert excess.take(0, 2.0) == 0.0
