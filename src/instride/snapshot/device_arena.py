"""What is kept of a device from save to save: a stream, kernels, locked memory of the host to leave
it by, and memory of its own for a snapshot, which is taken for a moment, then lent to training or
freed.
"""

from __future__ import annotations

import inspect
import threading
from typing import NamedTuple

import torch

from instride.snapshot.blocks import WORDS
from instride.snapshot.gathering import Gatherer, gatherer_for
from instride.snapshot.ring import Ring
from instride.snapshot.runtime import let_others_capture

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
        self.ring = Ring()
        self.gatherer: Gatherer | None = None
        """There once it was made ready, if it can be had."""
        self.may_be_late = True
        """Not any more once something wrote to what was to be copied late."""
        self._kept: _Kept | None = None
        self._peak = TrainingPeak()
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
                self.ring.make_ready()
            self.gatherer = gatherer_for(self.device)
            self._is_ready = True

    def has_room(self, num_bytes: int) -> bool:
        """Whether so much could be taken, as far as training is known by now."""
        kept = self._kept
        return (kept is not None and kept.num_bytes >= num_bytes) or self._room() >= num_bytes

    def _room(self) -> int:
        return room_bytes(self.device, self._note_peak())

    def _note_peak(self) -> int:
        """To be called while what was kept still is."""
        kept = self._kept
        ours_bytes = kept.num_bytes if kept is not None and kept.is_idle else 0
        return self._peak.note(_reserved(self.device, "peak"), ours_bytes)

    def take(self, block_bytes: int, num_blocks: int) -> torch.Tensor | None:
        """So many blocks, or as many as there is room for; None if there is none for any."""
        taken = self.take_kept(block_bytes * num_blocks)
        if taken is None:  # what was kept is freed before it is asked how much room there is
            num_blocks = min(num_blocks, self._room() // block_bytes)
            if num_blocks:
                pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
                taken = self._take_from(_Kept(block_bytes * num_blocks, pool))
        return taken

    def take_kept(self, num_bytes: int) -> torch.Tensor | None:
        """What was kept of the last time, if it is as much as that and nobody has it."""
        kept = self._kept
        if kept is None:
            return None
        if kept.num_bytes == num_bytes and kept.is_idle:
            return self._take_from(kept)
        self._note_peak()
        self._kept = None
        return None

    def _take_from(self, kept: _Kept) -> torch.Tensor | None:
        try:
            with torch.cuda.device(self.device), torch.cuda.use_mem_pool(kept.pool):
                taken = torch.empty(kept.num_bytes, dtype=torch.uint8, device=self.device)
        except torch.OutOfMemoryError:
            self._kept = None
            return None  # somebody else was quicker
        self._kept = kept
        return taken

    def settle(self) -> None:
        """Nothing is used any more: keep it for the next save only where nobody can miss it."""
        self._note_peak()
        free, total = torch.cuda.mem_get_info(self.device)
        if free < total // SCARCE_PART or not _CAN_LEND:
            self._kept = None

    def close(self) -> None:
        """Free everything now: whenever it is collected as garbage, a graph may be captured."""
        self._kept = None
        self.ring.close()


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

    @property
    def register_s(self) -> float:
        """How long nothing could be launched because memory was being locked to leave them by."""
        return sum(arena.ring.register_s for arena in self._all())

    def close_in_child(self) -> None:
        for arena in self._arenas.values():  # whoever had the lock is not in the child
            arena.ring.close_in_child()

    def close(self) -> None:
        for arena in self._all():
            arena.close()

    def _all(self) -> list[DeviceArena]:
        with self._lock:
            return list(self._arenas.values())


class TrainingPeak:
    """The most memory that training had on a device at a time. The allocator counts what was ours
    along with it, and whether it was there when the peak was reached does not show later."""

    def __init__(self) -> None:
        self._num_bytes = 0
        self._counted_bytes = 0
        self._lock = threading.Lock()

    def note(self, counted_bytes: int, ours_bytes: int) -> int:
        """From the peak as it is counted now, and how much was ours since the last note."""
        with self._lock:
            if counted_bytes != self._counted_bytes:
                self._counted_bytes = counted_bytes
                self._num_bytes = max(self._num_bytes, counted_bytes - ours_bytes)
            return self._num_bytes


def room_bytes(device: torch.device, training_peak_bytes: int) -> int:
    """What would be free at the peak of a step, as far as there has been one."""
    free, _ = torch.cuda.mem_get_info(device)
    not_yet_again = training_peak_bytes - _reserved(device, "current")
    return max(0, int(free) - max(0, not_yet_again) - SPARE_BYTES)


def _reserved(device: torch.device, which: str) -> int:
    """What the allocator has of a device now, or had at its peak."""
    counted = torch.cuda.memory_stats_as_nested_dict(device).get("reserved_bytes", {})
    return int(counted.get("all", {}).get(which, 0))
