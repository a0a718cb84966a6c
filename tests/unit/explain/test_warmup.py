"""The slow first steps of a process, and what else may be in them."""

from __future__ import annotations

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, of, owners_of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def test_slow_first_steps_are_warm_up() -> None:
    training = Training()
    training.train(2, lambda step: {1: 75.0, 2: 3.0}[step])
    training.train(300)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.WARMUP}
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(74.0 + 2.0)
    assert ledger.accounts[Owner.WARMUP].steps == 2


def test_every_process_warms_up() -> None:
    training = Training(has_wall=True)
    training.train(1, 8.0)
    training.train(100)
    training.resume(101, 60.0, has_banner=True)
    training.train(1, 7.0)
    training.train(100)
    ledger = build(training.finish())
    assert [span.last_step for span in of(ledger, Owner.WARMUP)] == [1, 102]
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(13.0)


def test_a_process_of_two_steps_warms_up_too() -> None:
    training = Training()
    training.train(500, 5.4)
    training.resume(480)
    training.train(1, 7.6)
    training.train(1, 5.4)
    ledger = build(training.finish())
    assert [span.last_step for span in of(ledger, Owner.WARMUP)] == [481]


def test_the_first_average_holds_the_warm_up() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10)
    training.train(1, 9.0)
    training.train(199)
    ledger = build(training.finish())
    (span,) = of(ledger, Owner.WARMUP)
    assert (span.first_step, span.last_step) == (1, 10)
    assert span.extra_s == pytest.approx(8.0)


def test_an_ordinary_first_step_is_no_warm_up() -> None:
    training = Training()
    training.train(300)
    assert owners_of(build(training.finish())) == set()


def test_what_is_slow_after_an_ordinary_step_is_no_warm_up() -> None:
    training = Training()
    training.train(1)
    training.train(4, 2.0)
    training.train(300)
    assert owners_of(build(training.finish())) == {Owner.UNKNOWN}


def test_a_first_step_that_only_evaluates_is_an_evaluation() -> None:
    training = Training()
    for _ in range(5):
        training.pause(EVAL, 9.0)
        training.train(50)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.EVAL}
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(45.0)


def test_a_first_step_that_evaluates_and_compiles_is_both() -> None:
    training = Training()
    training.pause(EVAL, 9.0)
    training.train(1, 31.0)
    training.train(49)
    for _ in range(4):
        training.pause(EVAL, 9.0)
        training.train(50)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(45.0)
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(30.0)


def test_a_first_step_that_evaluates_and_saves_as_usual_is_no_warm_up() -> None:
    training = Training()
    for number in range(10):
        training.pause(EVAL, 9.0)
        if number % 3 == 0:
            training.pause(SAVE, 4.0)
        training.train(50)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(0.0)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(10 * 9.0)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(4 * 4.0)


@pytest.mark.parametrize("kinds", [[EVAL], [SAVE], [EVAL, SAVE]])
def test_a_first_step_with_a_pause_of_unknown_cost_keeps_all_its_time(
    kinds: list[EventKind],
) -> None:
    training = Training()
    for kind in kinds:
        training.pause(kind, 9.0)
    training.train(200)
    ledger = build(training.finish())
    assert owners_of(ledger) <= {Owner.EVAL, Owner.SAVE, Owner.WARMUP}
    assert sum(span.cost_s for span in ledger.spans) == pytest.approx(9.0 * len(kinds))


def test_a_first_step_that_evaluates_without_saving_tells_what_the_save_costs() -> None:
    training = Training()
    training.pause(EVAL, 9.0)
    training.train(50)
    for _ in range(4):
        training.pause(EVAL, 9.0)
        training.pause(SAVE, 0.5)
        training.train(50)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(45.0)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(2.0)


def test_a_first_step_that_saves_as_usual_is_no_warm_up() -> None:
    training = Training()
    for _ in range(5):
        training.pause(SAVE, 9.0)
        training.train(50)
    assert owners_of(build(training.finish())) == {Owner.SAVE}


def test_a_first_step_that_waits_for_data_is_a_data_stall() -> None:
    training = Training()
    training.train(1, 4.5, data=3.6)
    training.train(300, 0.5, data=0.01)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(3.59, abs=0.02)
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(0.41, abs=0.02)
