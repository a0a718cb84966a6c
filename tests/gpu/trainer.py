"""A training on a GPU in its own process: `python -m tests.gpu.trainer STORE [WHERE] [fork]`.

`no-room` is on a GPU without room for a snapshot, `late` as well, with an optimizer that waits.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

import instride
from instride.snapshot import device_memory
from tests.gpu.trainings import Holder

DEVICE = "cuda"
NUM_VALUES = 12 << 20
"""So few that single precision counts them exactly."""
STEPS = range(1, 5)
KEPT = 2


def values_of(step: int, device: str) -> torch.Tensor:
    return torch.arange(step, step + NUM_VALUES, dtype=torch.int32, device=device)


class Overwritten:
    """Values that nobody says who changes: they are copied before anything else happens."""

    def __init__(self) -> None:
        self._values = values_of(0, DEVICE)
        self.parts: dict[str, Any] = {"state": Holder(values=self._values)}

    def come_to(self, step: int) -> None:
        self._values.copy_(values_of(step, DEVICE))

    def go_on(self) -> None:
        self._values.fill_(-1)


class Optimized:
    """Values that only an optimizer changes, by one in each step."""

    def __init__(self) -> None:
        self._values = torch.nn.Parameter(values_of(0, DEVICE).float())
        self._values.grad = -torch.ones_like(self._values)
        self._optimizer = torch.optim.SGD([self._values], lr=1.0)
        self._num_steps = 0
        self.parts: dict[str, Any] = {
            "state": Holder(values=self._values),
            "optimizer": self._optimizer,
        }

    def come_to(self, step: int) -> None:
        if self._num_steps < step:
            self.go_on()

    def go_on(self) -> None:
        self._optimizer.step()
        self._num_steps += 1


def train(store: Path) -> None:
    values = Optimized() if "late" in sys.argv else Overwritten()
    with instride.Saver(store, keep=instride.Keep(last=KEPT), **values.parts) as saver:
        for step in STEPS:
            values.come_to(step)
            pending = saver.save(step)
            values.go_on()
            pending.wait(60)
            if "fork" in sys.argv:
                fork()
            print(step, flush=True)


def fork() -> None:
    """A child that does nothing, and ends as programs do."""
    pid = os.fork()
    if pid == 0:
        sys.exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    if {"no-room", "late"} & set(sys.argv):
        device_memory.room_bytes = lambda *_: 0
    train(Path(sys.argv[1]))
