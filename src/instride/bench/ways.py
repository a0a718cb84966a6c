"""Ways of saving: what people use today, and instride."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import torch

from instride.bench.training import Training
from instride.writer.journal import journal_path

LEFT_BYTES = 3 << 29
"""What stays free on a device that is full: less than what instride leaves to training."""


class Ticket(Protocol):
    """A save on its way."""

    def is_done(self) -> bool: ...

    def is_over(self) -> bool:
        """Whether nothing of it goes on any more, not even what comes after it is done."""
        ...

    def wait(self) -> None: ...


class Way(Protocol):
    """One way of saving a training."""

    is_synced: bool
    """Whether what is done is on the disk: others leave it to the system, and to luck."""

    def save(self, step: int) -> Ticket: ...

    def guard(self) -> AbstractContextManager[object]:
        """What the optimizer step must be wrapped in, by the manual of this way."""
        ...

    def load(self, step: int) -> list[torch.Tensor]:
        """Every tensor that was saved, to be compared."""
        ...

    def close(self) -> None: ...


class _Done:
    def is_done(self) -> bool:
        return True

    def is_over(self) -> bool:
        return True

    def wait(self) -> None:
        return


def _tensors_in(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        return [tensor for value in tree.values() for tensor in _tensors_in(value)]
    if isinstance(tree, list | tuple):
        return [tensor for value in tree for tensor in _tensors_in(value)]
    return []


class NoSaving:
    is_synced = False

    def __init__(self, training: Training, folder: Path) -> None:
        self._training = training

    def save(self, step: int) -> Ticket:
        return _Done()

    def guard(self) -> AbstractContextManager[object]:
        return nullcontext()

    def load(self, step: int) -> list[torch.Tensor]:
        return []

    def close(self) -> None:
        return


class TorchSave(NoSaving):
    """`torch.save(state, path)`, over the file of before, as most scripts do."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._path = folder / "checkpoint.pt"

    def save(self, step: int) -> Ticket:
        torch.save(self._training.state(), self._path)
        return _Done()

    def load(self, step: int) -> list[torch.Tensor]:
        return _tensors_in(torch.load(self._path, weights_only=True))


class _Future:
    def __init__(self, future: Any) -> None:
        self._future = getattr(future, "upload_completion", future)

    def is_done(self) -> bool:
        return bool(self._future.done())

    def is_over(self) -> bool:
        return self.is_done()

    def wait(self) -> None:
        self._future.result()


class DcpSave(NoSaving):
    """`dcp.save`: PyTorch's distributed checkpoint, on one rank."""

    is_synced = True

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        import torch.distributed as dist

        self._folder = folder
        if not dist.is_initialized():
            os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
            os.environ.setdefault("MASTER_PORT", "0")
            store = dist.HashStore()
            dist.init_process_group("gloo", rank=0, world_size=1, store=store)

    def _fresh(self, step: int) -> Path:
        shutil.rmtree(self._folder / f"step-{step - 2}", ignore_errors=True)
        return self._folder / f"step-{step}"

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp

        dcp.save(self._training.state(), checkpoint_id=str(self._fresh(step)))
        return _Done()

    def load(self, step: int) -> list[torch.Tensor]:
        from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

        whole = self._folder / "whole.pt"
        dcp_to_torch_save(str(self._folder / f"step-{step}"), str(whole))
        return _tensors_in(torch.load(whole, weights_only=False))

    def close(self) -> None:
        import torch.distributed as dist

        dist.destroy_process_group()


class DcpAsync(DcpSave):
    """`dcp.async_save` as it comes."""

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp

        path = str(self._fresh(step))
        return _Future(dcp.async_save(self._training.state(), checkpoint_id=path))


class DcpProcess(DcpSave):
    """`dcp.async_save`, writing in a process of its own."""

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp
        from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

        return _Future(
            dcp.async_save(
                self._training.state(),
                checkpoint_id=str(self._fresh(step)),
                async_checkpointer_type=AsyncCheckpointerType.PROCESS,
            )
        )


