"""Baselines where every record holds a marked pause that the trainer's own clock leaves out."""

from __future__ import annotations

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.recording import Recording

STEPS = 14
STEP_S = 0.25
PAUSE_S = 3.5


def recording(pauses: Pauses, printed_s: float | None) -> Recording:
    """Epochs of one record each, with an evaluation between any two."""
    log = Recording(Dialect("some", "Some", "", pauses, Sampling.AVERAGE))
    for epoch in range(20):
        if epoch:
            log.event(EventKind.EVAL, 2 * epoch)
        wall = 1e9 + epoch * (STEPS * STEP_S + PAUSE_S)
        log.step(STEPS * (epoch + 1), 2 * epoch + 1, printed_s, wall)
    return log


@pytest.mark.parametrize("resolution_s", [0.0, 1.0])
def test_what_the_trainer_prints_is_ordinary_where_it_stops_its_clock(resolution_s: float) -> None:
    log = recording(Pauses.NONE, STEP_S)
    log.run.clock_resolution_s = resolution_s
    ledger = build(log.finish())
    assert ledger.baseline_s == pytest.approx(STEP_S)
    assert ledger.accounts[Owner.EVAL].seconds == pytest.approx(19 * PAUSE_S)


@pytest.mark.parametrize(("resolution_s", "ordinary_s"), [(0.1, 2.5), (1.0, 2.3)])
def test_a_clock_of_whole_seconds_does_not_say_what_an_ordinary_step_takes(
    resolution_s: float, ordinary_s: float
) -> None:
    log = Recording(Dialect("some", "Some", "", Pauses.NEXT, Sampling.EVERY_STEP))
    log.run.clock_resolution_s = resolution_s
    for step in range(300):
        # By the clock, steps take two or three seconds, by turns.
        log.step(step, step + 1, 2.3, 1e9 + 5 * (step // 2) + 2.5 * (step % 2))
    ledger = build(log.finish())
    assert ledger.baseline_s == pytest.approx(ordinary_s)
    assert bool(ledger.spread_s) <= (resolution_s < 1.0)


@pytest.mark.parametrize(
    ("pauses", "printed_s"), [(Pauses.NONE, None), (Pauses.NEXT, STEP_S + PAUSE_S / STEPS)]
)
def test_a_pause_in_every_record_is_ordinary_where_nothing_tells_it_apart(
    pauses: Pauses, printed_s: float | None
) -> None:
    ledger = build(recording(pauses, printed_s).finish())
    assert ledger.baseline_s == pytest.approx(STEP_S + PAUSE_S / STEPS)
    assert ledger.accounts[Owner.EVAL].seconds == 0.0
