"""What preparing costs is told from windows around it, whatever else makes steps slower."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from instride.bench import timing
from instride.bench.gpu_training import GpuTraining
from instride.bench.orders import Order, Task
from instride.bench.timing import NUM_PASSES, time_preparing, time_saves
from instride.bench.training import Training
from instride.bench.ways import WAYS
from instride.bench.ways.contract import NoSaving

pytestmark = pytest.mark.torch

DRIFT_S = 0.001
PREPARING_S = 0.5


class Drifting(Training):
    """A training that becomes slower with every step, and takes no time at all."""

    def __init__(self) -> None:
        self._steps_s = self._drift()

    @staticmethod
    def _drift() -> Iterator[float]:
        step_s = 1.0
        while True:
            yield step_s
            step_s += DRIFT_S

    def step(self, guard: AbstractContextManager[object]) -> float:
        return next(self._steps_s) + (PREPARING_S if isinstance(guard, Busy) else 0.0)

    def settle(self) -> float:
        return 0.0


class Busy(nullcontext[None]):
    pass


class Preparing(NoSaving):
    @property
    def prepare_cost_s(self) -> float:
        return PREPARING_S

    def guard(self) -> AbstractContextManager[object]:
        return Busy()


@pytest.mark.parametrize(("kind", "cost_s"), [(Preparing, 4 * PREPARING_S), (NoSaving, 0.0)])
def test_a_drift_is_not_taken_for_what_preparing_costs(
    kind: type[NoSaving], cost_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, "tested", kind)
    monkeypatch.setattr(timing, "make_training", lambda order: Drifting())
    order = Order(
        Task.PREPARE, str(tmp_path), "tested", num_saves=3, num_rest_steps=6, num_prepare_steps=4
    )

    prepared = time_preparing(order, tmp_path)

    assert prepared.costs_s == pytest.approx([cost_s] * 3)
    assert prepared.told_s == [PREPARING_S if kind is Preparing else 0.0] * 3
    assert len(prepared.making_s) == 3


class Plain(Drifting):
    @property
    def state_bytes(self) -> int:
        return 7


class Passing(Plain, GpuTraining):
    """On a device that is not there."""

    def forward_and_backward_s(self) -> float:
        return 0.14


def test_what_a_step_hides_is_measured_several_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "make_training", lambda order: Passing())
    order = Order(Task.TIME, str(tmp_path), "none", num_saves=2, num_rest_steps=6)
    timed = time_saves(order, tmp_path)
    assert timed.passes_s == [0.14] * NUM_PASSES
    monkeypatch.setattr(timing, "make_training", lambda order: Plain())
    assert time_saves(order, tmp_path).passes_s == []
