"""Memory on devices that snapshots lie in for a moment: taken, then lent to training or freed."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import torch

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


class DeviceArenas:
    """Memory on each device, in one piece, from a pool of its own.

    The allocator takes from such a pool before it reports that no memory is left. It empties its
    caches first, though: where memory is scarce, the pool is freed as soon as it is not used.
    """

    def __init__(self) -> None:
        self._kept: dict[torch.device, _Kept] = {}
        self.may_be_late = True
        """Not any more once something wrote to what was to be copied late."""

    def take(self, device: torch.device, block_bytes: int, num_blocks: int) -> torch.Tensor | None:
        """So many blocks, or as many as there is room for; None if there is none for any."""
        kept = self._kept.pop(device, None)
        if kept is None or kept.num_bytes != block_bytes * num_blocks or not kept.is_idle:
            kept = None  # freed, before it is asked how much room there is
            num_blocks = min(num_blocks, room_bytes(device) // block_bytes)
            if num_blocks == 0:
                return None
            pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
            kept = _Kept(block_bytes * num_blocks, pool)
        try:
            with torch.cuda.device(device), torch.cuda.use_mem_pool(kept.pool):
                taken = torch.empty(kept.num_bytes, dtype=torch.uint8, device=device)
        except torch.OutOfMemoryError:
            return None  # somebody else was quicker
        self._kept[device] = kept
        return taken

    def settle(self, device: torch.device) -> None:
        """Nothing is used any more: keep it for the next save only where nobody can miss it."""
        free, total = torch.cuda.mem_get_info(device)
        if free < total // SCARCE_PART or not _CAN_LEND:
            self._kept.pop(device, None)

    def close(self) -> None:
        """Free everything now: whenever it is collected as garbage, a graph may be captured."""
        self._kept.clear()


def room_bytes(device: torch.device) -> int:
    """What would be free at the peak of a step, as far as there has been one."""
    free, _ = torch.cuda.mem_get_info(device)
    reserved = torch.cuda.memory_stats_as_nested_dict(device).get("reserved_bytes", {})
    now = reserved.get("all", {})
    not_yet_again = int(now.get("peak", 0)) - int(now.get("current", 0))
    return max(0, int(free) - max(0, not_yet_again) - SPARE_BYTES)
