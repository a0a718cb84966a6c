"""Small models and optimizers that do not fit each other's checkpoints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch

import instride


def layers(*widths: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(*(torch.nn.Linear(*pair) for pair in pairwise(widths)))


def adam(model: torch.nn.Module, *, num_groups: int = 1) -> torch.optim.AdamW:
    parameters = list(model.parameters())
    groups = [{"params": parameters[number::num_groups]} for number in range(num_groups)]
    return torch.optim.AdamW(groups, lr=0.1)


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()


def stepped(
    model: torch.nn.Module, kind: type[torch.optim.Optimizer] = torch.optim.AdamW
) -> dict[str, Any]:
    optimizer = kind(model.parameters(), lr=0.1)
    step(model, optimizer)
    return {"model": model, "optimizer": optimizer}


def told(saver: instride.Saver) -> str:
    with pytest.warns(RuntimeWarning) as warned:
        assert saver.restore(strict=False) == 4
    return "\n".join(str(each.message) for each in warned)
