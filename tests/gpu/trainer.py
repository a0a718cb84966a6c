"""A training in its own process: `python -m tests.gpu.trainer STORE DEVICE WHERE [fork]`.

On a GPU (`cuda`), WHERE is `room`, or `no-room` for one without room for a snapshot, or `late` for
that and an optimizer that waits. On the host (`cpu`), what lies in `room` comes to the arena bit by
bit, as it does from a GPU, and the others differ in what is trained alone.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

import instride
import instride.saver.staging
from instride.snapshot import device_memory
from tests.crash.arriving import ArrivingCopy
from tests.gpu.holding import Holder

NUM_VALUES = {"cuda": 12 << 20, "cpu": 3 << 20}
"""So few that single precision counts them exactly."""
STEPS = range(1, 5)
KEPT = 2


def values_of(step: int, device: str) -> torch.Tensor:
    return torch.arange(step, step + NUM_VALUES[device], dtype=torch.int32, device=device)


def are_of(values: torch.Tensor, step: int, device: str) -> bool:
    """Whether they are what was on a device at a step, to the last one."""
    return bool(torch.equal(values.int(), values_of(step, device).to(values.device)))


class Overwritten:
    """Values that nobody says who changes: they are copied before anything else happens."""

    def __init__(self, device: str) -> None:
        self._device = device
        self.values = values_of(0, device)
        self.parts: dict[str, Any] = {"state": Holder(values=self.values)}

    def come_to(self, step: int) -> None:
        self.values.copy_(values_of(step, self._device))

    def go_on(self) -> None:
        self.values.fill_(-1)


class Optimized:
    """Values that only an optimizer changes, by one in each step."""

    def __init__(self, device: str) -> None:
        self.values = torch.nn.Parameter(values_of(0, device).float())
        self.values.grad = -torch.ones_like(self.values)
        self._optimizer = torch.optim.SGD([self.values], lr=1.0)
        self._num_steps = 0
        self.parts: dict[str, Any] = {
            "state": Holder(values=self.values),
            "optimizer": self._optimizer,
        }

    def come_to(self, step: int) -> None:
        if self._num_steps < step:
            self.go_on()

    def go_on(self) -> None:
        self._optimizer.step()
        self._num_steps += 1


def trained(device: str, where: str) -> Overwritten | Optimized:
    """What is trained there."""
    return (Optimized if where == "late" else Overwritten)(device)


def train(store: Path, device: str, where: str, *, forks: bool) -> None:
    values = trained(device, where)
    with instride.Saver(store, keep=instride.Keep(last=KEPT), **values.parts) as saver:
        for step in STEPS:
            values.come_to(step)
            pending = saver.save(step)
            values.go_on()
            pending.wait(60)
            if forks:
                fork()
            print(step, flush=True)


def fork() -> None:
    """A child that does nothing, and ends as programs do."""
    pid = os.fork()
    if pid == 0:
        sys.exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def main(store: str, device: str, where: str, *options: str) -> None:
    warnings.simplefilter("ignore", RuntimeWarning)
    if device == "cuda" and where != "room":
        device_memory.room_bytes = lambda *_: 0
    if device == "cpu" and where == "room":
        instride.saver.staging.WholeCopy = ArrivingCopy  # type: ignore[attr-defined]
    train(Path(store), device, where, forks="fork" in options)


if __name__ == "__main__":
    main(*sys.argv[1:])
