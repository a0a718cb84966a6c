"""Restarts: how long nothing ran, and which steps were done in vain, each counted once."""

from __future__ import annotations

import pytest

from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Sampling
from tests.unit.explain.making import Training, found, gaps_in, jitter, seconds_of


def lost_steps(ledger: Ledger) -> list[int]:
    return [restart.lost_steps for restart in ledger.restarts]


def test_a_resume_after_a_crash_loses_the_steps_since_the_checkpoint() -> None:
    training = Training(has_wall=True)
    training.train(100, 2.0)
    training.resume(80, 600.0)
    training.train(60, 2.0)
    ledger = build(training.finish())
    (restart,) = ledger.restarts
    assert (restart.resumed_at, restart.last_step, restart.lost_steps) == (81, 100, 20)
    assert restart.gap_s == pytest.approx(600.0)
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(600.0)
    assert seconds_of(ledger, Owner.LOST) == pytest.approx(40.0)
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(280.0)
    assert ledger.wall_s == pytest.approx(920.0)


def test_steps_lost_again_and_again_are_counted_once() -> None:
    training = Training()
    training.train(100)
    training.resume(80)
    training.train(10)
    training.resume(80)
    training.train(5)
    training.resume(80)
    training.train(100)
    ledger = build(training.finish())
    assert lost_steps(ledger) == [20, 10, 5]
    assert ledger.accounts[Owner.LOST].steps == 35


def test_a_resume_from_an_older_checkpoint_loses_steps_of_several_processes() -> None:
    training = Training()
    training.train(100)
    training.resume(50)
    training.train(10)
    training.resume(40)
    training.train(80)
    ledger = build(training.finish())
    assert lost_steps(ledger) == [50, 20]
    assert seconds_of(ledger, Owner.COMPUTE) == pytest.approx(120.0)


def test_lost_steps_of_averages_are_counted_by_steps() -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(200)
    training.resume(150)
    training.train(100)
    assert lost_steps(build(training.finish())) == [50]


@pytest.mark.parametrize("resumed_after", [140, 145, 149])
def test_lost_steps_of_a_sampled_log_are_known_to_within_a_record(resumed_after: int) -> None:
    training = Training(Sampling.EVERY_KTH, every=10)
    training.train(200)
    training.resume(resumed_after)
    training.train(100)
    (lost,) = lost_steps(build(training.finish()))
    assert 200 - resumed_after <= lost < 200 - resumed_after + 10


def test_a_restart_from_scratch_loses_everything() -> None:
    training = Training(has_wall=True)
    training.train(100, 2.0)
    training.resume(0, 30.0, has_banner=True)
    training.train(150, 2.0)
    ledger = build(training.finish())
    (restart,) = ledger.restarts
    assert restart.is_from_scratch
    assert restart.lost_steps == 100
    assert found(ledger.timeline.run)["lost"].confidence == "medium"


def test_a_launch_that_goes_on_loses_nothing() -> None:
    training = Training(has_wall=True)
    training.train(100, 2.0)
    training.resume(100, 600.0, has_banner=True)
    training.train(100, 2.0)
    ledger = build(training.finish())
    assert lost_steps(ledger) == [0]
    assert found(ledger.timeline.run).keys() == {"restart"}


def test_a_new_run_after_a_finished_one_loses_nothing() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.mark(EventKind.END)
    training.resume(0, 60.0, has_banner=True)
    training.train(70)
    ledger = build(training.finish())
    assert lost_steps(ledger) == [0]
    assert seconds_of(ledger, Owner.LOST) == 0.0


def test_runs_that_end_at_the_same_step_are_experiments_and_lose_nothing() -> None:
    training = Training()
    for _ in range(3):
        training.resume(0)
        training.train(100)
    assert lost_steps(build(training.finish())) == [0, 0]


def test_slow_lost_steps_are_lost_at_their_baseline_and_their_excess_keeps_its_owner() -> None:
    training = Training()
    training.train(100)
    training.pause(EventKind.SAVE, 9.0)
    training.train(1)
    training.train(20, 3.0)
    training.resume(101)
    training.train(100)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.LOST) == pytest.approx(20.0)
    assert seconds_of(ledger, Owner.AFTERMATH) == pytest.approx(40.0)


def test_no_more_time_is_lost_than_was_spent() -> None:
    training = Training(has_wall=True)
    training.train(2, lambda step: {1: 2.0, 2: 51.0}[step])
    training.resume(0, 10.0)
    training.train(100)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.LOST) <= 53.0


def test_without_a_common_clock_the_gap_is_unknown() -> None:
    training = Training(has_wall=True, is_absolute=False, resolution_s=1.0)
    training.train(100)
    training.resume(90, 600.0)
    training.train(100)
    ledger = build(training.finish())
    assert [restart.gap_s for restart in ledger.restarts] == [None]
    assert seconds_of(ledger, Owner.RESTART) == 0.0
    assert "gaps" in gaps_in(ledger.timeline.run)


def test_the_gap_begins_with_the_last_sign_of_life() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.wait(40.0)
    training.resume(100, 600.0, has_banner=True)
    training.train(100)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(600.0)
    assert seconds_of(ledger, Owner.UNKNOWN) == pytest.approx(40.0)


def test_a_launch_that_never_trained_is_part_of_the_gap() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.resume(100, 60.0, has_banner=True)
    training.wait(300.0)
    training.resume(100, 60.0, has_banner=True)
    training.train(100)
    ledger = build(training.finish())
    assert [restart.num_launches for restart in ledger.restarts] == [2]
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(420.0)
    assert ledger.wall_s == pytest.approx(620.0)


def test_a_last_launch_that_never_trained_is_time_without_training() -> None:
    training = Training(has_wall=True)
    training.train(100)
    training.resume(100, 60.0, has_banner=True)
    training.wait(300.0)
    ledger = build(training.finish())
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(360.0)
    assert ledger.wall_s == pytest.approx(460.0)


def test_a_process_resumed_between_two_records_still_has_a_gap() -> None:
    training = Training(Sampling.AVERAGE, every=10, has_wall=True)
    training.train(114)
    training.wait(0.0)
    training.resume(114, 3.0, has_banner=True)
    training.train(86)
    ledger = build(training.finish())
    assert ledger.restarts[0].gap_s is not None
    assert ledger.wall_s == pytest.approx(203.0)


def test_a_process_that_crashes_every_few_steps_has_the_baseline_of_all_of_them() -> None:
    training = Training(has_wall=True)
    for number in range(8):
        training.train(7, jitter(1.0, 0.01, number))
        training.resume(training.step - 3, 20.0, has_banner=True)
    training.train(100, jitter(1.0, 0.01))
    ledger = build(training.finish())
    assert lost_steps(ledger) == [3] * 8
    assert seconds_of(ledger, Owner.RESTART) == pytest.approx(160.0)
    assert ledger.baseline_s == pytest.approx(1.0, rel=0.02)


def test_another_training_need_not_be_as_fast() -> None:
    training = Training()
    training.train(200)
    training.mark(EventKind.END)
    training.resume(0, has_banner=True)
    training.train(200, 2.0)
    assert found(training.finish()).keys().isdisjoint({"slower-since", "slower-since-resume"})
