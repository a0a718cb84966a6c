"""Devices that have no quick way are copied from while training waits, and that is said once."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

import instride
from instride.snapshot.planning import Plan

pytestmark = pytest.mark.torch


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
