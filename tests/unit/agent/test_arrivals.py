"""By when a checkpoint should be done: before the next one, as far as that can be told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from instride.agent import shrinking
from instride.agent.arrivals import Arrivals
from instride.agent.configuration import Configuration
from instride.agent.pacing import Governing
from instride.governor.pace import StoppedError
from tests.unit.agent.agents import agent, save
from tests.unit.governor.simulating import SimulatedTraining, Simulation

HURTS = 3.0
INTERVAL_S = 100.0
NUM_BYTES = 6e9
"""All threads need 15 s for as much, and the budget alone would allow it an hour."""


def arrivals(now_s: float, *came: tuple[str, float]) -> Arrivals:
    found = Arrivals(lambda: now_s)
    found.saw((name, int(at_s * 1e9)) for name, at_s in came)
    return found


def test_one_checkpoint_does_not_tell_when_the_next_will_come() -> None:
    assert arrivals(10.0, ("step_1.pt", 5.0)).left_s("step_1.pt") is None


def test_there_is_time_until_the_next_one() -> None:
    came = [(f"step_{number}.pt", 100.0 * number) for number in range(1, 5)]
    assert arrivals(430.0, *came).left_s("step_4.pt") == 70.0


@pytest.mark.parametrize("now_s", [350.0, 470.0, 500.0, 9999.0])
def test_whoever_is_late_or_has_a_clock_of_its_own_gets_a_whole_interval(now_s: float) -> None:
    came = [(f"step_{number}.pt", 100.0 * number) for number in range(1, 5)]
    assert arrivals(now_s, *came).left_s("step_2.pt") == 100.0


def test_files_beside_a_series_do_not_shorten_its_time() -> None:
    steps = [(f"step_{number}.pt", 100.0 * number) for number in range(1, 5)]
    best = [("best.pt", 100.0 * number + 15) for number in (1, 2, 4)]
    found = arrivals(420.0, *steps, *best)
    assert found.left_s("step_4.pt") == 80.0
    assert found.left_s("last.pt") == 100.0


def test_files_that_were_copied_there_together_tell_nothing() -> None:
    came = [(f"step_{number}.pt", 50.0 + number) for number in range(8)]
    assert arrivals(60.0, *came).left_s("step_7.pt") is None


def test_a_night_without_training_is_not_how_often_checkpoints_come() -> None:
    came = [("step_1.pt", 0.0), ("step_2.pt", 100.0), ("step_3.pt", 50_000.0),
            ("step_4.pt", 50_100.0)]  # fmt: skip
    assert arrivals(50_100.0, *came).left_s("step_4.pt") == 100.0


class Saves:
    """A training that hurts and saves every so often, and a governor that learns how often."""

    def __init__(self) -> None:
        training = SimulatedTraining(lambda load: HURTS * load)
        self.simulation = Simulation(training)
        self.arrivals = Arrivals(lambda: self.simulation.now_s)
        self.num_saved = 0

    def save(self) -> str:
        self.num_saved += 1
        name = f"step_{self.num_saved}.pt"
        self.arrivals.saw([(name, int(self.simulation.now_s * 1e9))])
        return name

    def due_s(self, name: str) -> float | None:
        left_s = self.arrivals.left_s(name)
        return None if left_s is None else self.simulation.now_s + left_s

    def compress(self, name: str, until_s: float) -> bool:
        """Whether one more file is done by then."""
        wanted = self.simulation.pace.num_bytes + NUM_BYTES
        self.simulation.regulator.begin(self.simulation.now_s, int(NUM_BYTES), self.due_s(name))
        return self.go_on(wanted, until_s)

    def go_on(self, wanted: float, until_s: float) -> bool:
        pace = self.simulation.pace
        seconds = until_s - self.simulation.now_s
        self.simulation.go_on(seconds, until=lambda: pace.num_bytes >= wanted)
        return pace.num_bytes >= wanted


def test_what_the_budget_would_starve_is_done_before_the_next_checkpoint() -> None:
    saves = Saves()
    simulation = saves.simulation
    simulation.idle(20.0)
    next_s = simulation.now_s + INTERVAL_S
    first = saves.save()
    wanted = NUM_BYTES
    assert not saves.compress(first, next_s)  # nobody knows yet that there is any hurry
    assert {decision.codec_step for _, decision in simulation.decisions} == {0}

    saves.save()
    simulation.regulator.expect(saves.due_s(first))
    assert saves.go_on(wanted, next_s + INTERVAL_S)
    simulation.end()

    for number in range(2, 6):
        simulation.idle(next_s + (number - 1) * INTERVAL_S - simulation.now_s)
        name = saves.save()
        assert saves.compress(name, simulation.now_s + INTERVAL_S), name
        simulation.end()


def due_of(governing: Governing) -> float | None:
    assert governing._governor is not None
    job = governing._governor._regulator._job
    assert job is not None
    return job.deadline_s


@pytest.fixture
def governing(request: pytest.FixtureRequest) -> Iterator[Governing]:
    found = Governing(Configuration(**request.param), lambda decision: None)
    yield found
    found.close()


@pytest.mark.parametrize("governing", [{}], indirect=True)
def test_a_deadline_is_learnt_while_a_file_is_worked_on_and_kept_then(governing: Governing) -> None:
    came = arrivals(10.0, ("step_1.pt", 0.0))
    governing.begin("step_1.pt", 1 << 30, came)
    assert due_of(governing) is None
    came.saw([("step_2.pt", int(100e9))])
    governing.look_again("step_1.pt", came)
    due_s = due_of(governing)
    assert due_s is not None
    came.saw([("step_3.pt", int(900e9))])
    governing.look_again("step_1.pt", came)
    assert due_of(governing) == due_s


@pytest.mark.parametrize("governing", [{"mode": "after"}], indirect=True)
def test_after_mode_waits_for_no_checkpoint(governing: Governing) -> None:
    came = arrivals(10.0, ("step_1.pt", 0.0), ("step_2.pt", 100.0))
    governing.begin("step_2.pt", 1 << 30, came)
    assert due_of(governing) is None


@pytest.mark.parametrize("governing", [{"mode": "after", "deadline_s": 60.0}], indirect=True)
def test_a_deadline_that_is_given_counts_in_any_mode(governing: Governing) -> None:
    governing.begin("step_2.pt", 1 << 30, arrivals(10.0))
    assert due_of(governing) is not None


def test_the_agent_tells_its_governor_of_a_checkpoint_that_comes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = save(tmp_path, "step_1.pt")
    worker = agent(tmp_path, budget=0.02, interval_s=1e-6)
    learnt: list[float | None] = []

    def work(make: Callable[[], int], tick: Callable[[], None]) -> int:
        learnt.append(due_of(worker._governing))
        second = save(tmp_path, "step_2.pt")
        at_s = first.stat().st_mtime + 50
        os.utime(second, (at_s, at_s))
        tick()
        learnt.append(due_of(worker._governing))
        raise StoppedError

    monkeypatch.setattr(shrinking, "do_aside", work)
    worker.run(is_once=True)
    before, after = learnt
    assert before is None
    assert after is not None
