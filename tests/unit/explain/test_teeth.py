"""Combs that go on where nothing is saved: their teeth behind saves are no aftermath."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from instride.explain.findings import Finding, findings
from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, disturbed, jitter, of, owners_of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE
Longer = Callable[[int], float]
"""Seconds by which a step takes longer, for its number."""


def saving(
    longer: Longer,
    times: int = 8,
    every: int = 100,
    seed: int = 0,
    noise: float = 0.01,
    training: Training | None = None,
    skipped: Callable[[int], bool] = lambda number: False,
) -> Ledger:
    """Saves every so many steps of which the log says what they cost, as the journal does."""
    training = training or Training(pauses=Pauses.NEXT, has_wall=True)
    usual = jitter(1.0, noise, seed)
    for number in range(times):
        training.train(every, lambda step: usual(step) + longer(step))
        if not skipped(number):
            training.pause(SAVE, 0.01, is_stated=True)
    training.train(every, lambda step: usual(step) + longer(step))
    return build(training.finish())


def comb(period: int, seconds: float, phase: int = 1) -> Longer:
    return lambda step: seconds if step % period == phase and step > period else 0.0


def both(*longer: Longer) -> Longer:
    return lambda step: sum(each(step) for each in longer)


def named(ledger: Ledger, name: str) -> Finding | None:
    return next((each for each in findings(ledger) if each.id == name), None)


@pytest.mark.parametrize("parts", [2, 3, 4])
@pytest.mark.parametrize("seconds", [0.5, 9.0, 30.0])
def test_a_comb_that_goes_on_between_saves_is_no_aftermath(parts: int, seconds: float) -> None:
    ledger = saving(comb(480 // parts, seconds), every=480)
    assert owners_of(ledger) == {Owner.SAVE, Owner.UNKNOWN}
    (finding,) = [each for each in findings(ledger) if each.owner is Owner.UNKNOWN]
    assert (finding.id, finding.facts["period"]) == ("periodic", 480 // parts)
    assert finding.facts["count"] == 9 * parts - 1
    assert finding.cost_s == pytest.approx((9 * parts - 1) * seconds, rel=0.05)


@pytest.mark.parametrize("seed", range(10))
def test_teeth_that_are_not_quite_alike_are_a_comb_too(seed: int) -> None:
    tooth = jitter(5.0, 0.25, seed)
    ledger = saving(lambda step: tooth(step) if step % 50 == 1 and step > 50 else 0.0, seed=seed)
    assert Owner.AFTERMATH not in owners_of(ledger)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {50}


def test_a_tooth_that_is_missing_now_and_then_makes_no_aftermath_of_the_others() -> None:
    ledger = saving(
        lambda step: 5.0 if step % 50 == 1 and step not in (1, 151, 501) else 0.0, times=8
    )
    assert Owner.AFTERMATH not in owners_of(ledger)
    assert len(of(ledger, Owner.UNKNOWN)) == 15


@pytest.mark.parametrize("seed", range(10))
def test_a_comb_on_a_busy_machine_is_no_aftermath(seed: int) -> None:
    busy = disturbed(1.0, 1.5, 6.0, 60.0, seed)
    ledger = saving(both(comb(50, 9.0), lambda step: busy(step) - 1.0))
    assert seconds_of(ledger, Owner.AFTERMATH) < 9.0
    assert 50 in {span.period for span in of(ledger, Owner.UNKNOWN)}


def test_evaluations_half_as_often_again_as_saves_are_no_aftermath_of_every_third() -> None:
    """The period of a comb need not be a part of that of the saves."""
    ledger = saving(comb(150, 9.0), times=15)
    assert Owner.AFTERMATH not in owners_of(ledger)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {150}


def test_saves_that_skip_some_teeth_of_their_own_distance_are_not_to_blame() -> None:
    ledger = saving(comb(100, 9.0), times=12, skipped=lambda number: number % 3 == 2)
    assert Owner.AFTERMATH not in owners_of(ledger)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {100}


def test_processes_that_are_too_short_for_a_comb_have_it_together() -> None:
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    longer = comb(50, 9.0)
    for number in range(6):
        training.train(100, lambda step: 1.0 + longer(step))
        training.pause(SAVE, 0.01, is_stated=True)
        training.train(30, lambda step: 1.0 + longer(step))
        training.resume(100 * (number + 1), 5.0, has_banner=True)
    ledger = build(training.finish())
    assert Owner.AFTERMATH not in owners_of(ledger)
    finding = named(ledger, "periodic")
    assert finding is not None
    assert finding.facts["period"] == 50


def test_a_comb_in_averages_is_no_aftermath() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10, has_wall=True)
    ledger = saving(comb(100, 20.0), every=200, training=training)
    assert Owner.AFTERMATH not in owners_of(ledger)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {100}


def test_a_comb_at_the_distance_of_marked_evaluations_is_evaluation() -> None:
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    for _ in range(5):
        training.train(50)
        training.pause(EVAL, 9.0)
    training.train(50)
    training.resume(300, 60.0, has_banner=True)
    ledger = saving(comb(50, 9.0), training=training)
    assert owners_of(ledger) == {Owner.SAVE, Owner.EVAL, Owner.WARMUP}
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx((5 + 17) * 9.0, rel=0.05)


def test_a_rhythm_of_the_loop_that_spreads_is_no_aftermath() -> None:
    """Only beats that are longer than usual are slow, behind saves as anywhere else."""
    beat = jitter(0.6, 0.4, seed=3)
    ledger = saving(lambda step: beat(step) if step % 25 == 1 else 0.0, times=12)
    assert ledger.rhythm is not None
    assert ledger.rhythm.period == 25
    assert Owner.AFTERMATH not in owners_of(ledger)


def test_an_aftermath_beside_a_comb_of_another_phase_stays_one() -> None:
    ledger = saving(both(comb(100, 2.0), comb(50, 9.0, phase=26)))
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(8 * 2.0, rel=0.05)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {50}
    finding = named(ledger, "aftermath")
    assert finding is not None
    assert finding.confidence == "high"


def test_a_tooth_within_an_aftermath_is_told_apart_from_it() -> None:
    ledger = saving(
        both(
            lambda step: 1.0 if 1 <= step % 100 <= 30 and step > 100 else 0.0,
            comb(50, 9.0, phase=26),
        )
    )
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(8 * 30.0, rel=0.05)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(17 * 9.0, rel=0.05)


@pytest.mark.parametrize("beyond", [1.5, 4.0])
def test_what_is_slower_behind_saves_than_the_comb_is_aftermath(beyond: float) -> None:
    ledger = saving(both(comb(50, 3.0), comb(100, beyond)))
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(8 * beyond, rel=0.1)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(17 * 3.0, rel=0.1)


def test_more_slow_steps_than_those_of_the_comb_are_aftermath() -> None:
    ledger = saving(both(comb(50, 9.0), lambda s: 1.0 if 2 <= s % 100 <= 12 and s > 100 else 0.0))
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(8 * 11.0, rel=0.05)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(17 * 9.0, rel=0.05)


def test_shorter_slow_steps_between_saves_are_no_comb_with_those_behind_them() -> None:
    ledger = saving(both(comb(100, 9.0), comb(100, 1.0, phase=51)))
    assert seconds_of(ledger, Owner.AFTERMATH) > 8 * 7.9


def test_longer_slow_steps_between_saves_are_no_comb_with_those_behind_them() -> None:
    ledger = saving(both(comb(100, 1.0), comb(100, 9.0, phase=51)))
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(8.0, rel=0.05)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {100}


def test_an_aftermath_whose_every_second_save_is_skipped_stays_one() -> None:
    ledger = saving(comb(200, 2.0), times=12, skipped=lambda number: number % 2 == 0)
    assert owners_of(ledger) == {Owner.SAVE, Owner.AFTERMATH}
    finding = named(ledger, "aftermath")
    assert finding is not None
    assert finding.confidence == "high"


@pytest.mark.parametrize("seed", range(10))
def test_an_aftermath_amid_single_slow_steps_stays_one(seed: int) -> None:
    random = Random(seed)
    ledger = saving(both(comb(100, 2.0), lambda _: 2.0 if random.random() < 0.01 else 0.0))
    finding = named(ledger, "aftermath")
    assert finding is not None
    assert finding.confidence == "high"
    assert finding.facts["count"] == 8


def test_one_slow_step_between_two_saves_is_too_few_to_tell() -> None:
    training = Training(pauses=Pauses.NEXT, has_wall=True, step=60)
    training.train(40)
    training.pause(SAVE, 0.01, is_stated=True)
    training.train(1, 5.0)
    training.train(49)
    training.train(1, 5.0)
    training.train(49)
    training.pause(SAVE, 0.01, is_stated=True)
    training.train(1, 5.0)
    training.train(40)
    finding = named(build(training.finish()), "aftermath")
    assert finding is not None
    assert finding.confidence == "medium"


def test_a_step_counter_that_jumps_is_survived() -> None:
    training = Training(pauses=Pauses.NEXT, has_wall=True)
    training.train(60)
    for _ in range(6):
        training.pause(SAVE, 0.01, is_stated=True)
        training.train(1, 5.0)
        training.train(20)
        training.step += 10**12
        training.train(20)
        training.train(1, 2.0)
        training.train(20)
    assert Owner.AFTERMATH in owners_of(build(training.finish()))
