"""Devices that have no quick way are copied from while training waits, and that is said once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import instride
from instride.saver.plainly import save_plainly
from instride.snapshot.arena import Arena
from instride.snapshot.planning import Plan
from instride.snapshot.wholesale import save_into

pytestmark = pytest.mark.torch

MODULES = {"the arena": "snapshot.wholesale", "a file": "saver.plainly"}


@pytest.fixture
def arena() -> Iterator[Arena]:
    made = Arena()
    yield made
    made.close()


def test_it_is_said_once_that_training_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of the host stands for that of the device, which is not there."""
    monkeypatch.setattr(Plan, "others", property(lambda plan: ["mps"]))
    model = torch.nn.Linear(3, 3)
    with (
        warnings.catch_warnings(record=True) as told,
        instride.Saver(tmp_path, model=model) as saver,
    ):
        warnings.simplefilter("always")
        for step in range(1, 4):
            pending = saver.save(step)
            saved = torch.load(pending.wait(30).path, weights_only=True)
            assert torch.equal(saved["model"]["weight"], model.weight)
    texts = [str(warning.message) for warning in told if warning.category is RuntimeWarning]
    assert len([text for text in texts if "training waits while what is on mps" in text]) == 1


def test_without_a_gpu_preparing_costs_nothing(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(3, 3)) as saver:
        saver.save(1).wait(30)
        assert saver.prepare_cost_s == 0


@pytest.mark.parametrize("way", ["the arena", "a file"])
def test_what_goes_through_torch_save_is_what_a_gpu_has_written_to_the_host(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena: Arena
) -> None:
    """A copy to locked memory may still be on its way when a save is called."""
    offloaded = torch.zeros(4)
    monkeypatch.setattr(f"instride.{MODULES[way]}.await_devices", lambda: offloaded.fill_(7))
    path = tmp_path / "x.pt"
    if way == "a file":
        save_plainly({"x": offloaded}, path, detached=True)
    else:
        num_bytes, _ = save_into(arena, {"x": offloaded})
        path.write_bytes(bytes(arena.memory[:num_bytes].numpy()))
    assert torch.load(path, weights_only=True)["x"].tolist() == [7] * 4
