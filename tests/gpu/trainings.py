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

NEEDS_A_GPU = [pytest.mark.torch, pytest.mark.gpu]
WIDTH = 1500
"""With Adam's moments, a state of more than one block of the tests."""


def busy(a: torch.Tensor) -> None:
    """Tens of milliseconds of work in the queue: a copy that does not wait for it shows."""
    for _ in range(60):
        a @ a


class Adding(torch.optim.Optimizer):
    """Adds its gradients. It has the flag that says of an optimizer that it was not captured: those
    without, as SGD, may have been if there is any graph in the process, and other tests leave some;
    then nothing of them is late."""

    def __init__(self, *parameters: torch.Tensor) -> None:
        super().__init__(parameters, {"capturable": False})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.add_(parameter.grad)


class AddingUnseen(Adding):
    """The same, and torch counts no version of what it writes to, as with kernels of others."""

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data.add_(parameter.grad)


def ones_to_add() -> torch.nn.Parameter:
    """A parameter that an optimizer which adds counts up; only such a step changes it."""
    weight = torch.nn.Parameter(torch.zeros(8 << 20, device="cuda"))
    weight.grad = torch.ones_like(weight)
    return weight


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
    """Two trees of state, to the last bit: zeros of both signs differ, and what is no number is
    the same as itself."""
    if isinstance(wanted, torch.Tensor):
        assert (saved.dtype, saved.shape) == (wanted.dtype, wanted.shape), where
        assert torch.equal(bytes_of(saved.to(wanted.device)), bytes_of(wanted)), where
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


def bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().flatten().view(torch.uint8)


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
) -> int:
    """Save, train on at once, and see whether a file holds anything but the moment of its save.

    Every other time the device has so much to do that the step before the save is still queued when
    that is called: a copy that comes too early has what was there before that step. The other times
    it has nothing to do, and a copy that comes too late has what the step behind the call writes.
    Returns how often a step was queued indeed; one that waits for the device never is.
    """
    queue = torch.ones(8192, 8192, device="cuda", dtype=torch.bfloat16)
    num_queued = 0
    for number in numbers:
        if number % 2:
            busy(queue)
        step()
        written = torch.cuda.Event()
        written.record()
        saver.due(number)
        wanted = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
        num_queued += number % 2 and not written.query()
        pending = saver.save(number)
        step()
        saved = load(pending.wait(60).path)
        assert_same({name: saved[name] for name in parts}, wanted, f"step {number}")
    return num_queued
