"""What ordinary steps wait for data: sums of what is printed, and what spans own left out."""

from __future__ import annotations

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.explain.waiting import usual_data
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, found, of, seconds_of


def test_waits_that_alternate_are_summed_up() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(1010, 0.5, data=lambda step: 0.08 if step % 20 else 0.01)
    run = training.finish()
    assert seconds_of(build(run), Owner.DATA) == pytest.approx(51 * 0.8 + 50 * 0.1)
    told = found(run)["data-chronic"]
    assert told.facts["wait_s"] == pytest.approx(told.cost_s / 1010)


def test_a_stall_is_counted_once() -> None:
    training = Training()
    training.train(
        400,
        lambda step: 6.0 if step == 200 else 1.0,
        data=lambda step: 5.2 if step == 200 else 0.2,
    )
    ledger = build(training.finish())
    (stall,) = of(ledger, Owner.DATA)
    assert stall.cost_s == pytest.approx(5.0)
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(400 * 0.2 + 5.0)
    assert ledger.wall_s == pytest.approx(405.0)


def test_the_worst_wait_is_that_of_a_step_where_all_steps_wait() -> None:
    training = Training()
    training.train(
        400,
        lambda step: 2.9 if step == 200 else 2.4,
        data=lambda step: 1.3 if step == 200 else 0.8,
    )
    ledger = build(training.finish())
    account = ledger.accounts[Owner.DATA]
    assert account.typical_s == pytest.approx(0.8)
    assert account.worst_s == pytest.approx(1.3)
    assert ledger.wall_s == pytest.approx(400 * 2.4 + 0.5)


def test_a_wait_inside_a_pause_belongs_to_the_pause() -> None:
    training = Training()
    training.train(200, 1.0, data=0.1)
    training.pause(EventKind.EVAL, 30.0)
    training.train(200, 1.0, data=lambda step: 9.0 if step == 201 else 0.1)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(30.0)
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(400 * 0.1)


def test_where_every_second_step_waits_the_usual_wait_is_one_that_was_printed() -> None:
    training = Training()
    training.train(100, 1.0, data=lambda step: 2.7 if step % 2 else 0.01)
    assert usual_data(training.finish()) == 0.01


def test_no_step_waits_longer_than_it_takes() -> None:
    training = Training(pauses=Pauses.NONE)
    for _ in range(50):
        training.train(1, 4.0, data=2.7)
        training.train(1, 1.3, data=0.01)
        training.mark(EventKind.EPOCH)
    told = found(training.finish())
    assert "data-chronic" not in told
    assert "worker-turns" not in told
    assert told["epoch-stalls"].facts["count"] == 49


def test_a_log_without_waits_has_none() -> None:
    training = Training()
    training.train(100)
    assert build(training.finish()).mean_wait_s == 0.0
