"""The ledger: everything adds up, by the wall where there is one, and nothing is made up."""

from __future__ import annotations

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import (
    NOON,
    Duration,
    Training,
    found,
    heavy_tailed,
    jitter,
    owners_of,
    seconds_of,
)

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


@pytest.mark.parametrize("sampling", list(Sampling)[:4])
@pytest.mark.parametrize("every", [1, 10])
def test_equal_steps_are_all_computing(sampling: Sampling, every: int) -> None:
    training = Training(sampling, every=every)
    training.train(200, 0.5)
    ledger = build(training.finish())
    assert owners_of(ledger) == set()
    assert seconds_of(ledger, Owner.COMPUTE) == ledger.wall_s
    assert ledger.wall_s == pytest.approx(100.0, rel=0.05)
    assert found(ledger.timeline.run) == {}


def test_printed_seconds_of_a_sampled_log_are_not_summed() -> None:
    """One step of ten is printed, and all evaluations are among them: ten times too dear."""
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(99)
    for _ in range(9):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    run = training.finish()
    ledger = build(run)
    assert ledger.wall_s == pytest.approx(training.step + 9 * 20.0, rel=0.02)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(180.0)
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(training.step, rel=0.02)
    assert ledger.accounts[Owner.COMPUTE].steps == pytest.approx(980, abs=10)


def test_unprinted_steps_count_at_the_baseline_of_their_regime() -> None:
    training = Training(Sampling.EVERY_KTH, every=10)
    training.train(500, 1.0)
    training.train(500, 3.0)
    assert build(training.finish()).wall_s == pytest.approx(2000.0, rel=0.02)


def test_everything_adds_up_to_the_wall() -> None:
    training = Training(pauses=Pauses.NONE, has_wall=True)
    training.wait(90.0)
    training.train(1, 30.0)
    for number in range(6):
        training.train(100, jitter(1.0, 0.02, number))
        training.pause(EVAL, 12.0)
        training.pause(SAVE, 8.0, is_stated=True)
        training.train(1)
        training.train(15, 2.5)
    training.resume(training.step - 40, 300.0)
    training.train(200, heavy_tailed(1.0))
    training.pause(SAVE, 60.0)
    ledger = build(training.finish())
    assert ledger.wall_s == pytest.approx(training.now - NOON)
    assert {owner for owner in Owner if seconds_of(ledger, owner) > 0} >= {
        Owner.COMPUTE,
        Owner.WARMUP,
        Owner.EVAL,
        Owner.SAVE,
        Owner.AFTERMATH,
        Owner.STARTUP,
        Owner.RESTART,
        Owner.LOST,
    }


def test_a_pause_counts_once_however_many_clocks_show_it() -> None:
    training = Training(pauses=Pauses.SAME, has_wall=True)
    training.train(100)
    training.pause(SAVE, 30.0, is_stated=True)
    training.train(100)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(30.0)
    assert ledger.wall_s == pytest.approx(230.0)


def test_a_first_step_with_an_unprinted_evaluation_is_not_counted_beside_the_start_up() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10, has_wall=True)
    training.wait(5.0)
    training.pause(EVAL, 20.0, is_named=True)
    training.train(99)
    for _ in range(3):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    training.train(1)
    ledger = build(training.finish())
    assert ledger.wall_s == pytest.approx(5.0 + 4 * 20.0 + 400.0)


def test_a_run_of_which_nothing_was_kept_still_adds_up() -> None:
    training = Training(has_wall=True, prints=False)
    training.wait(0.0)
    training.train(105)
    training.resume(0, 10.0)
    training.train(1)
    assert build(training.finish()).wall_s == pytest.approx(116.0)


