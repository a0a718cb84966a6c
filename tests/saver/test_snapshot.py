"""A snapshot is the state at `save()`: whatever is written afterwards is not in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from tests.saver.states import assert_same

pytestmark = pytest.mark.torch

NUM_SAVES = 150


def test_a_file_holds_the_state_at_the_call_however_soon_it_is_overwritten(tmp_path: Path) -> None:
    tensors = {str(n): torch.zeros(1 + 1000 * n) for n in range(40)}
    numbers: dict[str, Any] = {"list": [0], "deep": {"set": {0}}}

    for save in range(NUM_SAVES):
        for tensor in tensors.values():
            tensor.fill_(save)
        numbers["list"][0] = save
        pending = instride.save({"t": tensors, "n": numbers}, tmp_path / "x.pt")
        for tensor in tensors.values():
            tensor.fill_(-1.0)
        numbers["list"][0] = -1
        pending.wait(60)

        loaded = torch.load(tmp_path / "x.pt", weights_only=True)
        assert loaded["n"]["list"] == [save]
        assert all(bool((tensor == save).all()) for tensor in loaded["t"].values())


def test_an_optimizer_that_goes_on_is_not_seen(tmp_path: Path) -> None:
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        for step in range(10):
            train_one(model, optimizer)
            wanted = copied(model, optimizer)
            pending = saver.save(step)
            train_one(model, optimizer)
            path = pending.wait(60).path

            saved = torch.load(path, weights_only=True)
            assert_same(dict(saved["model"]), wanted["model"])
            assert_same(saved["optimizer"]["state"], wanted["optimizer"]["state"])


def train_one(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.randn(4, 64)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def copied(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """A deep copy, made the slow and certain way."""
    import copy

    return {
        "model": {name: value.clone() for name, value in model.state_dict().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda p: setattr(p, "data", torch.ones(64, 64)),
        lambda p: p.data.resize_(32, 64),
        lambda p: p.data.t_(),
        lambda p: setattr(p, "data", p.data.to(torch.float64)),
    ],
    ids=["other memory", "smaller", "turned", "wider"],
)
def test_a_tensor_that_became_another_between_two_saves_is_saved_as_it_is(
    change: Any, tmp_path: Path
) -> None:
    parameter = torch.nn.Parameter(torch.randn(64, 64))
    instride.save({"p": parameter}, tmp_path / "x.pt").wait(60)

    change(parameter)
    instride.save({"p": parameter}, tmp_path / "x.pt").wait(60)

    assert_same(torch.load(tmp_path / "x.pt", weights_only=True), {"p": parameter})


def test_a_state_larger_than_its_memory_streams_through_it(tmp_path: Path) -> None:
    model = torch.nn.Linear(4096, 4096)
    budget = 16 << 20
    with instride.Saver(tmp_path, model=model, memory_bytes=budget) as saver:
        wanted = {name: value.clone() for name, value in model.state_dict().items()}
        path = saver.save(1).wait(60).path
        with torch.no_grad():
            model.weight.fill_(7)
        second = saver.save(2).wait(60).path

    assert_same(dict(torch.load(path, weights_only=True)["model"]), wanted)
    assert bool((torch.load(second, weights_only=True)["model"]["weight"] == 7).all())
