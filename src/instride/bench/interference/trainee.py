"""The training that must not feel anything: steps without end, each noted as it ends.

    python -m instride.bench.interference.trainee FOLDER SCENARIO

Writes FOLDER/steps.bin, two doubles a step (when it ended by the monotonic clock, and its seconds),
and FOLDER/train.log, as a training would print it.
"""

from __future__ import annotations

import mmap
import os
import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import torch

from instride.bench.interference.names import DATA, LOG, STEP, STEPS, Scenario
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import open_for_reading, read_piece
from instride.system.cores import usable_cores

WIDTH, LAYERS = 1024, 4
ROWS = {Scenario.CPU: 192, Scenario.DISK: 48, Scenario.MEMORY: 16}
"""Of a batch: how much a step computes."""
PIECES_A_STEP = 6
COPIES_A_STEP, COPIED_FLOATS = 2, 32 << 20


class Trainee:
    def __init__(self, folder: Path, scenario: Scenario) -> None:
        # Where a core is free, threads of the lowest class have it: what they do to the disk and
        # to the memory is all that a training can feel of them.
        num_spare = 0 if scenario is Scenario.CPU else 1
        torch.set_num_threads(max(1, usable_cores() - num_spare))
        torch.manual_seed(0)
        layers = [torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)]
        for layer in layers:
            torch.nn.init.normal_(layer.weight, std=WIDTH**-0.5)
        self._model = torch.nn.Sequential(*layers)
        self._optimizer = torch.optim.SGD(self._model.parameters(), lr=1e-6)
        self._inputs = torch.randn(ROWS[scenario], WIDTH)
        self._reading = _Reading(folder / DATA) if scenario is Scenario.DISK else None
        self._copying = _Copying() if scenario is Scenario.MEMORY else None

    def step(self) -> None:
        if self._reading is not None:
            self._reading.read()
        if self._copying is not None:
            self._copying.copy()
        self._model(self._inputs).square().mean().backward()
        self._optimizer.step()
        self._optimizer.zero_grad()


class _Reading:
    """Data at random places of a file that is on the disk, past the cache."""

    def __init__(self, path: Path) -> None:
        self._fd = open_for_reading(path)
        self._num_pieces = path.stat().st_size // PIECE_BYTES
        self._view = memoryview(mmap.mmap(-1, PIECE_BYTES))
        self._random = random.Random(0)

    def read(self) -> None:
        for _ in range(PIECES_A_STEP):
            piece = self._random.randrange(self._num_pieces)
            read_piece(self._fd, self._view, piece * PIECE_BYTES)


class _Copying:
    """Memory to memory, more than fits into any cache."""

    def __init__(self) -> None:
        self._here = torch.ones(COPIED_FLOATS)
        self._there = torch.zeros(COPIED_FLOATS)

    def copy(self) -> None:
        for _ in range(COPIES_A_STEP):
            self._there.copy_(self._here)


def train(folder: Path, scenario: Scenario) -> None:
    """Until somebody ends it."""
    trainee = Trainee(folder, scenario)
    steps = os.open(folder / STEPS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    log = os.open(folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    number = 0
    while True:
        begun_s = time.monotonic()
        trainee.step()
        ended_s = time.monotonic()
        number += 1
        os.write(steps, STEP.pack(ended_s, ended_s - begun_s))
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
        took_ms = 1000 * (ended_s - begun_s)
        line = f"{stamp} [Step {number:6d}] NORMAL       | total={took_ms:.3f}ms\n"
        os.write(log, line.encode())


if __name__ == "__main__":
    train(Path(sys.argv[1]), Scenario(sys.argv[2]))
