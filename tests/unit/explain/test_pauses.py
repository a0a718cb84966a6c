"""Pauses that the log marks: where their time lands, and how it is shared between owners."""

from __future__ import annotations

import pytest

from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner, Told
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, gaps_in, jitter, of, owners_of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def evaluating(training: Training, every: int, seconds: float, times: int) -> Ledger:
    training.train(every)
    for _ in range(times):
        training.pause(EVAL, seconds)
        training.train(every)
    return build(training.finish())


def steps_of(ledger: Ledger, owner: Owner) -> list[tuple[int, int]]:
    return [(span.first_step, span.last_step) for span in of(ledger, owner)]


def test_evaluations_every_ten_steps_at_three_times_the_step() -> None:
    ledger = evaluating(Training(), every=10, seconds=2.0, times=20)
    assert owners_of(ledger) == {Owner.EVAL}
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(40.0)
    assert steps_of(ledger, Owner.EVAL) == [(10 * i + 1, 10 * i + 1) for i in range(1, 21)]
    assert [span.factor for span in of(ledger, Owner.EVAL)] == pytest.approx([3.0] * 20)
    assert ledger.baseline_s == pytest.approx(1.0)


@pytest.mark.parametrize("sampling", [Sampling.AVERAGE, Sampling.RUNNING_TOTAL])
def test_an_average_over_ten_steps_hides_a_tenth_of_the_pause_in_each(sampling: Sampling) -> None:
    ledger = evaluating(Training(sampling, Pauses.NEXT, every=10), 100, 1.8, 5)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(5 * 1.8)
    assert steps_of(ledger, Owner.EVAL)[0] == (101, 110)
    assert of(ledger, Owner.EVAL)[0].factor == pytest.approx(1.18)


def test_a_marked_pause_of_two_percent_is_seen() -> None:
    ledger = evaluating(Training(), 50, 0.03, 4)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(4 * 0.03)


def test_a_marker_without_a_pause_has_no_cost() -> None:
    assert owners_of(evaluating(Training(), 50, 0.0, 4)) == set()


def test_a_marker_amid_noise_does_not_get_the_noise() -> None:
    training = Training()
    noisy = jitter(1.0, 0.05, seed=3)
    for _ in range(10):
        training.train(50, noisy)
        training.pause(SAVE, 0.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.SAVE) < 0.002 * ledger.wall_s


def test_the_wall_shows_a_pause_that_the_printed_clock_leaves_out() -> None:
    ledger = evaluating(Training(pauses=Pauses.NONE, has_wall=True), 100, 16.0, 5)
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(80.0)
    assert ledger.wall_s == pytest.approx(680.0)


def test_without_a_wall_a_pause_that_the_clock_leaves_out_is_not_invented() -> None:
    training = Training(pauses=Pauses.NONE)
    ledger = evaluating(training, 100, 16.0, 5)
    assert owners_of(ledger) == set()
    assert ledger.wall_s == pytest.approx(600.0)
    assert gaps_in(training.log.run)["hidden"].facts == {"evals": 5, "saves": 0}


def test_noise_beside_a_marker_of_a_stopped_clock_is_not_called_a_pause() -> None:
    training = Training(pauses=Pauses.NONE)
    training.train(100)
    training.pause(EVAL, 16.0)
    training.train(1, 1.12)
    training.train(100)
    assert owners_of(build(training.finish())) == set()


def test_an_evaluation_at_a_step_that_is_not_printed_is_estimated() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(99)
    for num_steps in (100, 100, 105, 100):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(num_steps)
    ledger = build(training.finish())
    *seen, unseen = of(ledger, Owner.EVAL)
    assert [span.last_step for span in seen] == [100, 200, 300]
    assert [span.extra_s for span in seen] == pytest.approx([20.0] * 3)
    assert [span.unseen_s for span in seen] == [0.0] * 3
    assert (unseen.first_step, unseen.last_step) == (405, 405)
    assert [unseen.extra_s, unseen.unseen_s] == pytest.approx([0.0, 20.0])
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(80.0)


def test_an_unprinted_evaluation_is_measured_where_there_is_a_wall() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10, has_wall=True)
    training.train(94)
    for _ in range(3):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    ledger = build(training.finish())
    assert [span.unseen_s for span in of(ledger, Owner.EVAL)] == [0.0] * 3
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(60.0)


