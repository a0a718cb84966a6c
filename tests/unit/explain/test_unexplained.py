"""Slow steps that no marker explains: data stalls, combs, zones, single ones, and mere jitter."""

from __future__ import annotations

from random import Random

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner, Told
from instride.steps.model import EventKind, Pauses, Sampling
from tests.unit.explain.making import Training, found, of, owners_of, seconds_of

EVAL = EventKind.EVAL


def test_a_comb_without_markers_is_unknown_and_has_its_period() -> None:
    training = Training()
    training.train(800, lambda step: 3.0 if step % 100 == 0 else 1.0)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.UNKNOWN}
    assert {span.period for span in ledger.spans} == {100}
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(16.0)


def test_a_comb_at_the_distance_of_marked_evaluations_is_evaluation() -> None:
    training = Training()
    for _ in range(5):
        training.pause(EVAL, 20.0)
        training.train(100)
    training.train(600, lambda step: 9.0 if step % 100 == 1 else 1.0)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.EVAL}
    inferred = [span for span in ledger.spans if span.told is Told.PERIOD]
    assert [span.last_step for span in inferred] == list(range(501, 1100, 100))


def test_the_distance_of_markers_in_one_process_explains_a_comb_in_another() -> None:
    training = Training(has_wall=True)
    for _ in range(5):
        training.pause(EVAL, 20.0)
        training.train(100)
    training.resume(550, 60.0, has_banner=True)
    training.train(600, lambda step: 9.0 if step % 100 == 1 else 1.0)
    ledger = build(training.finish())
    assert owners_of(ledger) == {Owner.EVAL}
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(5 * 20.0 + 6 * 8.0)


def test_a_comb_of_another_distance_than_the_markers_is_unknown() -> None:
    training = Training()
    for _ in range(10):
        training.pause(EVAL, 20.0)
        training.train(100, lambda step: 3.0 if step % 70 == 0 else 1.0)
    ledger = build(training.finish())
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {70}


def test_a_comb_between_marked_evaluations_of_its_distance_is_not_one_of_them() -> None:
    training = Training()
    for _ in range(10):
        training.pause(EVAL, 20.0)
        training.train(100, lambda step: 3.0 if step % 100 == 50 else 1.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) == pytest.approx(200.0)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(20.0)


def test_a_tooth_far_longer_than_the_others_is_not_wholly_of_their_kind() -> None:
    training = Training()
    for _ in range(5):
        training.pause(EVAL, 20.0)
        training.train(100)
    training.train(600, lambda step: 600.0 if step == 801 else 21.0 if step % 100 == 1 else 1.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.EVAL) < 300.0
    assert seconds_of(ledger, Owner.UNKNOWN) > 500.0


def test_averages_show_a_comb_too() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(1000, lambda step: 9.0 if step % 100 == 1 else 1.0)
    ledger = build(training.finish())
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {100}
    assert found(ledger.timeline.run)["periodic"].cost_s == pytest.approx(9 * 8.0)


def test_a_small_rhythm_is_a_cadence_and_no_finding() -> None:
    training = Training()
    training.train(500, lambda step: 1.085 if step % 16 == 0 else 1.0)
    ledger = build(training.finish())
    assert ledger.rhythm is not None
    assert ledger.rhythm.period == 16
    assert found(ledger.timeline.run) == {}


def test_a_slow_stretch_is_a_zone_of_unknown_cause() -> None:
    training = Training()
    training.train(200)
    training.train(30, 2.0)
    training.train(200)
    ledger = build(training.finish())
    (span,) = ledger.spans
    assert (span.owner, span.first_step, span.last_step) == (Owner.UNKNOWN, 201, 230)
    assert span.extra_s == pytest.approx(30.0)
    assert found(ledger.timeline.run).keys() == {"slow-zone"}


def test_a_single_slow_step_is_worth_a_word_from_half_as_much_again() -> None:
    training = Training()
    training.train(300, lambda step: {100: 1.4, 200: 1.7}.get(step, 1.0))
    ledger = build(training.finish())
    assert [(span.owner, span.last_step) for span in ledger.spans] == [(Owner.UNKNOWN, 200)]


