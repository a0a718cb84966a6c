"""What a governor has learnt, and for how long that counts: over pauses of training, time in which
nothing worked, and from one job to the next."""

from __future__ import annotations

import pytest

from tests.unit.governor.simulating import SimulatedTraining, Simulation, governed


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
