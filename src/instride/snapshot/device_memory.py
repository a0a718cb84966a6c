"""Memory of a device for a snapshot, in one piece: taken for a moment, then lent to training, or
given back, by the thread that trains alone.
"""

from __future__ import annotations

import os
import threading

import torch

from instride.snapshot.pools import (
    CAN_LOOK,
    Kept,
    can_lend,
    give_back,
    left_behind,
    never_free,
    new,
    taken_up,
)

SPARE_BYTES = 1 << 30
"""What is left free on a device beyond the peak of training so far."""
SCARCE_PART = 8
"""Nothing is kept on a device between two saves unless this part of it is free, and as much again:
what is kept is lent to whoever wants no more than that, not to whoever wants more in one piece."""


class DeviceMemory:
    """From a pool of its own: the allocator takes from such a pool before it reports that no memory
    is left. Some versions of it empty their caches first, though: where memory is scarce, nothing
    is kept there."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.knows_peak = True
        """Whether a step has shown by now how much training needs."""
        is_native = torch.cuda.get_allocator_backend() == "native"
        # Without a cache there is nothing to lend, nor to tell by whether somebody captures.
        is_caching = "PYTORCH_NO_CUDA_MEMORY_CACHING" not in os.environ
        self._has_pools = CAN_LOOK and is_native and is_caching
        self._can_lend = can_lend()
        self._kept: Kept | None = None
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
        if taken is None and self.knows_peak and not self._has_left_some():
            # What was kept is freed before it is asked how much room there is.
            num_blocks = min(num_blocks, self._room() // block_bytes)
            if num_blocks:
                taken = self._take_from(new(block_bytes * num_blocks, self._device, self._stream))
        return taken

    def _has_left_some(self) -> bool:
        """Whether something could not be given back that nobody uses: beside it, each save would
        take as much once more."""
        return any(kept.device == self._device and kept.is_idle for kept in left_behind)

    @property
    def _stream(self) -> torch.cuda.Stream:
        return torch.cuda.current_stream(self._device)

    def take_kept(self, num_bytes: int) -> torch.Tensor | None:
        """What was kept of the last time, if it is as much as that, of the stream that is current,
        and nobody has it."""
        give_back(left_behind)
        if self._kept is None and left_behind:
            self._kept = taken_up(num_bytes, self._device, self._stream)
        kept = self._kept
        if kept is None:
            return None
        if kept.num_bytes == num_bytes and kept.stream == self._stream and kept.is_idle:
            return self._take_from(kept)
        del kept
        self._note_peak()
        self._give_back()
        return None

    def _take_from(self, kept: Kept) -> torch.Tensor | None:
        self._kept, self._is_surplus, self._taker = None, False, threading.get_ident()
        try:
            with torch.cuda.device(self._device), torch.cuda.use_mem_pool(kept.pool):
                taken = torch.empty(kept.num_bytes, dtype=torch.uint8, device=self._device)
        except torch.OutOfMemoryError:  # somebody else was quicker, and may have it now
            left_behind.append(kept)
            return None
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
        is_scarce = free < total // SCARCE_PART + kept.num_bytes
        del kept  # whoever gives it back must be the last one who has it
        self._is_surplus = is_scarce or not self._can_lend

    def give_way(self) -> None:
        """By the thread that trains, every step: give back what somebody may miss."""
        if self._is_surplus and not torch.cuda.is_current_stream_capturing():
            self._is_surplus = False
            self._give_back()

    def _give_back(self) -> None:
        several = [] if self._kept is None else [self._kept]
        self._kept = None
        give_back(several)

    def close(self) -> None:
        """Give back everything now: whenever it is collected as garbage, a graph may be captured.
        From another thread nobody knows whether one is."""
        if self._kept is not None and self._taker != threading.get_ident():
            left_behind.append(self._kept)
            self._kept = None
        self._give_back()

    def close_in_child(self) -> None:
        """A forked child must not give back what is its parent's."""
        self._is_surplus = False
        for kept in (self._kept, *left_behind):
            if kept is not None:
                never_free(kept.pool)


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
    free, total = torch.cuda.mem_get_info(device)
    reserved = _reserved(device, "current")
    allowed = int(total * torch.cuda.get_per_process_memory_fraction(device)) - reserved
    not_yet_again = training_peak_bytes - reserved
    return max(0, min(int(free), allowed) - max(0, not_yet_again) - SPARE_BYTES)


def _reserved(device: torch.device, which: str) -> int:
    """What the allocator has of a device now, or had at its peak."""
    counted = torch.cuda.memory_stats_as_nested_dict(device).get("reserved_bytes", {})
    return int(counted.get("all", {}).get(which, 0))
