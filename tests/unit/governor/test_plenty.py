"""Where cores abound work hardly pauses: when that is found out, and when it no longer counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest

from instride.governor.controlling import AMPLE, LEAST_DUTY, LOOKING, SETTLED, Controller
from instride.governor.effect import Pair
from instride.governor.model import Decision
from instride.governor.outlook import Outlook, Strain
from tests.unit.governor.simulating import Response, SimulatedTraining, Simulation

IDLE_CORES = 12.0
BUSY, IDLE = Strain(idle_cores=0.0), Strain(idle_cores=IDLE_CORES)


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.governor.gauge.usable_cores", lambda: 16)


def begun(response: Response, idle_cores: float = 0.0) -> Simulation:
    """With so many idle cores before the first job."""
    training = SimulatedTraining(response, noise=0.001)
    simulation = Simulation(training, idle_cores=idle_cores)
    simulation.begin()
    return simulation


def duties(simulation: Simulation, since_s: float = 0.0) -> list[float]:
    """One after the other, each that was set."""
    set_since = [decision.duty for at_s, decision in simulation.decisions if at_s >= since_s]
    return [duty for duty, _ in groupby(set_since)]


def go_on_until(simulation: Simulation, reason: str) -> None:
    simulation.go_on(120, until=lambda: simulation.decisions[-1][1].reason == reason)
    assert simulation.decisions[-1][1].reason == reason


def decide(
    controller: Controller, at_s: float, strain: Strain, pairs: Sequence[Pair] = ()
) -> Decision:
    return controller.decide(
        Outlook(at_s, training="runs", has_steps=True, strain=strain, pairs=pairs)
    )


def test_a_first_job_after_busy_cores_believes_its_first_pause() -> None:
    """What is seen before it is a writer that gets ready, on all cores: with a pause, it knows."""
    simulation = begun(lambda load: 0.0)
    simulation.idle_cores = IDLE_CORES
    simulation.go_on(10)
    assert duties(simulation) == [LOOKING, AMPLE]
    # More threads in the same moment, and nothing of the old setting behind the pause.
    assert [load for load, _ in groupby(load for _, load in simulation.loads)] == [0.25, 0.0, 1.0]
    simulation.go_on(120)
    assert duties(simulation) == [LOOKING, AMPLE]
    assert simulation.decisions[-1][1].reason == "within-budget"


@pytest.mark.parametrize("step_s", [0.001, 0.002])
def test_fast_steps_are_no_reason_not_to_feel_what_it_costs(step_s: float) -> None:
    training = SimulatedTraining(lambda load: 0.6 * load, step_s=step_s)
    simulation = Simulation(training, idle_cores=IDLE_CORES)
    simulation.begin()
    simulation.go_on(120)
    assert "over-budget" in [decision.reason for _, decision in simulation.decisions]
    assert simulation.true_cost(last_s=40) <= 1.25 * 0.02


def test_a_second_job_does_not_wait_for_what_the_last_change_does() -> None:
    simulation = begun(lambda load: 0.0)
    go_on_until(simulation, "within-budget")
    assert simulation.decisions[-1][1].duty == SETTLED
    simulation.end()
    simulation.idle_cores = IDLE_CORES
    simulation.begin()
    begun_s = simulation.now_s
    assert simulation.decisions[-1][1].duty == AMPLE
    simulation.go_on(120)
    assert duties(simulation, begun_s) == [AMPLE]


def test_a_second_job_may_find_out_in_one_of_its_pauses() -> None:
    simulation = begun(lambda load: 0.0)
    go_on_until(simulation, "within-budget")
    simulation.end()
    simulation.begin()
    begun_s, effort = simulation.now_s, simulation.efforts()[-1]
    simulation.go_on(2)
    assert simulation.decisions[-1][1].duty == SETTLED
    simulation.idle_cores = IDLE_CORES
    simulation.go_on(5)  # which is one window of work and a pause
    assert duties(simulation, begun_s) == [AMPLE]
    # There are steps to go by already.
    assert simulation.efforts()[-1] == effort


@pytest.mark.parametrize(
    ("reasons", "duty"),
    [(["over-budget"], LOOKING), (["over-budget", "within-budget"], SETTLED)],
    ids=["at once", "which was mended"],
)
def test_a_job_after_harm_goes_on_gently(reasons: list[str], duty: float) -> None:
    simulation = begun(lambda load: 0.3 if load > 0.5 else 0.0, IDLE_CORES)
    assert simulation.decisions[-1][1].duty == AMPLE
    for reason in reasons:
        go_on_until(simulation, reason)
    simulation.end()
    simulation.begin()
    simulation.go_on(4)
    assert simulation.decisions[-1][1].duty == duty


@pytest.mark.parametrize("is_found_before", [True, False])
def test_within_a_job_harm_is_final(is_found_before: bool) -> None:
    """Even where it ends: pauses that show idle cores did not keep steps from waiting."""
    simulation = begun(lambda load: 0.6 * load, IDLE_CORES if is_found_before else 0.0)
    go_on_until(simulation, "over-budget")
    harmed_s = simulation.now_s
    simulation.training.response = lambda load: 0.0
    simulation.idle_cores = IDLE_CORES
    simulation.go_on(600)
    assert max(duties(simulation, harmed_s)) == SETTLED


def test_a_job_that_found_plenty_keeps_to_it() -> None:
    """Whatever later pauses show: with each change of the duty a window of work is lost."""
    controller = Controller(0.02, most_threads=4)
    strains = [BUSY, BUSY, IDLE, BUSY, Strain(idle_cores=IDLE_CORES, io=0.3), IDLE]
    decided = [decide(controller, float(at_s), strain) for at_s, strain in enumerate(strains)]
    assert [decision.duty for decision in decided] == [LOOKING] * 2 + [AMPLE] * 4
    assert [decision.effort for decision in decided] == [0.25] * 2 + [1.0] * 4


@pytest.mark.parametrize(
    ("inflation", "reason", "duty"),
    [(0.0, "within-budget", AMPLE), (0.03, "at-budget", LOOKING), (0.1, "over-budget", LOOKING)],
)
def test_long_after_its_steps_were_seen_only_work_that_did_not_hurt_takes_more(
    inflation: float, reason: str, duty: float
) -> None:
    controller = Controller(0.02, most_threads=4)
    pairs = [Pair(1.0 + at_s, 0.25, inflation + at_s * 1e-4, 12, 1.0) for at_s in range(3)]
    decide(controller, 0.0, BUSY)
    assert decide(controller, 5.0, BUSY, pairs).reason == reason
    controller.begin()
    assert decide(controller, 3600.0, IDLE, pairs).duty == duty


def test_a_job_after_a_shortage_of_memory_does_not_take_more_at_once() -> None:
    controller = Controller(0.02, most_threads=4)
    pairs = [Pair(1.0 + at_s, 0.25, 0.0, 12, 1.0) for at_s in range(3)]
    decide(controller, 0.0, BUSY)
    assert decide(controller, 5.0, BUSY, pairs).reason == "within-budget"
    assert decide(controller, 6.0, Strain(memory=0.3), pairs).reason == "memory"
    controller.begin()
    assert decide(controller, 20.0, IDLE, pairs).duty == LEAST_DUTY


def test_steps_that_vary_too_much_to_tell_do_not_keep_a_later_job_waiting() -> None:
    simulation = Simulation(SimulatedTraining(lambda load: 0.0, noise=0.5))
    simulation.begin()
    simulation.go_on(30)
    assert simulation.regulator.decision is not None
    assert "more steps to tell" in simulation.regulator.decision.why
    assert duties(simulation) == [LOOKING]
    simulation.end()
    simulation.idle_cores = IDLE_CORES
    simulation.begin()
    assert simulation.decisions[-1][1].duty == AMPLE