def test_evaluations_of_which_no_step_is_printed_are_not_invented() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(94)
    for _ in range(5):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    assert owners_of(build(training.finish())) == set()


def test_a_marker_that_names_a_step_elsewhere_is_no_pause_there() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(99)
    for _ in range(4):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    training.log.event(EVAL, training.line + 1, step=10**9)
    training.train(100)
    ledger = build(training.finish())
    assert max(span.last_step for span in of(ledger, Owner.EVAL)) <= 600


@pytest.mark.parametrize("pauses", [Pauses.SAME, Pauses.NEXT, Pauses.NONE])
@pytest.mark.parametrize("has_wall", [False, True])
def test_a_stated_pause_has_its_stated_seconds(pauses: Pauses, has_wall: bool) -> None:
    training = Training(pauses=pauses, has_wall=has_wall)
    training.train(100)
    training.pause(SAVE, 7.0, is_stated=True)
    training.train(100)
    ledger = build(training.finish())
    (span,) = of(ledger, Owner.SAVE)
    assert span.told is Told.STATED
    assert span.extra_s == pytest.approx(7.0)
    assert ledger.wall_s == pytest.approx(207.0)


def test_a_stated_pause_cannot_cost_more_than_the_step_that_held_it() -> None:
    training = Training()
    training.train(100)
    training.log.event(SAVE, 101, seconds=500.0)
    training.train(100, lambda step: 4.0 if step == 101 else 1.0)
    assert seconds_of(build(training.finish()), Owner.SAVE) == pytest.approx(3.0)


def test_cleaning_up_old_checkpoints_is_part_of_saving() -> None:
    training = Training()
    training.train(100)
    training.pause(EventKind.CLEANUP, 3.0)
    training.train(100)
    assert seconds_of(build(training.finish()), Owner.SAVE) == pytest.approx(3.0)


def test_a_save_that_is_told_by_the_next_step_lies_in_the_step_before() -> None:
    training = Training()
    training.train(100)
    training.train(1, 30.0)
    training.mark(EventKind.AFTER_SAVE)
    training.train(100)
    assert steps_of(build(training.finish()), Owner.SAVE) == [(101, 101)]


@pytest.mark.parametrize("pauses", list(Pauses))
def test_a_marker_that_looks_back_may_be_the_last_line_of_a_log(pauses: Pauses) -> None:
    training = Training(pauses=pauses, has_wall=True)
    training.train(100)
    training.train(1, 30.0)
    training.mark(EventKind.AFTER_SAVE)
    assert steps_of(build(training.finish()), Owner.SAVE) == [(101, 101)]


@pytest.mark.parametrize(("seconds", "owners"), [(0.1, set()), (5.0, {Owner.SAVE})])
def test_a_hint_needs_a_slow_step(seconds: float, owners: set[Owner]) -> None:
    training = Training()
    training.train(100)
    training.pause(SAVE, seconds, is_sure=False)
    training.train(100)
    ledger = build(training.finish())
    assert owners_of(ledger) == owners
    assert {span.told for span in ledger.spans} <= {Told.HINT}


def test_an_evaluation_and_a_save_are_told_apart_by_evaluations_alone() -> None:
    training = Training()
    for number in range(1, 13):
        training.train(50)
        training.pause(EVAL, 9.0)
        if number % 3 == 0:
            training.pause(SAVE, 4.0)
    training.train(50)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(12 * 9.0)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(4 * 4.0)
    assert "joint" not in gaps_in(ledger.timeline.run)


def test_an_evaluation_and_a_save_are_told_apart_by_the_stated_one() -> None:
    training = Training()
    for _ in range(5):
        training.train(50)
        training.pause(EVAL, 9.0)
        training.pause(SAVE, 4.0, is_stated=True)
    training.train(50)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(45.0)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(20.0)


def test_an_evaluation_and_a_save_that_always_come_together_are_not_split_at_will() -> None:
    training = Training()
    for _ in range(5):
        training.train(50)
        training.pause(EVAL, 9.0)
        training.pause(SAVE, 4.0)
    training.train(50)
    ledger = build(training.finish())
    assert all(span.is_joint for span in ledger.spans)
    assert sum(span.cost_s for span in ledger.spans) == pytest.approx(65.0)
    assert "joint" in gaps_in(ledger.timeline.run)
