"""Nothing is saved, and a GPU has nothing to do for as long as on a full one it would wait.

A GPU that has rested is quicker for some steps and slower for one: what that does to the steps
behind a save must not be taken for what the save does.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median

from instride.bench.gpu_training import GpuTraining
from instride.bench.training import Training
from instride.bench.ways.contract import Done, NoSaving, Ticket, behind

BUS_BYTES_PER_S = 55e9
"""To memory that is locked (bench/results/save-gpu.md)."""
NUM_PASSES = 3


class Pause(NoSaving):
    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        hidden_s = 0.0
        if isinstance(training, GpuTraining):
            hidden_s = median(training.forward_and_backward_s() for _ in range(NUM_PASSES))
        self._pause_s = max(0.0, training.state_bytes / BUS_BYTES_PER_S - hidden_s)
        self._is_due = False

    def save(self, step: int) -> Ticket:
        self._is_due = True
        return Done()

    def guard(self) -> AbstractContextManager[object]:
        return behind(self._pause) if self._is_due else nullcontext()

    def _pause(self) -> None:
        self._is_due = False
        self._training.settle()
        time.sleep(self._pause_s)
