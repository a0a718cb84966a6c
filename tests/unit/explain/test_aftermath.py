"""Steps slowed down after a save, until the speed comes back."""

from __future__ import annotations

import pytest

from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, heavy_tailed, jitter, of, owners_of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def saving(
    times: int,
    factor: float,
    slow_steps: int = 30,
    noise: float = 0.005,
    training: Training | None = None,
    kind: EventKind = SAVE,
) -> Ledger:
    """A run with a pause every 100 steps, each followed by slow ones."""
    training = training or Training()
    training.train(100, jitter(1.0, noise, seed=1))
    for number in range(times):
        training.pause(kind, 5.0)
        training.train(1)
        training.train(slow_steps, jitter(factor, noise, seed=number))
        training.train(99 - slow_steps, jitter(1.0, noise, seed=50 + number))
    return build(training.finish())


def test_a_plateau_after_a_save_is_aftermath_until_the_speed_comes_back() -> None:
    ledger = saving(times=1, factor=2.0)
    (span,) = of(ledger, Owner.AFTERMATH)
    assert (span.first_step, span.last_step) == (102, 131)
    assert span.extra_s == pytest.approx(30.0, rel=0.02)
    assert span.factor == pytest.approx(2.0, rel=0.01)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(5.0, rel=0.02)


def test_a_plateau_may_run_to_the_end_of_the_process() -> None:
    training = Training()
    training.train(400)
    training.pause(SAVE, 30.0)
    training.train(1)
    training.train(23, 3.2)
    ledger = build(training.finish())
    (span,) = of(ledger, Owner.AFTERMATH)
    assert (span.first_step, span.last_step) == (402, 424)
    assert span.extra_s == pytest.approx(23 * 2.2)


def test_a_plateau_may_run_to_the_next_save() -> None:
    training = Training()
    training.train(300)
    for _ in range(2):
        training.pause(SAVE, 5.0)
        training.train(1)
        training.train(20, 2.0)
    training.train(300)
    ledger = build(training.finish())
    assert [(s.first_step, s.last_step) for s in of(ledger, Owner.AFTERMATH)] == [
        (302, 321),
        (323, 342),
    ]


def test_an_evaluation_inside_a_plateau_keeps_its_own_time() -> None:
    training = Training()
    training.train(300)
    training.pause(SAVE, 5.0)
    training.train(1)
    training.train(10, 2.0)
    training.pause(EVAL, 8.0)
    training.train(1)
    training.train(10, 2.0)
    training.train(300)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(20.0)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(8.0)
    assert owners_of(ledger) == {Owner.SAVE, Owner.AFTERMATH, Owner.EVAL}


def test_one_fast_step_does_not_end_a_plateau() -> None:
    training = Training()
    training.train(300)
    training.pause(SAVE, 5.0)
    training.train(1)
    training.train(20, lambda step: 1.0 if step == 310 else 2.0)
    training.train(300)
    (span,) = of(build(training.finish()), Owner.AFTERMATH)
    assert (span.first_step, span.last_step) == (302, 321)
    assert span.extra_s == pytest.approx(19.0)


def test_step_numbers_that_jump_take_nothing_off_a_plateau() -> None:
    training = Training(has_wall=True)
    training.train(300)
    training.pause(SAVE, 5.0)
    training.train(1)
    training.train(10, 2.0)
    training.step += 1000
    training.train(1)
    training.train(10, 2.0)
    training.train(300)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(20.0, abs=1.0)


def test_steps_that_warm_up_right_after_a_save_are_counted_once() -> None:
    training = Training(has_wall=True, prints=False)
    training.pause(SAVE, 5.0)
    training.train(5, 3.0)
    training.train(200)
    ledger = build(training.finish())
    slow = seconds_of(ledger, Owner.AFTERMATH) + seconds_of(ledger, Owner.WARMUP)
    assert slow == pytest.approx(8.0)


def test_a_slow_down_of_twelve_percent_is_found_after_five_saves() -> None:
    ledger = saving(times=5, factor=1.12)
    assert len(of(ledger, Owner.AFTERMATH)) == 5
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(5 * 30 * 0.12, rel=0.1)


