"""Rhythms of the loop, and combs of slow steps."""

from __future__ import annotations

from random import Random

import pytest

from instride.explain.rhythm import find_combs, find_rhythm


def factors(num_steps: int, period: int, share: float, noise: float, seed: int = 0) -> list[float]:
    random = Random(seed)
    return [
        1.0 + (share if step % period == 0 else 0.0) + random.gauss(0.0, noise)
        for step in range(num_steps)
    ]


@pytest.mark.parametrize("noise", [0.0, 0.005, 0.02])
def test_every_sixteenth_step_a_little_slower_is_a_rhythm(noise: float) -> None:
    rhythm = find_rhythm(range(800), factors(800, 16, 0.085, noise))
    assert rhythm is not None
    assert (rhythm.period, rhythm.offset) == (16, 0)
    assert rhythm.factor(32) == pytest.approx(1.085, abs=0.01)
    assert rhythm.factor(33) == pytest.approx(1.0, abs=0.01)


def test_the_offset_is_the_slowest_step_of_the_rhythm() -> None:
    steps = range(3473, 3473 + 500)
    times = [1.085 if step % 16 == 5 else 0.915 if step % 16 == 6 else 1.0 for step in steps]
    rhythm = find_rhythm(steps, times)
    assert rhythm is not None
    assert (rhythm.period, rhythm.offset) == (16, 5)
    assert rhythm.factor(16 * 300 + 6) == pytest.approx(0.915)


def test_a_rhythm_keeps_its_phase_over_missing_steps() -> None:
    steps = [step for step in range(600) if step % 7 != 3]
    rhythm = find_rhythm(steps, [1.1 if step % 4 == 1 else 1.0 for step in steps])
    assert rhythm is not None
    assert (rhythm.period, rhythm.offset) == (4, 1)


@pytest.mark.parametrize("seed", range(20))
def test_noise_has_no_rhythm(seed: int) -> None:
    assert find_rhythm(range(500), factors(500, 1000, 0.0, 0.05, seed)) is None


def test_equal_steps_have_no_rhythm() -> None:
    assert find_rhythm(range(500), [1.0] * 500) is None


def test_a_difference_under_a_percent_is_no_rhythm() -> None:
    assert find_rhythm(range(800), factors(800, 16, 0.009, 0.0)) is None


@pytest.mark.parametrize("num_steps", [0, 1, 2, 20])
def test_a_few_steps_have_no_rhythm(num_steps: int) -> None:
    assert find_rhythm(range(num_steps), factors(num_steps, 4, 0.1, 0.0)) is None


def test_steps_at_equal_distances_are_a_comb() -> None:
    (comb,) = find_combs(range(100, 1001, 100), 1, 1000)
    assert comb.period == 100
    assert comb.steps == tuple(range(100, 1001, 100))


def test_two_combs_of_nearly_the_same_period_are_told_apart() -> None:
    one, other = set(range(189, 4000, 189)), set(range(190, 4000, 190))
    combs = find_combs(sorted(one | other), 1, 4000)
    assert sorted(comb.period for comb in combs) == [189, 190]
    assert {step for comb in combs for step in comb.steps} == one | other


def test_a_missing_tooth_does_not_break_a_comb() -> None:
    steps = [step for step in range(50, 1001, 50) if step not in (300, 750)]
    (comb,) = find_combs(steps, 1, 1000)
    assert (comb.period, comb.steps) == (50, tuple(steps))


def test_a_step_besides_the_comb_stays_outside() -> None:
    (comb,) = find_combs([100, 200, 263, 300, 400, 500], 1, 550)
    assert 263 not in comb.steps


def test_a_sampled_log_may_show_a_tooth_one_record_late() -> None:
    (comb,) = find_combs([250, 500, 750, 1010, 1260, 1500, 1750], 10, 1800, slack=10)
    assert comb.period == 250
    assert len(comb.steps) == 7


@pytest.mark.parametrize("seed", range(10))
def test_slow_steps_at_random_are_no_comb(seed: int) -> None:
    assert find_combs(sorted(Random(seed).sample(range(5000), 12)), 0, 5000) == []


@pytest.mark.parametrize("slow", [[], [7], [7, 14]])
def test_fewer_than_three_slow_steps_are_no_comb(slow: list[int]) -> None:
    assert find_combs(slow, 0, 20) == []


def test_three_teeth_in_a_corner_of_a_long_run_are_no_comb() -> None:
    assert find_combs([100, 110, 120], 0, 5000) == []


def test_where_a_tenth_of_the_steps_is_slow_at_random_there_are_hardly_any_combs() -> None:
    """Of so many slow steps some lie at equal distances, whichever they are."""
    found = [find_combs(sorted(Random(seed).sample(range(150), 15)), 0, 150) for seed in range(100)]
    assert sum(bool(combs) for combs in found) <= 10


def test_a_comb_is_seen_among_many_slow_steps() -> None:
    slow = {*Random(1).sample(range(1000), 60), *range(20, 1000, 20)}
    assert 20 in {comb.period for comb in find_combs(sorted(slow), 0, 1000)}
