"""The row in which a GPU rests does so once for each save, as long as a full GPU would."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from instride.bench.gpu_training import GpuTraining  # noqa: E402 - needs torch
from instride.bench.names import PAUSE  # noqa: E402
from instride.bench.timing import rest, time_save  # noqa: E402
from instride.bench.ways import WAYS, pausing  # noqa: E402

pytestmark = pytest.mark.torch

PASS_S = 0.01


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> GpuTraining:
    made = GpuTraining(1, "cpu", is_synced=True)
    made._texts = made._texts[:, :1, :9]  # a step takes no second
    monkeypatch.setattr(made, "forward_and_backward_s", lambda: PASS_S)
    return made


@pytest.fixture
def slept_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def test_the_next_step_waits_for_what_of_the_bus_is_not_hidden(
    training: GpuTraining, slept_s: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pausing, "BUS_BYTES_PER_S", training.state_bytes / 0.25)
    way = WAYS[PAUSE](training, tmp_path)
    rest(training, way, 2)
    assert slept_s == []

    time_save(training, way, 1, 3)

    assert slept_s == [pytest.approx(0.25 - PASS_S)]


def test_a_bus_that_a_step_hides_is_not_waited_for(
    training: GpuTraining, slept_s: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pausing, "BUS_BYTES_PER_S", training.state_bytes / PASS_S)
    way = WAYS[PAUSE](training, tmp_path)
    time_save(training, way, 1, 3)
    assert slept_s == [0.0]
