"""The governor against a simulated training whose answer to work is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from instride.governor.controlling import FLOOR, LEAST_DUTY, Controller
from instride.governor.outlook import Outlook, Strain
from tests.unit.governor.simulating import SimulatedTraining, Simulation

SEEDS = range(4)
BUDGET = 0.02


def governed(training: SimulatedTraining, seconds: float, **options: float) -> Simulation:
    simulation = Simulation(training, **options)  # type: ignore[arg-type]
    simulation.begin()
    simulation.go_on(seconds)
    return simulation


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


def test_a_training_that_changes_is_noticed_among_many_quiet_windows() -> None:
    training = SimulatedTraining(lambda load: 0.0, seed=3)
    simulation = governed(training, 600)
    assert simulation.efforts()[-1] == 1.0
    training.response = lambda load: 0.5 * load
    simulation.go_on(120)
    assert simulation.efforts()[-1] < 0.2


def test_another_job_begins_with_what_was_learnt_in_the_one_before() -> None:
    simulation = governed(SimulatedTraining(lambda load: 0.0), 200)
    simulation.end()
    simulation.begin()
    assert simulation.regulator.decision is not None
    assert simulation.regulator.decision.effort == 1.0


def test_shortage_of_memory_takes_work_to_its_least() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 0.0), memory=0.3)
    simulation.begin()
    simulation.go_on(60)
    decision = simulation.regulator.decision
    assert decision is not None
    assert (decision.reason, decision.effort, decision.duty) == ("memory", FLOOR, LEAST_DUTY)


def test_time_in_which_it_was_stopped_says_nothing_about_its_work() -> None:
    """Steps that were fast because nothing ran at all would make work look harmless."""
    training = SimulatedTraining(lambda load: 0.6 * load)
    simulation = Simulation(training)
    simulation.begin()
    for _ in range(60):
        simulation.go_on(3.0)
        simulation.idle(20.0)
    pairs = simulation.regulator._comparison.pairs
    assert all(pair.inflation > 0.02 for pair in pairs)
    assert max(simulation.efforts()) <= 0.25


def test_an_evaluation_between_steps_does_not_undo_what_was_learnt() -> None:
    training = SimulatedTraining(lambda load: 3.0 * load)
    simulation = governed(training, 100)
    assert simulation.regulator.decision is not None
    learnt = simulation.regulator.decision.effort
    assert learnt < 0.1
    training.state = "paused"
    simulation.go_on(60)
    assert simulation.regulator.decision.effort == learnt
    training.state = "runs"
    simulation.go_on(60)
    assert simulation.regulator.decision.effort <= 1.3 * learnt


@pytest.mark.parametrize(
    ("strain", "effort", "duty"),
    [
        (Strain(), 0.25, 0.8),
        (Strain(idle_cores=3.0), 0.5, 0.8),
        (Strain(idle_cores=4.0, is_idle=True), 1.0, 0.9),
        (Strain(io=0.3, idle_cores=4.0, is_idle=True), 0.125, 0.5),
        (Strain(memory=0.05), 0.125, 0.5),
        (Strain(cpu=0.1), 0.25, 0.8),
        (Strain(cpu=0.6), 0.125, 0.5),
    ],
    ids=[
        "nothing known",
        "cores to spare",
        "a quiet machine",
        "a busy disk",
        "memory short",
        "busy cores",
        "cores that others wait for",
    ],
)
def test_without_steps_it_is_as_gentle_as_the_machine_is_busy(
    strain: Strain, effort: float, duty: float
) -> None:
    controller = Controller(BUDGET, most_threads=4)
    decision = controller.decide(Outlook(0.0, training="paused", strain=strain))
    assert (decision.reason, decision.effort, decision.duty) == ("no-steps", effort, duty)


@pytest.mark.parametrize(
    ("strain", "duty"),
    [
        (Strain(), 0.5),
        (Strain(idle_cores=3.9), 0.5),
        (Strain(idle_cores=4.0), 0.93),
        (Strain(idle_cores=15.0, is_idle=True), 0.93),
        (Strain(idle_cores=15.0, io=0.3, is_idle=True), 0.5),
    ],
    ids=["nothing known", "some cores idle", "more than enough", "all but one", "a busy disk"],
)
def test_beside_steps_it_works_longer_than_it_pauses_where_cores_abound(
    strain: Strain, duty: float
) -> None:
    """Until it is known what that does to steps, and as long as it is not."""
    controller = Controller(BUDGET, most_threads=4)
    for now_s in (0.0, 1.0, 5.0):
        outlook = Outlook(now_s, training="runs", has_steps=True, strain=strain)
        decision = controller.decide(outlook)
        assert (decision.reason, decision.duty) == ("unknown-yet", duty)


def test_where_cores_abound_it_goes_on_as_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also once it is known that steps do not mind, and for the whole job."""
    monkeypatch.setattr("instride.governor.gauge.usable_cores", lambda: 16)
    duties = {}
    for idle_cores in (2.0, 15.0):
        training = SimulatedTraining(lambda load: 0.0, noise=0.001)
        simulation = Simulation(training, idle_cores=idle_cores)
        simulation.begin()
        simulation.go_on(120)
        assert simulation.decisions[-1][1].reason == "within-budget"
        duties[idle_cores] = {decision.duty for _, decision in simulation.decisions}
    assert duties == {2.0: {0.5, 0.8}, 15.0: {0.93}}


def test_time_in_which_it_starved_still_counts() -> None:
    """On a machine that is never idle, whoever yields comes late, and the gate stands as it was
    set all the while."""
    training = SimulatedTraining(lambda load: 0.3 * load)
    simulation = Simulation(training)
    simulation.begin()
    waited_s = 0.0
    for _ in range(100):
        simulation.regulator.listen(simulation.now_s)
        next_s = simulation.regulator.advance(simulation.now_s, waited_s)
        late_s = next_s - simulation.now_s + 2.5
        training.run(simulation.now_s, late_s, simulation.pace.load)
        simulation.pace.work(late_s)
        simulation.now_s += late_s
        waited_s += 2.5
    assert len(simulation.regulator._comparison.pairs) > 20


def test_a_job_that_follows_at_once_goes_on_with_what_is_known_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is written is read back at once: in the moment between nothing can be seen."""
    monkeypatch.setattr("instride.governor.gauge.usable_cores", lambda: 16)
    simulation = Simulation(SimulatedTraining(lambda load: 0.0), idle_cores=15.0)
    simulation.begin()
    simulation.go_on(10)
    simulation.end()
    simulation.idle_cores = 0.0
    simulation.idle(0.01)
    simulation.regulator.begin(simulation.now_s, 1 << 30, None)
    assert simulation.decisions[-1][1].duty == 0.93

    simulation.go_on(10)
    simulation.end()
    simulation.idle(10)
    simulation.regulator.begin(simulation.now_s, 1 << 30, None)
    assert simulation.decisions[-1][1].duty < 0.93
