"""The journal of a store: a way back in the middle of a training is no time of a step."""

from __future__ import annotations

import pytest

from instride.explain.findings import findings
from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner
from instride.steps.model import Run
from instride.steps.readers.journal import Journal
from tests.unit.readers.journal_lines import START_S, STEP_S, call, line, restored, start
from tests.unit.readers.reading import run_of

LOADING_S = 30.0
LEFT_S = START_S + 400 * STEP_S
"""When the training was left for the checkpoint of step 299."""


def step_line(t: float, step: int, seconds: float | None, is_told: bool) -> str:
    fields = {} if seconds is None else {"s": round(seconds, 6)}
    return line(t, "step", step=step if is_told else -1, **fields)


def gone_back(*, is_told: bool, saved_s: float = 0.0, set_s: float = 0.0) -> Run:
    """100 steps are lost; before the way back may be a save, and then the clock may be set."""
    lines = [start(START_S)]
    for step in range(400):
        took = STEP_S if step else None
        lines.append(step_line(START_S + (step + 1) * STEP_S, step, took, is_told))
    lines.append(call(START_S + 300 * STEP_S + 0.001, 299, 0.0))
    if saved_s:
        lines.append(call(LEFT_S + 0.001, 399, saved_s, id=2))
    back_s = LEFT_S + saved_s + LOADING_S
    lines.append(restored(back_s + set_s, 299))
    for step in range(300, 600):
        took = STEP_S if step > 300 else saved_s + LOADING_S + STEP_S
        lines.append(step_line(back_s + set_s + (step - 299) * STEP_S, step, took, is_told))
    lines.append(line(back_s + set_s + 300 * STEP_S, "end", why="the trainer is gone"))
    return run_of(Journal, lines)


def owned(ledger: Ledger) -> dict[Owner, float]:
    return {owner: each.seconds for owner, each in ledger.accounts.items() if each.seconds > 1e-3}


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("saved_s", [0.0, 0.5, 5.0])
def test_the_time_of_a_restore_is_a_gap_and_no_warm_up(is_told: bool, saved_s: float) -> None:
    ledger = build(gone_back(is_told=is_told, saved_s=saved_s))

    expected = {
        Owner.COMPUTE: 599 * STEP_S,
        Owner.STARTUP: STEP_S,
        Owner.RESTART: LOADING_S,
        Owner.LOST: 100 * STEP_S,
    }
    if saved_s:
        expected[Owner.SAVE] = saved_s
    assert owned(ledger) == pytest.approx(expected, abs=1e-3)
    assert ledger.wall_s == pytest.approx(700 * STEP_S + saved_s + LOADING_S, abs=1e-3)
    assert "warmup" not in {finding.id for finding in findings(ledger)}


@pytest.mark.parametrize("set_s", [-3600.0, 3600.0])
def test_a_clock_that_is_set_on_the_way_back_makes_the_first_step_no_longer(set_s: float) -> None:
    run = gone_back(is_told=True, set_s=set_s)

    assert 0 <= run.seconds[400] <= LOADING_S + STEP_S + 1e-6
    assert build(run).wall_s == pytest.approx(700 * STEP_S + LOADING_S, abs=1e-3)
