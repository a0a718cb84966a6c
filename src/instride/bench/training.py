"""A training that is the same every time: one model, one batch, steps that can be timed."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

import torch

WIDTH = 1024
NUM_TOKENS = 16
LEARNING_RATE = 1e-6
"""So small that the last step is as long as the first, whatever is learnt."""


class Training:
    """Layers of one width, as many as it takes, trained by Adam on random numbers."""

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer

    def __init__(self, num_params: int) -> None:
        torch.manual_seed(0)
        num_layers = max(1, round(num_params / (WIDTH * WIDTH)))
        layers = [torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(num_layers)]
        for layer in layers:
            # As large behind the last layer as before the first: numbers that vanish on the way
            # become denormal, and slow to calculate with.
            torch.nn.init.normal_(layer.weight, std=WIDTH**-0.5)
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=LEARNING_RATE)
        self._inputs = torch.randn(NUM_TOKENS, WIDTH)

    def step(self, guard: AbstractContextManager[object]) -> float:
        """One step; the seconds it took. A way of saving may want to guard what it changes."""
        start_s = time.perf_counter()
        self.model(self._inputs).square().mean().backward()
        with guard:
            self.optimizer.step()
        self.optimizer.zero_grad()
        return time.perf_counter() - start_s

    def settle(self) -> float:
        """Wait until a device has done what it was given; the seconds that took."""
        return 0.0

    def queue(self) -> None:
        """Leave work to a device that what comes next has to wait for."""

    def state(self) -> dict[str, Any]:
        """What people save."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def tensors(self) -> list[torch.Tensor]:
        """Every tensor of the state, to be overwritten."""
        found = list(self.model.state_dict().values())
        for state in self.optimizer.state.values():
            found += [value for value in state.values() if isinstance(value, torch.Tensor)]
        return found

    @property
    def state_bytes(self) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in self.tensors())

    def fill(self, value: float) -> None:
        """Overwrite all of the state, as an optimizer does: in a step of it, behind the hooks that
        others have there. There are no gradients, so that it changes nothing else."""
        self.optimizer.zero_grad()
        self.optimizer.step(lambda: self._fill(value))

    def _fill(self, value: float) -> float:
        with torch.no_grad():
            for tensor in self.tensors():
                tensor.fill_(value)
        return value
