"""A run that was interrupted and resumed is the same run, to the last bit."""

from __future__ import annotations

import random
from pathlib import Path

import numpy
import pytest
import torch

import instride

pytestmark = pytest.mark.torch

NUM_STEPS = 12


def train(directory: Path, stop_after: int, *, pack: bool = False) -> list[float]:
    """Losses of a training that draws on every generator there is."""
    torch.manual_seed(1)
    random.seed(1)
    numpy.random.seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 32),
        torch.nn.Dropout(0.3),
        torch.nn.BatchNorm1d(32),
        torch.nn.Linear(32, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, NUM_STEPS)
    losses: list[float] = []
    with instride.Saver(
        directory, model=model, optimizer=optimizer, scheduler=scheduler, pack=pack
    ) as saver:
        start = saver.restore()
        losses += saver.extra.get("losses", [])
        for step in range(start, stop_after):
            inputs = torch.randn(16, 8) * random.random() + numpy.random.rand()
            loss = (model(inputs) - random.gauss(0, 1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
            if saver.due(step, every=5):
                saver.save(step, extra={"losses": losses})
        return losses


def test_losses_after_a_resume_equal_those_of_a_run_without_one(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", NUM_STEPS)

    train(tmp_path / "parts", 7)
    resumed = train(tmp_path / "parts", NUM_STEPS)

    assert resumed == whole
    assert len(whole) == NUM_STEPS


def test_losses_after_a_resume_from_packs_equal_those_of_a_run_without_one(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", NUM_STEPS)

    for stop_after in (6, 11, NUM_STEPS):
        resumed = train(tmp_path / "parts", stop_after, pack=True)

    assert [path.suffix for path in (tmp_path / "parts").glob("step_*")] == [".pack"] * 2
    assert resumed == whole


def test_restore_says_which_step_comes_next_and_zero_at_first(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        assert saver.restore() == 0
        saver.save(41).wait(60)
        assert saver.restore() == 42


def test_an_earlier_step_can_be_restored_and_training_goes_on_from_there(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model, keep=instride.Keep(last=2)) as saver:
        for step in (10, 20, 30):
            with torch.no_grad():
                model.weight.fill_(step)
            saver.save(step).wait(60)
        assert saver.restore(step=20) == 21
        assert model.weight.detach()[0, 0].item() == 20
        saver.save(25).wait(60)
        with torch.no_grad():
            model.weight.fill_(0)
        assert saver.restore() == 26, "what was saved last is the newest, whatever its step"
        assert model.weight.detach()[0, 0].item() == 20


def test_restoring_fills_the_tensors_that_are_there(tmp_path: Path) -> None:
    model = torch.nn.Linear(64, 64)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        address = model.weight.data_ptr()
        wanted = model.weight.detach().clone()
        with torch.no_grad():
            model.weight.zero_()
        saver.restore()

    assert model.weight.data_ptr() == address
    assert torch.equal(model.weight, wanted)