def test_a_slow_down_of_twelve_percent_is_not_found_after_one_save() -> None:
    assert owners_of(saving(times=1, factor=1.12)) == {Owner.SAVE}


def test_a_slow_down_of_five_percent_is_not_found_at_all() -> None:
    assert owners_of(saving(times=8, factor=1.05)) == {Owner.SAVE}


def test_saves_that_slow_nothing_down_have_no_aftermath() -> None:
    assert owners_of(saving(times=8, factor=1.0)) == {Owner.SAVE}


@pytest.mark.parametrize(("factor", "owner"), [(3.0, Owner.AFTERMATH), (1.3, Owner.UNKNOWN)])
def test_one_plateau_among_many_saves_must_be_a_strong_one(factor: float, owner: Owner) -> None:
    training = Training()
    for number in range(6):
        training.train(100)
        training.pause(SAVE, 5.0)
        training.train(1)
        training.train(20, factor if number == 2 else 1.0)
    training.train(100)
    assert owners_of(build(training.finish())) == {Owner.SAVE, owner}


@pytest.mark.parametrize("seed", range(8))
def test_noise_after_saves_is_no_aftermath(seed: int) -> None:
    training = Training()
    noisy = heavy_tailed(1.0, seed)
    for _ in range(5):
        training.train(100, noisy)
        training.pause(SAVE, 5.0)
    training.train(100, noisy)
    assert Owner.AFTERMATH not in owners_of(build(training.finish()))


def test_a_single_slow_step_after_a_save_is_no_aftermath() -> None:
    assert Owner.AFTERMATH not in owners_of(saving(times=1, factor=2.0, slow_steps=1))


def test_a_plateau_after_an_evaluation_is_unknown() -> None:
    ledger = saving(times=1, factor=2.0, kind=EVAL)
    assert owners_of(ledger) == {Owner.EVAL, Owner.UNKNOWN}


def test_a_plateau_long_after_a_save_is_unknown() -> None:
    training = Training()
    training.train(200)
    training.pause(SAVE, 5.0)
    training.train(50)
    training.train(30, 2.0)
    training.train(200)
    assert owners_of(build(training.finish())) == {Owner.SAVE, Owner.UNKNOWN}


def test_a_sampled_log_estimates_the_slow_steps_that_it_does_not_print() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(399)
    training.pause(SAVE, 5.0, is_named=True)
    training.train(1)
    training.train(80, 2.0)
    training.train(320)
    ledger = build(training.finish())
    (span,) = of(ledger, Owner.AFTERMATH)
    assert span.extra_s == pytest.approx(8.0)
    assert span.cost_s == pytest.approx(80.0, rel=0.15)


def test_averages_show_an_aftermath_too() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10)
    training.train(400)
    training.pause(SAVE, 5.0)
    training.train(80, 2.0)
    training.train(320)
    ledger = build(training.finish())
    together = seconds_of(ledger, Owner.AFTERMATH) + seconds_of(ledger, Owner.SAVE)
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(70.0)
    assert together == pytest.approx(85.0)


def test_a_clock_that_stops_for_saves_still_shows_their_aftermath() -> None:
    ledger = saving(times=2, factor=2.0, training=Training(pauses=Pauses.NONE))
    assert owners_of(ledger) == {Owner.AFTERMATH}
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(60.0, rel=0.02)


def test_a_moving_average_that_still_holds_a_save_is_no_aftermath() -> None:
    training = Training(pauses=Pauses.SMOOTHED)
    training.train(200)
    for _ in range(4):
        training.pause(SAVE, 20.0)
        training.train(200)
    ledger = build(training.finish())
    assert owners_of(ledger) <= {Owner.SAVE}


def test_a_moving_average_beside_a_wall_is_not_looked_at() -> None:
    training = Training(pauses=Pauses.SMOOTHED, has_wall=True)
    training.train(200)
    for _ in range(4):
        training.pause(SAVE, 20.0)
        training.train(200)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.SAVE}
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(80.0)


def test_one_slow_record_of_many_steps_after_a_stated_save_is_an_aftermath() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10, has_wall=True)
    training.train(300)
    for _ in range(4):
        training.pause(SAVE, 5.0, is_stated=True)
        training.train(10)
        training.train(10, 2.0)
        training.train(180)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(20.0)
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(40.0)
