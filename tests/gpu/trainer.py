"""A training on a GPU in its own process: `python -m tests.gpu.trainer STORE [no-room] [fork]`."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import torch

import instride
from instride.snapshot import device_memory
from tests.gpu.trainings import Holder

NUM_VALUES = 12 << 20
STEPS = range(1, 5)


def values_of(step: int, device: str) -> torch.Tensor:
    return torch.arange(step, step + NUM_VALUES, dtype=torch.int32, device=device)


def train(store: Path) -> None:
    values = values_of(0, "cuda")
    with instride.Saver(store, state=Holder(values=values)) as saver:
        for step in STEPS:
            values.copy_(values_of(step, "cuda"))
            pending = saver.save(step)
            values.fill_(-1)
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
    if "no-room" in sys.argv:
        device_memory.room_bytes = lambda *_: 0
    train(Path(sys.argv[1]))
