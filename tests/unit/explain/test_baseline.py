"""The ordinary step: robust, per process, per regime, by a coarse clock too."""

from __future__ import annotations

from random import Random

import pytest

from instride.explain.ledger import build
from instride.steps.model import EventKind, Pauses, Run, Sampling
from tests.unit.explain.making import Training, heavy_tailed, jitter, owners_of


def bases(run: Run) -> list[list[float]]:
    """Baselines of the regimes, by process."""
    return [[regime.base_s for regime in own] for own in build(run).regimes]


def test_a_fifth_of_slow_steps_does_not_move_the_baseline() -> None:
    training = Training()
    training.train(400, lambda step: 5.0 if step % 5 == 0 else 1.0)
    assert build(training.finish()).baseline_s == pytest.approx(1.0)


def test_marked_steps_are_not_ordinary_even_if_they_are_most() -> None:
    training = Training()
    for _ in range(100):
        training.pause(EventKind.EVAL, 4.0)
        training.train(1)
        training.pause(EventKind.EVAL, 4.0)
        training.train(1)
        training.train(1)
    assert build(training.finish()).baseline_s == pytest.approx(1.0)


def test_where_every_step_saves_a_step_with_a_save_is_ordinary() -> None:
    training = Training()
    for _ in range(100):
        training.pause(EventKind.SAVE, 0.5)
        training.train(1)
    assert build(training.finish()).baseline_s == pytest.approx(1.5)


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_one_regime(seed: int) -> None:
    training = Training()
    training.train(1000, heavy_tailed(1.0, seed))
    (own,) = bases(training.finish())
    assert own == [pytest.approx(1.0, rel=0.03)]


@pytest.mark.parametrize("seed", range(12))
def test_steps_of_two_lengths_at_random_are_one_regime(seed: int) -> None:
    random = Random(seed)
    training = Training()
    training.train(1000, lambda _: random.choice([1.0, 1.4]))
    (own,) = bases(training.finish())
    assert len(own) == 1


@pytest.mark.parametrize("factor", [1.25, 1.5, 4.0])
def test_a_curriculum_is_two_regimes_with_the_border_where_it_changed(factor: float) -> None:
    training = Training()
    training.train(300, jitter(1.0, 0.01))
    training.train(300, jitter(factor, 0.01))
    (own,) = build(training.finish()).regimes
    assert [regime.base_s for regime in own] == pytest.approx([1.0, factor], rel=0.01)
    assert own[1].begin == pytest.approx(300, abs=1)


def test_regimes_cover_all_records_of_a_process_once() -> None:
    training = Training()
    for seconds in (1.0, 1.5, 2.5):
        training.train(150, jitter(seconds, 0.01))
    (own,) = build(training.finish()).regimes
    assert [regime.begin for regime in own] == [0, *(regime.end for regime in own[:-1])]
    assert own[-1].end == 450
    assert len(own) == 3


def test_a_slow_stretch_that_ends_is_no_regime() -> None:
    training = Training()
    training.train(300)
    training.train(40, 2.0)
    training.train(300)
    assert bases(training.finish()) == [[pytest.approx(1.0)]]


def test_a_slow_stretch_from_a_save_to_the_end_is_no_regime() -> None:
    training = Training()
    training.train(200)
    training.pause(EventKind.SAVE, 9.0)
    training.train(1)
    training.train(40, 3.0)
    assert bases(training.finish()) == [[pytest.approx(1.0)]]


def test_a_change_at_a_save_that_outlasts_more_saves_is_a_regime() -> None:
    training = Training()
    training.train(200)
    for _ in range(4):
        training.pause(EventKind.SAVE, 9.0)
        training.train(100, 1.6)
    assert bases(training.finish()) == [pytest.approx([1.0, 1.6])]


def test_every_process_has_its_own_baseline() -> None:
    training = Training()
    training.train(100)
    training.resume(100, has_banner=True)
    training.train(100, 3.0)
    assert bases(training.finish()) == [[pytest.approx(1.0)], [pytest.approx(3.0)]]


def test_a_process_of_three_records_borrows_the_baseline_of_its_neighbour() -> None:
    training = Training()
    training.train(100)
    training.resume(90)
    training.train(3, lambda step: 1.4 if step == 91 else 1.0)
    assert bases(training.finish()) == [[pytest.approx(1.0)], [pytest.approx(1.0)]]


def test_the_baseline_of_the_run_is_that_of_most_steps() -> None:
    training = Training()
    training.train(100, 2.0)
    training.train(400, 0.5)
    assert build(training.finish()).baseline_s == pytest.approx(0.5)


def test_an_average_is_divided_by_its_steps() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10)
    training.train(300, 0.25)
    assert build(training.finish()).baseline_s == pytest.approx(0.25)


def test_the_printed_step_time_is_preferred_to_a_wall_that_holds_a_little_more() -> None:
    training = Training(has_wall=True)
    for _ in range(200):
        training.train(1)
        training.now += 0.02
    assert build(training.finish()).baseline_s == pytest.approx(1.0)


def test_a_loop_that_spends_much_outside_its_own_clock_has_the_baseline_of_the_wall() -> None:
    training = Training(has_wall=True)
    for _ in range(200):
        training.train(1)
        training.now += 0.5
    assert build(training.finish()).baseline_s == pytest.approx(1.5)


@pytest.mark.parametrize("seconds", [0.13, 0.685, 1.0, 2.3, 7.6])
@pytest.mark.parametrize("is_absolute", [True, False])
def test_a_clock_of_whole_seconds_still_tells_the_step_time(
    seconds: float, is_absolute: bool
) -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0, is_absolute=is_absolute)
    training.train(800, seconds)
    ledger = build(training.finish())
    assert ledger.baseline_s == pytest.approx(seconds, rel=0.03)
    assert owners_of(ledger) == set()


def test_a_few_ticks_of_a_coarse_clock_give_a_rough_baseline() -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0)
    training.train(5, 2.3)
    assert build(training.finish()).baseline_s == pytest.approx(2.3, rel=0.25)


def test_a_clock_of_whole_seconds_beside_printed_times_does_not_spoil_them() -> None:
    training = Training(has_wall=True, resolution_s=1.0)
    training.train(800, 0.21)
    assert build(training.finish()).baseline_s == pytest.approx(0.21, rel=0.01)


def test_a_clock_of_whole_seconds_still_shows_a_curriculum() -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0)
    training.train(400, 0.685)
    training.train(400, 2.3)
    assert bases(training.finish()) == [pytest.approx([0.685, 2.3], rel=0.05)]


def test_zero_and_missing_times_do_not_lower_the_baseline() -> None:
    training = Training()
    odd = {0: 0.0, 1: float("nan")}
    training.train(300, lambda step: odd.get(step % 3, 1.0))
    assert build(training.finish()).baseline_s == pytest.approx(1.0)
