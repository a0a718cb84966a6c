"""Deadlines, and the ends of trainings, in simulated time."""

from __future__ import annotations

import pytest

from tests.unit.governor.simulating import SimulatedTraining, Simulation

THREAD_BYTES_PER_S = 1e8
DEADLINE_S = 120.0
"""A hundred seconds after the work begins."""


def work(gigabytes: float, at_full_effort: float = 1.0) -> Simulation:
    simulation = Simulation(SimulatedTraining(lambda load: at_full_effort * load))
    simulation.begin(gigabytes * 1e9, DEADLINE_S)
    simulation.go_on(500, until=lambda: simulation.pace.num_bytes >= gigabytes * 1e9)
    return simulation


@pytest.mark.parametrize("gigabytes", [2.0, 8.0, 20.0, 40.0])
def test_a_deadline_is_met_whatever_the_budget_says(gigabytes: float) -> None:
    """Up to what all threads can do, with the codecs that the steps before have made lighter."""
    assert work(gigabytes).now_s <= DEADLINE_S


@pytest.mark.parametrize("step_s", [2.0, 5.0, 10.0, 20.0])
@pytest.mark.parametrize("gigabytes", [8.0, 20.0])
def test_a_deadline_is_met_where_steps_are_long(gigabytes: float, step_s: float) -> None:
    """A pause takes six steps, or a minute: it must not outlast the deadline."""
    simulation = Simulation(SimulatedTraining(lambda load: load, step_s=step_s))
    simulation.begin(gigabytes * 1e9, DEADLINE_S)
    simulation.go_on(500, until=lambda: simulation.pace.num_bytes >= gigabytes * 1e9)
    assert simulation.now_s <= DEADLINE_S


def test_a_deadline_that_the_budget_meets_changes_nothing() -> None:
    simulation = work(0.3)
    assert simulation.now_s <= DEADLINE_S
    assert {decision.codec_step for _, decision in simulation.decisions} == {0}
    assert "deadline" not in [decision.reason for _, decision in simulation.decisions]


def test_the_codec_gets_lighter_step_by_step_before_the_budget_is_given_up() -> None:
    decisions = [decision for _, decision in work(20.0).decisions]
    steps = [decision.codec_step for decision in decisions]
    assert steps == sorted(steps)
    assert set(steps) == {0, 1, 2}
    first_over = next(each for each in decisions if each.reason == "deadline")
    assert first_over.codec_step == 2
    within = [each for each in decisions if each.reason != "deadline"]
    assert max(each.effort for each in within) <= 0.25


def test_no_more_is_done_than_the_deadline_needs() -> None:
    decisions = [decision for _, decision in work(8.0).decisions]
    assert max(decision.effort for decision in decisions) < 0.5


def test_when_the_time_is_up_nothing_is_held_back_any_more() -> None:
    simulation = work(500.0)
    decision = simulation.regulator.decision
    assert decision is not None
    assert (decision.reason, decision.effort) == ("deadline", 1.0)
    assert decision.bytes_per_s is None


def test_the_next_job_begins_one_codec_below_the_one_that_was_late() -> None:
    simulation = work(20.0)
    assert simulation.pace.codec_step == 2
    simulation.end()
    simulation.begin(1e9)
    assert simulation.pace.codec_step == 1


def test_a_deadline_may_become_known_on_the_way() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 1.0 * load))
    simulation.begin(8e9)
    simulation.go_on(30)
    simulation.regulator.expect(DEADLINE_S)
    simulation.go_on(500, until=lambda: simulation.pace.num_bytes >= 8e9)
    assert simulation.now_s <= DEADLINE_S


def test_after_mode_does_nothing_while_a_training_runs() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 0.0), mode="after")
    simulation.begin()
    simulation.go_on(100)
    assert simulation.pace.num_bytes == 0
    assert not simulation.pace.may_start


def test_after_mode_works_as_late_as_it_can_where_a_deadline_was_given() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 1.0 * load), mode="after")
    simulation.begin(2e9, DEADLINE_S)
    simulation.go_on(50)
    assert simulation.pace.num_bytes == 0
    simulation.go_on(500, until=lambda: simulation.pace.num_bytes >= 2e9)
    assert simulation.now_s <= DEADLINE_S


@pytest.mark.parametrize("state", ["paused", "over"])
def test_after_mode_works_when_training_has_ended_or_paused_and_stops_when_it_is_back(
    state: str,
) -> None:
    training = SimulatedTraining(lambda load: 0.0)
    simulation = Simulation(training, mode="after")
    simulation.begin()
    simulation.go_on(20)
    training.state = state  # type: ignore[assignment]
    simulation.go_on(20)
    done = simulation.pace.num_bytes
    assert done > 0
    training.state = "runs"
    simulation.go_on(2)
    done = simulation.pace.num_bytes
    simulation.go_on(60)
    assert simulation.pace.num_bytes == done


@pytest.mark.parametrize("mode", ["share", "after"])
def test_it_goes_as_fast_as_it_can_when_training_is_over(mode: str) -> None:
    training = SimulatedTraining(lambda load: 3.0 * load)
    simulation = Simulation(training, mode=mode)
    simulation.begin()
    simulation.go_on(60)
    training.state = "over"
    simulation.go_on(2)
    before = simulation.pace.num_bytes
    simulation.go_on(20)
    full = simulation.pace.most_threads * THREAD_BYTES_PER_S
    assert simulation.pace.num_bytes - before == pytest.approx(20 * full, rel=0.01)
