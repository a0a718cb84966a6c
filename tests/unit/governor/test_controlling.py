"""What is set while nothing, or too little, is known of what work does to steps."""

from __future__ import annotations

import pytest

from instride.governor.controlling import Controller
from instride.governor.outlook import Outlook, Strain
from tests.unit.governor.simulating import BUDGET


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
