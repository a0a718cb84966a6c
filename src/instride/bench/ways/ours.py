"""instride, also on a GPU that has no room left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import torch

from instride.bench.training import Training
from instride.bench.ways.contract import NoSaving, tensors_in
from instride.governor.model import BUDGET
from instride.snapshot.device_memory import SPARE_BYTES, DeviceMemory
from instride.writer.journal import journal_path

LEFT_BYTES = SPARE_BYTES * 3 // 4
"""What stays free on a device that is full. Instride leaves more than that to training, so that no
snapshot finds room there, however small; a driver that loads a kernel does, and so does what is
read back to be compared."""


class Instride(NoSaving):
    is_synced = True
    budget = BUDGET
    when_busy: Literal["wait", "skip"] = "wait"

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        from instride import Keep, Saver

        self._folder = folder
        self._saver = Saver(
            folder,
            model=training.model,
            optimizer=training.optimizer,
            keep=Keep(last=2),
            budget=self.budget,
            when_busy=self.when_busy,
        )

    @property
    def prepare_cost_s(self) -> float:
        return self._saver.prepare_cost_s

    def save(self, step: int) -> OurTicket:
        return OurTicket(self._saver.save(step), self._folder)

    def load(self, step: int) -> list[torch.Tensor]:
        path = self._folder / f"step_{step:08d}.pt"
        tree = torch.load(path, weights_only=True)
        return tensors_in([tree["model"], tree["optimizer"]])

    def close(self) -> None:
        self._saver.close()


class InstrideAtOnce(Instride):
    """In no more time than the work takes, whatever training thinks of it."""

    budget = 0.99


class InstrideOften(Instride):
    """Asked for more saves than a disk may take."""

    when_busy = "skip"


class InstrideWithoutRoom(Instride):
    """On a GPU whose memory is full, but for what a step and a little more need."""

    def __init__(self, training: Training, folder: Path) -> None:
        device = torch.device("cuda", torch.cuda.current_device())
        free, _ = torch.cuda.mem_get_info()
        self._filling = torch.empty(filling_bytes(free), dtype=torch.uint8, device=device)
        refuse_room(device)
        super().__init__(training, folder)

    def close(self) -> None:
        super().close()
        del self._filling


def filling_bytes(free_bytes: int) -> int:
    """How much of what is free has to be taken, so that a device is full."""
    return max(0, free_bytes - LEFT_BYTES)


def refuse_room(device: torch.device) -> None:
    """A row, or a hammer, that finds room on a full GPU would tell of something else. Raises
    RuntimeError."""
    if DeviceMemory(device).has_room(1):
        raise RuntimeError(f"there is room for a snapshot on {device}, which was to be full")


class OurTicket:
    def __init__(self, pending: Any, store: Path) -> None:
        self._pending = pending
        self.is_skipped = bool(pending.is_skipped)
        self._journal = journal_path(store)
        self._verified = f'"kind":"verified","path":{json.dumps(str(pending.path))}'

    def is_done(self) -> bool:
        return bool(self._pending.done)

    def is_over(self) -> bool:
        """It is read back after the commit, as the journal says within a second."""
        return (
            self.is_done()
            and self._journal.exists()
            and self._verified in self._journal.read_text(encoding="utf-8")
        )

    def wait(self) -> None:
        self._pending.wait()
