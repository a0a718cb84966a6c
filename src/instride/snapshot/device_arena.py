"""What is kept of a device from save to save: a stream, kernels, and memory for a snapshot.

Memory is taken for a moment, then lent to training or freed.
"""

from __future__ import annotations

import inspect
import threading
from typing import NamedTuple

import torch

from instride.snapshot.blocks import WORDS
from instride.snapshot.capturing import let_others_capture
from instride.snapshot.gathering import Gatherer, gatherer_for

SPARE_BYTES = 1 << 30
"""What is left free on a device beyond the peak of training so far."""
SCARCE_PART = 8
"""With less than this part of a device free, nothing is kept there between two saves."""
_CAN_LEND = "use_on_oom" in inspect.signature(torch.cuda.MemPool.__init__).parameters


class _Kept(NamedTuple):
    num_bytes: int
    pool: torch.cuda.MemPool

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is lent to anybody."""
        return all(part["active_size"] == 0 for part in torch.cuda.memory_snapshot(self.pool.id))


class DeviceArena:
    """Memory on one device, in one piece, from a pool of its own.

    The allocator takes from such a pool before it reports that no memory is left. It empties its
    caches first, though: where memory is scarce, the pool is freed as soon as it is not used.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)
        """What follows a snapshot runs here. There is one: the allocator keeps what was asked for
        on a stream for that stream."""
        self.gatherer: Gatherer | None = None
        """There once it was made ready, if it can be had."""
        self.may_be_late = True
        """Not any more once something wrote to what was to be copied late."""
        self._kept: _Kept | None = None
        self._is_ready = False
        self._making_ready = threading.Lock()

    def make_ready(self) -> None:
        """Off the training thread: a driver loads a kernel when it is used for the first time, and
        all wait for that."""
        let_others_capture()
        with self._making_ready:
            if self._is_ready:
                return
            with torch.cuda.device(self.device), torch.cuda.stream(self.stream):
                for kind in WORDS:
                    words = torch.zeros(2, dtype=kind, device=self.device)
                    torch._foreach_copy_([words[:1]], [words[1:]])
            self.gatherer = gatherer_for(self.device)
            self._is_ready = True

    def take(self, block_bytes: int, num_blocks: int) -> torch.Tensor | None:
        """So many blocks, or as many as there is room for; None if there is none for any."""
        taken = self.take_kept(block_bytes * num_blocks)
        if taken is None:  # what was kept is freed before it is asked how much room there is
            num_blocks = min(num_blocks, room_bytes(self.device) // block_bytes)
            if num_blocks:
                pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
                taken = self._take_from(_Kept(block_bytes * num_blocks, pool))
        return taken

    def take_kept(self, num_bytes: int) -> torch.Tensor | None:
        """What was kept of the last time, if it is as much as that and nobody has it."""
        kept, self._kept = self._kept, None
        if kept is None or kept.num_bytes != num_bytes or not kept.is_idle:
            return None
        return self._take_from(kept)

    def _take_from(self, kept: _Kept) -> torch.Tensor | None:
        try:
            with torch.cuda.device(self.device), torch.cuda.use_mem_pool(kept.pool):
                taken = torch.empty(kept.num_bytes, dtype=torch.uint8, device=self.device)
        except torch.OutOfMemoryError:
            return None  # somebody else was quicker
        self._kept = kept
        return taken

    def settle(self) -> None:
        """Nothing is used any more: keep it for the next save only where nobody can miss it."""
        free, total = torch.cuda.mem_get_info(self.device)
        if free < total // SCARCE_PART or not _CAN_LEND:
            self._kept = None

    def close(self) -> None:
        """Free everything now: whenever it is collected as garbage, a graph may be captured."""
        self._kept = None


class DeviceArenas:
    """Those of all devices that there was something to save on."""

    def __init__(self) -> None:
        self._arenas: dict[torch.device, DeviceArena] = {}
        self._lock = threading.Lock()

    def of(self, device: torch.device) -> DeviceArena:
        with self._lock:
            if device not in self._arenas:
                self._arenas[device] = DeviceArena(device)
            return self._arenas[device]

    def close(self) -> None:
        for arena in self._arenas.values():
            arena.close()


def room_bytes(device: torch.device) -> int:
    """What would be free at the peak of a step, as far as there has been one."""
    free, _ = torch.cuda.mem_get_info(device)
    reserved = torch.cuda.memory_stats_as_nested_dict(device).get("reserved_bytes", {})
    now = reserved.get("all", {})
    not_yet_again = int(now.get("peak", 0)) - int(now.get("current", 0))
    return max(0, int(free) - max(0, not_yet_again) - SPARE_BYTES)
