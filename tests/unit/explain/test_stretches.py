"""Places where a comb would have teeth, counted one by one."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from instride.explain.baseline import Regime
from instride.explain.excess import Excess
from instride.explain.stretches import Behind, Places, behind_saves
from instride.explain.timeline import Timeline
from tests.unit.explain.making import Training


def behind(begins: list[int], lasts: list[int], num_steps: int = 500, first: int = 0) -> Behind:
    """Equal steps, some of which are said to lie behind saves."""
    training = Training(step=first)
    training.train(num_steps)
    timeline = Timeline(training.finish())
    excess = Excess(timeline, timeline.processes[0], [Regime(0, num_steps, 1.0)])
    return behind_saves(excess, begins, lasts, shortest=3)


def test_a_stretch_ends_where_the_next_one_begins_or_the_process_ends() -> None:
    found = behind([10, 50, 60, 498, 500], [20, 55, 490, 0, 0])
    assert found.stretches == [range(10, 21), range(50, 56), range(60, 491), range(498, 500)]
    assert [found.stretch_of(index) for index in (9, 10, 20, 21, 60, 499)] == [
        None,
        0,
        0,
        None,
        2,
        3,
    ]


@pytest.mark.parametrize("seed", range(20))
def test_places_are_as_many_as_one_counts(seed: int) -> None:
    random = Random(seed)
    begins = sorted(random.sample(range(500), 6))
    lasts = [begin + random.randint(0, after - begin) for begin, after in pairwise([*begins, 500])]
    found = behind(begins, lasts, first=random.randint(0, 1000))
    places, step = Places([found]), found.excess.timeline.run.step
    for period in (4, 7, 50, 333, 2000):
        between, near = [0] * period, [0] * period
        for index in range(500):
            counts = between if found.stretch_of(index) is None else near
            counts[step[index] % period] += 1
        assert places.between(period) == between
        assert places.behind(period) == near
    assert places.num_between == sum(between)


def test_periods_are_parts_of_the_distance_of_saves() -> None:
    places = Places([behind([100, 200, 300], [0, 0, 0])])
    assert places.periods([]) == [4, 5, 10, 20, 25, 50, 100]
    assert [places.may_be_of_saves(period) for period in (49, 50, 51, 100)] == [
        False,
        False,
        True,
        True,
    ]
