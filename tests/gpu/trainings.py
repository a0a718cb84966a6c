"""Trainings on a GPU that are the same every time, and what a snapshot of them must hold."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.snapshot.arena import LOCKING, Arena

NEEDS_A_GPU = [
    pytest.mark.torch,
    pytest.mark.skipif(
        not torch.cuda.is_available() or torch.version.hip is not None,
        reason="copies that go on behind the call are of CUDA: there is no GPU of NVIDIA here",
    ),
]
WIDTH = 1500
"""With Adam's moments, a state of more than one block of the tests."""


def busy(a: torch.Tensor) -> None:
    """Tens of milliseconds of work in the queue: a copy that does not wait for it shows."""
    for _ in range(60):
        a @ a


class Holder:
    """Tensors as a part."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        self.tensors = tensors

    def state_dict(self) -> dict[str, torch.Tensor]:
        return self.tensors

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        for name, tensor in state.items():
            self.tensors[name].copy_(tensor)


def make_model() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH - 1),
        torch.nn.BatchNorm1d(WIDTH - 1),
        torch.nn.Linear(WIDTH - 1, WIDTH),
    ).cuda()


def make(**options: Any) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    model = make_model()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2, **options)


def loss_of(model: Callable[..., Any]) -> torch.Tensor:
    loss: torch.Tensor = model(torch.randn(64, WIDTH, device="cuda")).square().mean()
    return loss


def one_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    loss_of(model).backward()
    optimizer.step()
    optimizer.zero_grad()


def assert_same(saved: Any, wanted: Any, where: str = "state") -> None:
    """Two trees of state, to the last bit."""
    if isinstance(wanted, torch.Tensor):
        assert torch.equal(saved.cpu(), wanted.detach().cpu()), where
    elif isinstance(wanted, dict):
        assert saved.keys() == wanted.keys(), where
        for key in wanted:
            assert_same(saved[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list | tuple):
        assert len(saved) == len(wanted), where
        for number, value in enumerate(wanted):
            assert_same(saved[number], value, f"{where}.{number}")
    else:
        assert saved == wanted, where


def load(path: Path) -> Any:
    return torch.load(path, weights_only=True)


def arena_of(saver: instride.Saver) -> Arena:
    arena: Arena = saver._engine._stager.arena  # type: ignore[attr-defined]
    return arena


def lock_arena(saver: instride.Saver) -> None:
    """Have all memory ready: what is not locked is copied while an optimizer waits."""
    saver.save(0).wait(60)
    arena_of(saver).populate()
    arena_of(saver).register()


def await_locking() -> None:
    """Wait for what is locked beside the training."""
    for thread in threading.enumerate():
        if thread.name == LOCKING:
            thread.join(60)


def hammer(
    saver: instride.Saver,
    parts: dict[str, Any],
    step: Callable[[], object],
    numbers: Iterable[int] = range(1, 11),
) -> None:
    """Save, train on at once, and see whether a file holds anything but the moment of its save."""
    for number in numbers:
        step()
        saver.due(number)
        wanted = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
        pending = saver.save(number)
        step()
        saved = load(pending.wait(60).path)
        assert_same({name: saved[name] for name in parts}, wanted, f"step {number}")
