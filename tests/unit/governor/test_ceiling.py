"""Efforts that have hurt: when they are tried again, and how often."""

from __future__ import annotations

import pytest

from instride.governor.ceiling import BELOW_HARM, LONGEST_RETRY_S, PROBE, RETRY_S, Ceiling
from tests.unit.governor.simulating import SimulatedTraining, Simulation


def test_harm_that_is_over_does_not_hold_work_back_for_ever() -> None:
    training = SimulatedTraining(lambda load: 3.0 * load)
    simulation = Simulation(training)
    simulation.begin()
    simulation.go_on(100)
    assert simulation.efforts()[-1] < 0.1
    training.response = lambda load: 0.0
    simulation.go_on(2 * 3600)
    assert simulation.efforts()[-1] == 1.0


def test_a_trial_that_does_no_harm_is_followed_by_another() -> None:
    ceiling, now_s, efforts = Ceiling(), 100.0, []
    ceiling.hurt(now_s, 0.5)
    for _ in range(6):
        efforts.append(ceiling.effort)
        ceiling.hold(now_s)
        now_s += 2 * RETRY_S
        ceiling.look(now_s)
    assert efforts[0] == pytest.approx(0.5 * BELOW_HARM)
    assert efforts[1] == pytest.approx(efforts[0] * PROBE)
    assert efforts[2] == pytest.approx(efforts[1] * PROBE)
    assert efforts[-1] == 1.0


def test_nothing_more_is_tried_as_long_as_nobody_knows_what_the_last_trial_does() -> None:
    ceiling = Ceiling()
    ceiling.hurt(0.0, 0.5)
    ceiling.look(RETRY_S)
    tried = ceiling.effort
    ceiling.look(100 * RETRY_S)
    assert ceiling.effort == tried


def test_harm_that_comes_back_is_tried_after_twice_as_long_and_at_most_after_sixteen_minutes() -> (
    None
):
    ceiling, now_s, waited = Ceiling(), 0.0, []
    for _ in range(7):
        ceiling.hurt(now_s, 0.5)
        held, begun_s = ceiling.effort, now_s
        ceiling.hold(now_s)  # what is below did no harm: that brings the next trial no nearer
        while ceiling.effort == held:
            now_s += 1.0
            ceiling.look(now_s)
        waited.append(now_s - begun_s)
    assert waited == [60.0, 120.0, 240.0, 480.0, 960.0, LONGEST_RETRY_S, LONGEST_RETRY_S]
