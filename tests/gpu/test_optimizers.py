"""Optimizers that step in a way of their own: what is late of them, and what must not be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from tests.gpu.trainings import NEEDS_A_GPU, hammer, loss_of, make, make_model, one_step
from tests.saver.wrappers import WRAPPERS, Silent

pytestmark = NEEDS_A_GPU


@pytest.mark.parametrize("kind", WRAPPERS)
def test_an_optimizer_around_another_one(kind: type[Silent], room: str, tmp_path: Path) -> None:
    """Its own hooks do not exist; those of the one inside run, where that one is found."""
    model, inside = make(fused=True)
    optimizer = kind(inside)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer}
    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, lambda: one_step(model, optimizer))


def test_an_optimizer_around_another_one_whose_gradients_are_scaled(
    room: str, tmp_path: Path
) -> None:
    """The scaler lets the one inside step, past the step of the wrapper, as accelerate has it."""
    model, inside = make(fused=True)
    scaler = torch.amp.GradScaler("cuda")
    parts: dict[str, Any] = {"model": model, "optimizer": WRAPPERS[-1](inside), "scaler": scaler}

    def step() -> None:
        scaler.scale(loss_of(model)).backward()
        scaler.step(inside)
        scaler.update()
        inside.zero_grad()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_an_optimizer_that_evaluates_inside_its_step(room: str, tmp_path: Path) -> None:
    """Its history are lists that grow and change places; parameters and averages change many times
    in one step."""
    model = make_model()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, history_size=2)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer}

    def evaluate() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model)
        loss.backward()
        return loss

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, lambda: optimizer.step(evaluate), range(1, 7))