def test_lost_steps_that_were_faster_than_usual_still_add_up() -> None:
    training = Training(has_wall=True, prints=False)
    training.wait(0.0)
    training.train(30, lambda step: 0.8 if step % 3 == 0 else 1.0)
    training.resume(0, 10.0)
    training.train(1)
    ledger = build(training.finish())
    assert ledger.wall_s == pytest.approx(39.0)
    assert sum(restart.lost_s for restart in ledger.restarts) == pytest.approx(
        seconds_of(ledger, Owner.LOST)
    )


def test_steps_of_the_owners_add_up_to_the_steps_done() -> None:
    training = Training()
    training.train(1, 9.0)
    for _ in range(5):
        training.train(60)
        training.pause(EVAL, 5.0)
    training.train(1)
    training.train(59)
    accounts = build(training.finish()).accounts
    assert sum(account.steps for account in accounts.values()) == 361
    assert accounts[Owner.WARMUP].steps == 1
    assert accounts[Owner.EVAL].steps == 5


def test_a_step_of_two_owners_counts_as_one_that_does_not_only_compute() -> None:
    training = Training()
    for number in range(1, 13):
        training.train(50)
        training.pause(EVAL, 9.0)
        if number % 3 == 0:
            training.pause(SAVE, 4.0)
    training.train(50)
    accounts = build(training.finish()).accounts
    assert accounts[Owner.COMPUTE].steps == 650 - 12


def test_pauses_have_a_typical_and_a_worst_cost() -> None:
    training = Training()
    for seconds in (4.0, 5.0, 60.0):
        training.train(50)
        training.pause(SAVE, seconds)
    training.train(50)
    account = build(training.finish()).accounts[Owner.SAVE]
    assert account.typical_s == pytest.approx(5.0)
    assert account.worst_s == pytest.approx(60.0)


def test_the_running_time_leaves_the_gaps_out() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.resume(100, 900.0, has_banner=True)
    training.train(100)
    ledger = build(training.finish())
    assert ledger.wall_s == pytest.approx(1100.0)
    assert ledger.running_s == pytest.approx(200.0)


def test_chronic_waits_come_out_of_computing() -> None:
    training = Training(has_wall=True)
    training.train(200, 2.4, data=0.8)
    ledger = build(training.finish())
    assert ledger.wall_s == pytest.approx(480.0)
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(160.0)


@pytest.mark.parametrize("num_steps", [1, 2, 3])
@pytest.mark.parametrize("has_wall", [False, True])
def test_a_run_of_very_few_steps_is_computing(num_steps: int, has_wall: bool) -> None:
    training = Training(has_wall=has_wall)
    training.train(num_steps, 3.0)
    ledger = build(training.finish())
    assert ledger.baseline_s == pytest.approx(3.0)
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(3.0 * num_steps)
    assert found(ledger.timeline.run) == {}


def test_two_steps_of_different_length_prove_nothing() -> None:
    training = Training()
    training.train(2, lambda step: {1: 30.0, 2: 1.0}[step])
    assert found(training.finish()).keys() <= {"warmup"}


def test_what_a_step_waits_for_data_is_not_typical_of_computing() -> None:
    training = Training()
    training.train(200, 2.4, data=0.8)
    accounts = build(training.finish()).accounts
    assert accounts[Owner.COMPUTE].typical_s == pytest.approx(1.6)
    assert accounts[Owner.DATA].typical_s == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("seconds", "resolution_s", "is_told"),
    [(jitter(2.0, 0.05), 0.0, True), (jitter(2.0, 0.05), 1.0, False), (2.0, 0.0, False)],
)
def test_a_spread_is_that_of_the_steps_or_none(
    seconds: Duration, resolution_s: float, is_told: bool
) -> None:
    training = Training(has_wall=True, prints=False, resolution_s=resolution_s)
    training.train(300, seconds)
    assert bool(build(training.finish()).spread_s) == is_told


def test_an_ordinary_step_of_two_speeds_is_weighed_by_their_steps() -> None:
    training = Training()
    training.train(300, 9.0)
    training.train(900, 1.0)
    assert build(training.finish()).mean_step_s == pytest.approx(3.0, rel=0.02)