def test_a_sampled_log_does_not_multiply_a_single_slow_step() -> None:
    training = Training(Sampling.EVERY_KTH, every=10)
    training.train(1000, lambda step: 4.0 if step == 500 else 1.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(3.0)


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_two_lengths_at_random_are_jitter(seed: int) -> None:
    random = Random(seed)
    training = Training()
    training.train(1000, lambda _: 1.4 if random.random() < 0.2 else 1.0)
    assert found(training.finish()) == {}


def test_many_single_slow_steps_are_jitter() -> None:
    random = Random(7)
    training = Training()
    for _ in range(60):
        training.train(1, 1.7)
        training.train(random.randint(4, 30))
    training.train(100)
    assert found(training.finish()).keys() <= {"warmup"}


def stalling(has_data: bool) -> Training:
    """An epoch of 100 steps waits for its loader at the start; the first one warms up too."""
    training = Training()
    for _ in range(6):
        training.train(1, 4.0, data=3.6 if has_data else None)
        training.train(99, 0.5, data=0.01 if has_data else None)
    return training


def test_slow_epoch_starts_that_waited_for_data_are_data_stalls() -> None:
    ledger = build(stalling(has_data=True).finish())
    stalls = of(ledger, Owner.DATA)
    assert {101, 201, 301, 401, 501} <= {span.last_step for span in stalls}
    assert {span.told for span in stalls} == {Told.STATED}
    assert seconds_of(ledger, Owner.UNKNOWN) == 0.0


def test_slow_epoch_starts_of_which_nothing_is_said_are_unknown() -> None:
    ledger = build(stalling(has_data=False).finish())
    assert Owner.DATA not in owners_of(ledger)
    assert {span.period for span in of(ledger, Owner.UNKNOWN)} == {100}


def test_a_slow_step_that_did_not_wait_for_data_is_no_data_stall() -> None:
    training = Training()
    training.train(200, lambda step: 5.0 if step == 100 else 1.0, data=0.02)
    assert owners_of(build(training.finish())) == {Owner.UNKNOWN}


def test_only_the_wait_of_a_step_is_a_data_stall() -> None:
    training = Training()
    training.train(
        200,
        lambda step: 5.0 if step == 100 else 1.0,
        data=lambda step: 2.52 if step == 100 else 0.02,
    )
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(2.5)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(1.5)


def test_a_wait_of_every_step_is_chronic() -> None:
    training = Training()
    training.train(200, 2.4, data=0.8)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.DATA) == pytest.approx(160.0)
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(320.0)
    assert ledger.spans == []


def test_a_wait_of_a_few_percent_is_a_cost_of_every_step_and_no_stall() -> None:
    training = Training()
    training.train(200, 1.0, data=0.03)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.DATA) == 0.0
    assert found(ledger.timeline.run) == {}


def test_a_pause_without_a_line_is_called_by_the_step_that_was_saved() -> None:
    """A log that names the step before the pause, which is in the time of the one after it."""
    training = Training(pauses=Pauses.NEXT)
    for number in range(8):
        training.train(49 + (not number))
        if number < 4:
            training.log.event(EventKind.SAVE, training.line, step=training.step)
        training.train(1, 4.0 + number)
    training.train(50)
    finding = found(training.finish())["save"]
    assert finding.facts["worst_step"] == 400
    assert (finding.facts["count"], finding.facts["inferred"]) == (8, 4)


def test_a_slow_step_beside_a_marked_pause_is_no_pause_of_its_own() -> None:
    training = Training()
    for number in range(6):
        training.train(50)
        training.pause(EventKind.SAVE, 5.0 + number)
        training.train(1)
        training.train(1, 3.0)
    training.train(50)
    finding = found(training.finish())["save"]
    assert (finding.facts["count"], finding.facts["inferred"]) == (6, 0)
    assert finding.facts["worst_s"] == pytest.approx(12.0)
    assert finding.facts["worst_step"] == 5 * 52 + 51


def test_a_long_pause_amid_jitter_is_no_jitter() -> None:
    random = Random(3)
    training = Training()
    training.train(300, lambda _: 1.7 if random.random() < 0.1 else 1.0)
    training.train(1, 60.0)
    training.train(300, lambda _: 1.7 if random.random() < 0.1 else 1.0)
    (span,) = of(build(training.finish()), Owner.UNKNOWN)
    assert span.first_step == 301
    assert span.extra_s == pytest.approx(59.0)