class DcpPinned(DcpSave):
    """`dcp.async_save` with a stager that keeps page-locked memory for the copy."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._stager = self._make_stager()

    def _make_stager(self) -> Any:
        from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions

        return DefaultStager(
            StagingOptions(
                use_pinned_memory=True,
                use_shared_memory=False,
                use_async_staging=False,
                use_non_blocking_copy=True,
            )
        )

    def save(self, step: int) -> Ticket:
        path = str(self._fresh(step))
        try:
            return self._save(path)
        except KeyError:  # torch 2.11 closes a stager after each save, whoever made it
            self._stager = self._make_stager()
            return self._save(path)

    def _save(self, path: str) -> Ticket:
        import torch.distributed.checkpoint as dcp

        return _Future(
            dcp.async_save(self._training.state(), checkpoint_id=path, async_stager=self._stager)
        )

    def close(self) -> None:
        self._stager.close()
        super().close()


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
        return _Future(self._manager.save(path, self._training.state()))

    def guard(self) -> AbstractContextManager[object]:
        guard: AbstractContextManager[object] = self._manager.lock()
        return guard

    def load(self, step: int) -> list[torch.Tensor]:
        # Into copies: what is compared must come from the disk.
        state = copy.deepcopy(self._training.state())
        return _tensors_in(self._manager.load(str(self._folder / f"step-{step}"), state) or state)

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
        return _Queue(self._io._executor)

    def load(self, step: int) -> list[torch.Tensor]:
        self._io.teardown()  # it waits; the next save starts anew
        return _tensors_in(torch.load(self._folder / f"step-{step}.ckpt", weights_only=False))

    def close(self) -> None:
        self._io.teardown()


class _Queue:
    """The executor of Lightning tells nothing: a task behind the save ends after it."""

    def __init__(self, executor: Any) -> None:
        self._behind = executor.submit(lambda: None)

    def is_done(self) -> bool:
        return bool(self._behind.done())

    def is_over(self) -> bool:
        return self.is_done()

    def wait(self) -> None:
        self._behind.result()


class Instride(NoSaving):
    is_synced = True

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        from instride import Keep, Saver

        self._folder = folder
        self._saver = Saver(
            folder, model=training.model, optimizer=training.optimizer, keep=Keep(last=2)
        )

    def save(self, step: int) -> Ticket:
        return _Pending(self._saver.save(step), self._folder)

    def load(self, step: int) -> list[torch.Tensor]:
        path = self._folder / f"step_{step:08d}.pt"
        tree = torch.load(path, weights_only=True)
        return _tensors_in([tree["model"], tree["optimizer"]])

    def close(self) -> None:
        self._saver.close()


class _Fence:
    def __init__(self, fence: Callable[[], None]) -> None:
        self._fence = fence

    def __enter__(self) -> None:
        self._fence()

    def __exit__(self, *_: object) -> None:
        return


class InstrideWithoutRoom(Instride):
    """On a GPU whose memory is full, but for what a step and a little more need."""

    def __init__(self, training: Training, folder: Path) -> None:
        free, _ = torch.cuda.mem_get_info()
        num_bytes = max(0, free - LEFT_BYTES)
        self._filling = torch.empty(num_bytes, dtype=torch.uint8, device="cuda")
        super().__init__(training, folder)

    def guard(self) -> AbstractContextManager[object]:
        """What the hooks of an optimizer do: what tries to tear snapshots has no optimizer."""
        return _Fence(self._saver._engine.fence)

    def close(self) -> None:
        super().close()
        del self._filling


class _Pending:
    def __init__(self, pending: Any, store: Path) -> None:
        self._pending = pending
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


WAYS: dict[str, Callable[[Training, Path], Way]] = {
    "none": NoSaving,
    "none again": NoSaving,
    "torch.save": TorchSave,
    "dcp.save": DcpSave,
    "dcp.async_save": DcpAsync,
    "dcp.async_save process": DcpProcess,
    "dcp.async_save pinned": DcpPinned,
    "torch_checkpointing": TorchCheckpointing,
    "lightning": LightningAsync,
    "instride": Instride,
    "instride full GPU": InstrideWithoutRoom,
}
