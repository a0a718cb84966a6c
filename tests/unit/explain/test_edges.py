"""Before the first step and after the last: start-up, closing saves, what nobody explains."""

from __future__ import annotations

import pytest

from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, found, gaps_in, of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def closing(ledger: Ledger) -> list[Span]:
    return [span for span in ledger.spans if span.is_closing]


def test_start_up_goes_from_the_first_time_to_the_first_step() -> None:
    training = Training(has_wall=True)
    training.wait(300.0)
    training.train(100, 2.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.STARTUP) == pytest.approx(300.0)
    assert ledger.wall_s == pytest.approx(500.0)


def test_launches_that_came_to_no_step_are_no_start_up() -> None:
    training = Training(has_wall=True)
    for _ in range(3):
        training.mark(EventKind.START)
        training.wait(300.0)
    training.train(100, 2.0)
    run = training.finish()
    ledger = build(run)
    assert seconds_of(ledger, Owner.STARTUP) == pytest.approx(300.0)
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(600.0)
    assert ledger.wall_s == pytest.approx(1100.0)
    told = found(run)["failed-launches"]
    assert (told.facts["launches"], told.lines) == (2, [1, 7])
    assert found(run)["startup"].lines == [7, 10]


def test_launches_without_a_time_leave_start_up_as_long_as_the_log_shows() -> None:
    training = Training(has_wall=True)
    training.wait(300.0)
    training.log.event(EventKind.START, 1)
    training.log.event(EventKind.START, 2)
    training.train(100, 2.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.STARTUP) == pytest.approx(300.0)


def test_without_a_clock_there_is_no_start_up() -> None:
    training = Training()
    training.wait(300.0)
    training.train(100)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.STARTUP) == 0.0
    assert ledger.wall_s == pytest.approx(100.0)


def test_a_log_that_begins_with_its_first_step_has_no_start_up() -> None:
    training = Training(has_wall=True)
    training.train(100)
    assert "startup" not in found(training.finish())


def test_a_closing_save_has_its_stated_seconds() -> None:
    training = Training()
    training.train(100)
    training.pause(SAVE, 285.0, is_stated=True)
    ledger = build(training.finish())
    (span,) = closing(ledger)
    assert (span.owner, span.last_step, span.told) == (Owner.SAVE, 100, Told.STATED)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(285.0)
    assert ledger.wall_s == pytest.approx(385.0)


@pytest.mark.parametrize("pauses", list(Pauses))
def test_a_closing_save_is_measured_by_the_clock(pauses: Pauses) -> None:
    training = Training(pauses=pauses, has_wall=True)
    training.train(100)
    training.pause(SAVE, 60.0)
    ledger = build(training.finish())
    (span,) = closing(ledger)
    assert (span.owner, span.told) == (Owner.SAVE, Told.MARKER)
    assert span.extra_s == pytest.approx(60.0)


def test_a_closing_save_that_is_stated_leaves_the_rest_of_the_clock_unknown() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.pause(SAVE, 60.0, is_stated=True)
    training.wait(40.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(60.0)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(40.0)
    assert ledger.wall_s == pytest.approx(200.0)


def test_a_stated_evaluation_and_a_marked_save_share_what_follows_the_last_step() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.pause(EVAL, 20.0, is_stated=True)
    training.pause(SAVE, 30.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(20.0)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(30.0)


def test_an_evaluation_and_a_save_after_the_last_step_are_not_given_to_one_of_them() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.pause(EVAL, 20.0)
    training.pause(SAVE, 30.0)
    assert "joint" in gaps_in(training.finish())


def test_a_step_that_was_cut_short_is_computing_and_not_the_worst_of_it() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.wait(0.8)
    ledger = build(training.finish())
    (span,) = closing(ledger)
    assert span.owner is Owner.COMPUTE
    assert span.cost_s == pytest.approx(0.8)
    assert seconds_of(ledger, Owner.COMPUTE) == ledger.wall_s == pytest.approx(100.8)
    assert ledger.accounts[Owner.COMPUTE].typical_s == pytest.approx(1.0)
    assert ledger.accounts[Owner.COMPUTE].worst_s is None


def test_work_after_the_last_step_that_no_line_explains_is_unknown() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.wait(60.0)
    run = training.finish()
    ledger = build(run)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(60.0)
    assert found(run)["closing-unknown"].confidence == "low"


def test_steps_after_the_last_printed_one_are_computing() -> None:
    training = Training(Sampling.AVERAGE, every=10, has_wall=True)
    training.train(104)
    training.wait(0.0)
    run = training.finish()
    ledger = build(run)
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(104.0)
    assert found(run) == {}


def test_each_process_has_its_closing_work() -> None:
    training = Training(has_wall=True)
    for _ in range(2):
        training.train(100)
        training.pause(SAVE, 60.0)
        training.resume(training.step, 30.0, has_banner=True)
    training.train(100)
    ledger = build(training.finish())
    assert [span.last_step for span in of(ledger, Owner.SAVE)] == [100, 200]
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(120.0)
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(60.0)


def test_closing_work_counts_no_steps() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.pause(SAVE, 60.0)
    accounts = build(training.finish()).accounts
    assert accounts[Owner.SAVE].steps == 0
    assert accounts[Owner.COMPUTE].steps == 100
