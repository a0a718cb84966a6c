"""What people use today beside DCP: `torch.save`, and two libraries."""

from __future__ import annotations

import copy
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import torch

from instride.bench.training import Training
from instride.bench.ways.contract import Done, FutureTicket, NoSaving, Ticket, tensors_in


class TorchSave(NoSaving):
    """`torch.save(state, path)`, over the file of before, as most scripts do."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._path = folder / "checkpoint.pt"

    def save(self, step: int) -> Ticket:
        torch.save(self._training.state(), self._path)
        return Done()

    def load(self, step: int) -> list[torch.Tensor]:
        return tensors_in(torch.load(self._path, weights_only=True))


class TorchCheckpointing(NoSaving):
    """`torch_checkpointing`, Meta's successor of DCP, as its manual says."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        from torch_checkpointing import CheckpointManager
        from torch_checkpointing.storage.filesystem import LocalFileSystemStorageConfig

        self._folder = folder
        config = CheckpointManager.Config.with_async_save()
        # Its default, direct I/O, fails on common filesystems: the buffers are not aligned.
        config.storage_config = LocalFileSystemStorageConfig(use_direct_io=False)
        self._manager = CheckpointManager(config)

    def save(self, step: int) -> Ticket:
        shutil.rmtree(self._folder / f"step-{step - 2}", ignore_errors=True)
        path = str(self._folder / f"step-{step}")
        return FutureTicket(self._manager.save(path, self._training.state()))

    def guard(self) -> AbstractContextManager[object]:
        guard: AbstractContextManager[object] = self._manager.lock()
        return guard

    def load(self, step: int) -> list[torch.Tensor]:
        # Into copies: what is compared must come from the disk.
        state = copy.deepcopy(self._training.state())
        return tensors_in(self._manager.load(str(self._folder / f"step-{step}"), state) or state)

    def close(self) -> None:
        self._manager.close()


class LightningAsync(NoSaving):
    """Lightning's `AsyncCheckpointIO`, from 2.6 on: before, it had to be set up, and tore."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        from lightning.pytorch.plugins.io import AsyncCheckpointIO, TorchCheckpointIO

        self._folder = folder
        self._io = AsyncCheckpointIO(TorchCheckpointIO())

    def save(self, step: int) -> Ticket:
        path = self._folder / f"step-{step}.ckpt"
        self._io.save_checkpoint(self._training.state(), path)
        (self._folder / f"step-{step - 2}.ckpt").unlink(missing_ok=True)
        # Its executor tells nothing: a task behind the save ends after it.
        return FutureTicket(self._io._executor.submit(lambda: None))

    def load(self, step: int) -> list[torch.Tensor]:
        self._io.teardown()  # it waits; the next save starts anew
        return tensors_in(torch.load(self._folder / f"step-{step}.ckpt", weights_only=False))

    def close(self) -> None:
        self._io.teardown()
