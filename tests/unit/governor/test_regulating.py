"""The governor against a simulated training whose answer to work is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from instride.governor.controlling import FLOOR, LEAST_DUTY
from tests.unit.governor.simulating import BUDGET, SimulatedTraining, Simulation, governed

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("at_full_effort", [0.1, 0.6, 3.0])
def test_the_cost_settles_at_the_budget_whatever_work_does_to_steps(
    at_full_effort: float, seed: int
) -> None:
    training = SimulatedTraining(lambda load: at_full_effort * load, seed=seed)
    simulation = governed(training, 300)
    assert simulation.true_cost(last_s=150) <= 1.25 * BUDGET
    assert simulation.pace.num_bytes > 0


@settings(deadline=None, max_examples=25)
@example(at_full_effort=5.0, bend=3.0, step_s=1.875, noise=0.0390625, seed=10910210)
@given(
    at_full_effort=st.floats(0.0, 5.0),
    bend=st.floats(0.5, 3.0),
    step_s=st.floats(0.02, 2.0),
    noise=st.floats(0.0, 0.05),
    seed=st.integers(0, 1 << 30),
)
def test_it_holds_the_budget_for_any_training_and_never_stands_still(
    at_full_effort: float, bend: float, step_s: float, noise: float, seed: int
) -> None:
    """Also where half the work costs more, or less, than half."""
    training = SimulatedTraining(
        lambda load: at_full_effort * load**bend, step_s=step_s, noise=noise, seed=seed
    )
    simulation = governed(training, 600 + 800 * step_s)
    # At its least, work may cost more than the budget: that much is always done.
    least = LEAST_DUTY * training.response(FLOOR)
    assert simulation.true_cost(last_s=300 + 400 * step_s) <= max(1.6 * BUDGET, 1.2 * least)
    assert all(decision.is_open for _, decision in simulation.decisions)


@pytest.mark.parametrize("seed", SEEDS)
def test_work_that_nobody_feels_gets_everything(seed: int) -> None:
    simulation = governed(SimulatedTraining(lambda load: 0.0, seed=seed), 200)
    assert simulation.efforts()[-1] == 1.0
    assert simulation.decisions[-1][1].reason == "within-budget"


@pytest.mark.parametrize("seed", SEEDS)
def test_it_does_not_oscillate_at_a_cliff(seed: int) -> None:
    """Nothing up to half of the threads, then a third slower: found, and hardly tried again."""
    training = SimulatedTraining(lambda load: 0.3 if load > 0.5 else 0.0, seed=seed)
    simulation = governed(training, 900)
    cuts = [at_s for at_s, decision in simulation.decisions if decision.reason == "over-budget"]
    assert len(cuts) <= 6
    assert simulation.true_cost(last_s=450) <= 1.5 * BUDGET


@pytest.mark.parametrize("seed", SEEDS)
def test_settled_means_settled(seed: int) -> None:
    simulation = governed(SimulatedTraining(lambda load: 0.6 * load, seed=seed), 600)
    late = [decision for at_s, decision in simulation.decisions if at_s > 320]
    assert len(late) <= 4


@pytest.mark.parametrize(
    "drift",
    [
        lambda at_s: 0.002 * at_s,
        lambda at_s: -0.4 * (1 - math.exp(-at_s / 60)),
        lambda at_s: 0.2 * math.sin(at_s / 7),
        lambda at_s: 0.5 if at_s > 120 else 0.0,
    ],
    ids=["ever slower", "ever faster", "in waves", "another speed from here on"],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drift_of_the_run_is_not_taken_for_interference(
    drift: Callable[[float], float], seed: int
) -> None:
    training = SimulatedTraining(lambda load: 0.0, drift=drift, seed=seed)
    simulation = governed(training, 300)
    assert "over-budget" not in [decision.reason for _, decision in simulation.decisions]
    cost = simulation.end()
    assert cost.share is not None
    assert cost.plus_minus is not None
    assert abs(cost.share) < 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_it_admits_when_it_cannot_tell_and_stays_gentle(seed: int) -> None:
    """Steps that vary by half: two percent cannot be seen among them in a minute."""
    simulation = governed(SimulatedTraining(lambda load: 0.04 * load, noise=0.5, seed=seed), 60)
    reasons = [decision.reason for _, decision in simulation.decisions]
    assert reasons[0] == "unknown-yet"
    assert "more steps to tell" in simulation.regulator.decision.why  # type: ignore[union-attr]
    assert max(simulation.efforts()) <= 0.25
    cost = simulation.end()
    assert cost.plus_minus is not None
    assert cost.plus_minus > BUDGET


def test_how_many_steps_it_still_needs_goes_down_as_steps_come() -> None:
    training = SimulatedTraining(lambda load: 0.0, noise=0.3, seed=1)
    simulation = Simulation(training)
    simulation.begin()
    needed = []
    for _ in range(6):
        simulation.go_on(60)
        pairs = tuple(simulation.regulator._comparison.pairs)
        needed.append(simulation.regulator._controller.num_steps_needed(pairs))
    assert None not in needed
    assert needed[-1] < needed[0]  # type: ignore[operator]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_it_says_it_cost_is_what_it_cost(seed: int) -> None:
    simulation = governed(SimulatedTraining(lambda load: 0.3 * load, seed=seed), 300)
    cost = simulation.end()
    assert cost.share is not None
    assert cost.plus_minus is not None
    assert abs(cost.share - simulation.true_cost()) <= max(2 * cost.plus_minus, 0.005)
    assert cost.seconds == pytest.approx(300, abs=1)
    assert "cost training" in cost.text()


def test_shortage_of_memory_takes_work_to_its_least() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 0.0), memory=0.3)
    simulation.begin()
    simulation.go_on(60)
    decision = simulation.regulator.decision
    assert decision is not None
    assert (decision.reason, decision.effort, decision.duty) == ("memory", FLOOR, LEAST_DUTY)
