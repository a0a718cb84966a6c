"""Memory of a device for a snapshot, in one piece: taken for a moment, then lent to training, or
given back.

It is given back by the thread that trains alone: the allocator ends the process if that is done
while a graph is being captured, and no other thread can tell.
"""

from __future__ import annotations

import ctypes
import inspect
import threading
from typing import NamedTuple

import torch

SPARE_BYTES = 1 << 30
"""What is left free on a device beyond the peak of training so far."""
SCARCE_PART = 8
"""Nothing is kept on a device between two saves unless this part of it is free, and as much again:
what is kept is lent to whoever wants no more than that, not to whoever wants more in one piece."""
_CAN_LEND = "use_on_oom" in inspect.signature(torch.cuda.MemPool.__init__).parameters


class _Kept(NamedTuple):
    num_bytes: int
    pool: torch.cuda.MemPool
    stream: torch.cuda.Stream
    """That it was asked for on: the allocator would answer another one with memory of its own."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is lent to anybody."""
        return all(part["active_size"] == 0 for part in torch.cuda.memory_snapshot(self.pool.id))


_left_behind: list[_Kept] = []
"""By savers that ended in another thread than took it: lent as before, and given back by the thread
that takes memory next."""


class DeviceMemory:
    """From a pool of its own: the allocator takes from such a pool before it reports that no memory
    is left. It empties its caches first, though: where memory is scarce, nothing is kept there."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.knows_peak = True
        """Whether a step has shown by now how much training needs."""
        self._has_pools = torch.cuda.get_allocator_backend() == "native"
        self._kept: _Kept | None = None
        self._is_surplus = False
        self._taker: int | None = None
        self._peak = TrainingPeak()

    def has_room(self, num_bytes: int) -> bool:
        """Whether so much could be taken, as far as training is known by now."""
        kept = self._kept
        return (kept is not None and kept.num_bytes >= num_bytes) or self._room() >= num_bytes

    def _room(self) -> int:
        return room_bytes(self._device, self._note_peak()) if self._has_pools else 0

    def _note_peak(self) -> int:
        """To be called while what was kept still is."""
        kept = self._kept
        ours_bytes = kept.num_bytes if kept is not None and kept.is_idle else 0
        return self._peak.note(_reserved(self._device, "peak"), ours_bytes)

    def take(self, block_bytes: int, num_blocks: int) -> torch.Tensor | None:
        """So many blocks, or as many as there is room for; None if there is none for any."""
        taken = self.take_kept(block_bytes * num_blocks)
        if taken is None and self.knows_peak:
            # What was kept is freed before it is asked how much room there is.
            num_blocks = min(num_blocks, self._room() // block_bytes)
            if num_blocks:
                taken = self._take_from(self._new(block_bytes * num_blocks))
        return taken

    def _new(self, num_bytes: int) -> _Kept:
        with torch.cuda.device(self._device):  # a pool is one of the current device
            pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
        return _Kept(num_bytes, pool, self._stream)

    @property
    def _stream(self) -> torch.cuda.Stream:
        return torch.cuda.current_stream(self._device)

    def take_kept(self, num_bytes: int) -> torch.Tensor | None:
        """What was kept of the last time, if it is as much as that, of the stream that is current,
        and nobody has it."""
        _left_behind.clear()
        kept = self._kept
        if kept is None:
            return None
        if kept.num_bytes == num_bytes and kept.stream == self._stream and kept.is_idle:
            return self._take_from(kept)
        self._note_peak()
        self._kept = None
        return None

    def _take_from(self, kept: _Kept) -> torch.Tensor | None:
        self._kept, self._is_surplus, self._taker = None, False, threading.get_ident()
        try:
            with torch.cuda.device(self._device), torch.cuda.use_mem_pool(kept.pool):
                taken = torch.empty(kept.num_bytes, dtype=torch.uint8, device=self._device)
        except torch.OutOfMemoryError:
            return None  # somebody else was quicker
        self._kept = kept
        return taken

    def settle(self) -> None:
        """Nothing is used any more: keep it for the next save only where nobody can miss it."""
        kept = self._kept
        if kept is None:
            return
        peak_bytes = self._note_peak()
        free, total = torch.cuda.mem_get_info(self._device)
        # What training gave back, by emptying its caches or by running out, it will want again.
        of_training = max(0, _reserved(self._device, "current") - kept.num_bytes)
        free -= max(0, peak_bytes - of_training)
        self._is_surplus = free < total // SCARCE_PART + kept.num_bytes or not _CAN_LEND

    def give_way(self) -> None:
        """By the thread that trains, every step: give back what somebody may miss."""
        if self._is_surplus and not torch.cuda.is_current_stream_capturing():
            self._is_surplus = False
            self._give_back()

    def _give_back(self) -> None:
        with torch.cuda.device(self._device):
            self._kept = None

    def close(self) -> None:
        """Give back everything now: whenever it is collected as garbage, a graph may be captured.
        From another thread nobody knows whether one is."""
        kept = self._kept
        if kept is not None and self._taker != threading.get_ident():
            _left_behind.append(kept)
        del kept
        self._give_back()

    def close_in_child(self) -> None:
        """A forked child must not give back what is its parent's."""
        self._is_surplus = False
        for kept in (self._kept, *_left_behind):
            if kept is not None:
                _never_freed(kept.pool)


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


def _never_freed(pool: torch.cuda.MemPool) -> None:
    """What frees it asks the driver, which is not there for a forked child."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))


def room_bytes(device: torch.device, training_peak_bytes: int) -> int:
    """What would be free at the peak of a step, as far as there has been one."""
    free, total = torch.cuda.mem_get_info(device)
    reserved = _reserved(device, "current")
    allowed = int(total * torch.cuda.get_per_process_memory_fraction(device)) - reserved
    not_yet_again = training_peak_bytes - reserved
    return max(0, min(int(free), allowed) - max(0, not_yet_again) - SPARE_BYTES)


def _reserved(device: torch.device, which: str) -> int:
    """What the allocator has of a device now, or had at its peak."""
    counted = torch.cuda.memory_stats_as_nested_dict(device).get("reserved_bytes", {})
    return int(counted.get("all", {}).get(which, 0))
