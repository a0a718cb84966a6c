"""`torch.distributed.checkpoint`: at once, in a thread, in a process, through pinned memory, and
beside the steps."""

from __future__ import annotations

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from instride.bench.training import Training
from instride.bench.ways.contract import Done, FutureTicket, NoSaving, Ticket, behind, tensors_in


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
        return Done()

    def load(self, step: int) -> list[torch.Tensor]:
        from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

        whole = self._folder / "whole.pt"
        dcp_to_torch_save(str(self._folder / f"step-{step}"), str(whole))
        return tensors_in(torch.load(whole, weights_only=False))

    def close(self) -> None:
        import torch.distributed as dist

        dist.destroy_process_group()


class DcpAsync(DcpSave):
    """`dcp.async_save` as it comes."""

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp

        path = str(self._fresh(step))
        return FutureTicket(dcp.async_save(self._training.state(), checkpoint_id=path))


class DcpProcess(DcpSave):
    """`dcp.async_save`, writing in a process of its own."""

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp
        from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

        return FutureTicket(
            dcp.async_save(
                self._training.state(),
                checkpoint_id=str(self._fresh(step)),
                async_checkpointer_type=AsyncCheckpointerType.PROCESS,
            )
        )


class DcpPinned(DcpSave):
    """`dcp.async_save` with a stager that keeps page-locked memory for the copy: the first save has
    it locked, and all use it."""

    is_overlapped = False

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._stager = self._make_stager()

    def _make_stager(self) -> Any:
        from torch.distributed.checkpoint.staging import StagingOptions

        from instride.bench.ways.staging import KeptStager

        return KeptStager(
            StagingOptions(
                use_pinned_memory=True,
                use_shared_memory=self.is_overlapped,
                use_async_staging=self.is_overlapped,
                use_non_blocking_copy=True,
            )
        )

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp

        path = str(self._fresh(step))
        return FutureTicket(
            dcp.async_save(self._training.state(), checkpoint_id=path, async_stager=self._stager)
        )

    def close(self) -> None:
        self._stager.end()
        super().close()


class DcpOverlapped(DcpPinned):
    """`dcp.async_save` with all that its stager can do, as torchtitan uses it: a thread copies by a
    stream of its own to memory that is shared with a process, and the loop waits for that before
    its optimizer changes anything. That stream waits for nothing that was queued before."""

    is_overlapped = True

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._staging: Any = None

    def save(self, step: int) -> Ticket:
        import torch.distributed.checkpoint as dcp
        from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

        response: Any = dcp.async_save(
            self._training.state(),
            checkpoint_id=str(self._fresh(step)),
            async_checkpointer_type=AsyncCheckpointerType.PROCESS,
            async_stager=self._stager,
        )
        self._staging = response.staging_completion
        return FutureTicket(response)

    def guard(self) -> AbstractContextManager[object]:
        return behind(self._await_staging)

    def _await_staging(self) -> None:
        if self._staging is not None:
            self._staging.result()
            self._staging = None
