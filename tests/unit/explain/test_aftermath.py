"""Steps slowed down after a save, until the speed comes back."""

from __future__ import annotations

import pytest

from instride.explain.findings import findings
from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import (
    Duration,
    Training,
    disturbed,
    heavy_tailed,
    jitter,
    of,
    owners_of,
    seconds_of,
)

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


def test_the_end_of_a_plateau_behind_another_save_belongs_to_it_however_short() -> None:
    training = Training()
    training.train(300)
    for slow_steps in (20, 4):
        training.pause(SAVE, 5.0)
        training.train(1)
        training.train(slow_steps, 2.0)
    training.train(300)
    spans = of(build(training.finish()), Owner.AFTERMATH)
    assert [(s.first_step, s.last_step) for s in spans] == [(302, 321), (323, 326)]


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


def saving_beside(step_s: Duration, every: int = 50, factor: float = 1.0, times: int = 6) -> Ledger:
    """Saves of which the log says what they cost, as the journal does; then twelve slower steps."""
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    training.train(every, step_s)
    for _ in range(times):
        training.pause(SAVE, 0.01, is_stated=True)
        training.train(12, lambda step: factor * (step_s(step) if callable(step_s) else step_s))
        training.train(every - 12, step_s)
    return build(training.finish())


def told(ledger: Ledger) -> str | None:
    """How sure a finding of slow steps after saves is."""
    return next((f.confidence for f in findings(ledger) if f.id == "aftermath"), None)


@pytest.mark.parametrize("factor", [1.5, 2.0, 6.0])
def test_another_program_on_the_machine_is_not_blamed_on_saves(factor: float) -> None:
    confidences = [
        told(saving_beside(disturbed(1.0, factor, 12.0, 20.0, seed))) for seed in range(40)
    ]
    assert confidences.count(None) >= 36
    assert confidences.count("high") <= 1


def test_what_follows_saves_is_seen_beside_another_program() -> None:
    confidences = [
        told(saving_beside(disturbed(1.0, 1.5, 6.0, 60.0, seed), factor=3.0)) for seed in range(20)
    ]
    assert confidences.count("high") >= 18


def test_what_follows_saves_is_not_taken_for_what_is_found_where_nothing_is_saved() -> None:
    """Some steps are a little slow now and then: a look that begins with one of these before a save
    must not see on and on, what follows the save included."""
    training = Training()
    training.train(100)
    for _ in range(18):
        training.pause(SAVE, 5.0)
        training.train(1)
        training.train(20, 1.5)
        for _ in range(26):
            training.train(2)
            training.train(1, 1.3)
    ledger = build(training.finish())
    assert len(of(ledger, Owner.AFTERMATH)) == 18


def test_steps_that_were_slow_before_a_save_are_not_due_to_it() -> None:
    training = Training()
    training.train(300)
    training.train(10, 2.0)
    training.pause(SAVE, 5.0)
    training.train(1)
    training.train(10, 2.0)
    training.train(300)
    assert Owner.AFTERMATH not in owners_of(build(training.finish()))


def test_one_plateau_in_a_short_log_is_not_sure() -> None:
    assert told(saving(times=1, factor=2.0)) == "medium"
    assert told(saving(times=2, factor=2.0)) == "high"


def test_the_rest_of_a_step_whose_save_is_stated_is_no_save() -> None:
    """The call is told exactly: a step that is slower beyond it is one after the save."""
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    training.train(50)
    for _ in range(6):
        training.pause(SAVE, 0.1, is_stated=True)
        training.train(1, 1.8)
        training.train(49)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(0.6)
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(6 * 0.8)
    (finding,) = [f for f in findings(ledger) if f.owner is Owner.AFTERMATH]
    assert (finding.facts["count"], finding.facts["steps"]) == (6, 1)
    assert finding.facts["factor"] == pytest.approx(1.8)


def test_saves_too_close_to_compare_anything_with_get_what_the_log_states() -> None:
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    training.train(5)
    for _ in range(20):
        training.pause(SAVE, 0.1, is_stated=True)
        training.train(1, 1.8)
        training.train(4)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.SAVE, Owner.AFTERMATH}
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(2.0)
    assert told(ledger) == "medium"
    assert of(ledger, Owner.AFTERMATH)[0].factor == pytest.approx(1.8)
