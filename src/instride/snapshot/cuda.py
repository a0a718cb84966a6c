"""Copying storages off a GPU: inside its memory first, where there is room, then to the host.

A copy inside the device takes milliseconds and is ordered by the stream that computes, so that
training goes on at once. What follows, over the bus, is driven by a thread, few pieces at a time:
a loop that synchronizes every step waits for all streams, and would wait for one long copy.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import pairwise

import torch

from instride.image.layout import Record
from instride.snapshot.arena import REGISTERED_BYTES, Arena
from instride.snapshot.planning import Plan

NUM_IN_FLIGHT = 4
WORD_BYTES = 8
SPARE_BYTES = 1 << 30
"""What is left free on a device beyond the peak of training so far."""


class DeviceArenas:
    """Memory on each device that is used for a moment in a save, and lent to training between.

    It comes from a pool that the allocator may take from before it reports that none is left.
    """

    def __init__(self) -> None:
        self._pools: dict[torch.device, torch.cuda.MemPool] = {}

    def take(self, device: torch.device, num_bytes: int) -> torch.Tensor | None:
        """So many bytes on a device; None where there is no room for them."""
        pool = self._pools.get(device)
        if pool is None:
            if room_bytes(device) < num_bytes:
                return None
            pool = self._pools[device] = torch.cuda.MemPool(use_on_oom=True)
        try:
            with torch.cuda.device(device), torch.cuda.use_mem_pool(pool):
                return torch.empty(num_bytes, dtype=torch.uint8, device=device)
        except torch.OutOfMemoryError:
            return None


def room_bytes(device: torch.device) -> int:
    """What would be free at the peak of a step, as far as there has been one."""
    free, _ = torch.cuda.mem_get_info(device)
    stats = torch.cuda.memory_stats(device)
    reserved = int(stats.get("reserved_bytes.all.current", 0))
    peak = int(stats.get("reserved_bytes.all.peak", 0))
    return max(0, int(free) - max(0, peak - reserved) - SPARE_BYTES)


class DeviceCopy:
    """The storages of one device on their way into the arena.

    Without room on the device they go over the bus while forward and backward run: what only an
    optimizer changes is copied late, and the optimizer waits for it (`fence`); everything else is
    copied in the order of the stream that computes.
    """

    def __init__(self, plan: Plan, arena: Arena, device: torch.device) -> None:
        self._device = device
        self._memory = arena.memory
        pairs = [
            (record, source)
            for record, source in zip(plan.layout.records, plan.sources, strict=True)
            if source.device == device and record.num_bytes
        ]
        self._records = [record for record, _ in pairs]
        self._sources = [source for _, source in pairs]
        self._words = [_wide(source) for source in self._sources]
        self._runs = _runs(self._records)
        self._cuts = _cuts(self._records, self._runs)
        self._stream = torch.cuda.Stream(device)
        self._staged: torch.Tensor | None = None
        self._late: list[tuple[Record, torch.Tensor]] = []
        self._is_issued = threading.Event()
        self._start = torch.cuda.Event(blocking=True)
        self._end = torch.cuda.Event()

    @property
    def num_bytes(self) -> int:
        return sum(_whole_words(last - first) for first, last in self._runs)

    def copy(self, arenas: DeviceArenas, late: Callable[[], set[int]]) -> None:
        """Take the snapshot, in the order of the stream that computes. Returns at once.

        `late` tells the addresses of storages that only a fenced optimizer changes.
        """
        with torch.cuda.device(self._device), torch.no_grad():
            self._staged = arenas.take(self._device, self.num_bytes)
            if self._staged is not None:
                torch._foreach_copy_(self._views(self._staged), self._words)
            else:
                self._is_issued.clear()
                self._leave_for_later(late())
            self._start.record()

    def _leave_for_later(self, late: set[int]) -> None:
        for record, source in zip(self._records, self._sources, strict=True):
            if source.data_ptr() in late:
                source.record_stream(self._stream)
                self._late.append((record, source))
            else:
                for first, last in _within_registrations(record.data_offset, record.data_end):
                    part = source[first - record.data_offset : last - record.data_offset]
                    self._memory[first:last].copy_(part, non_blocking=True)

    def _views(self, staged: torch.Tensor) -> list[torch.Tensor]:
        """Where each storage goes on the device; cut in one call, since there may be thousands."""
        words = staged.view(torch.int64).split_with_sizes(self._cuts)[1::2]
        return [
            place if source.dtype is torch.int64 else place.view(torch.uint8)[: source.numel()]
            for place, source in zip(words, self._words, strict=True)
        ]

    def drain(self) -> None:
        """Off the training thread: bring everything to the host, and give the memory back."""
        try:
            with torch.cuda.device(self._device), torch.cuda.stream(self._stream), torch.no_grad():
                self._stream.wait_event(self._start)
                self._copy_to_host(_Paced())
        finally:
            self._is_issued.set()  # whatever happened, training must not wait for it
        self._start.synchronize()
        self._staged = None
        self._late = []

    def _copy_to_host(self, paced: _Paced) -> None:
        base = 0
        if self._staged is not None:
            for first, last in self._runs:
                paced.copy(self._memory, first, self._staged[base : base + last - first])
                base += _whole_words(last - first)
        for record, source in self._late:
            paced.copy(self._memory, record.data_offset, source)
        self._end.record()
        self._is_issued.set()
        paced.finish()

    def fence(self) -> None:
        """Before an optimizer changes what is still being copied: let it wait for that."""
        if self._late and self._staged is None:
            self._is_issued.wait()
            torch.cuda.current_stream(self._device).wait_event(self._end)


class _Paced:
    """Copies to the host with few pieces under way: a loop that synchronizes waits for those."""

    def __init__(self) -> None:
        self._in_flight: deque[torch.cuda.Event] = deque()

    def copy(self, memory: torch.Tensor, offset: int, source: torch.Tensor) -> None:
        for first, last in _within_registrations(offset, offset + source.numel()):
            memory[first:last].copy_(source[first - offset : last - offset], non_blocking=True)
            event = torch.cuda.Event(blocking=True)
            event.record()
            self._in_flight.append(event)
            if len(self._in_flight) >= NUM_IN_FLIGHT:
                self._in_flight.popleft().synchronize()

    def finish(self) -> None:
        while self._in_flight:
            self._in_flight.popleft().synchronize()


def _wide(data: torch.Tensor) -> torch.Tensor:
    """The same bytes in words: a device copies bytes one by one."""
    return data.view(torch.int64) if data.numel() % WORD_BYTES == 0 else data


def _whole_words(num_bytes: int) -> int:
    return -(-num_bytes // WORD_BYTES) * WORD_BYTES


def _cuts(records: list[Record], runs: list[tuple[int, int]]) -> list[int]:
    """Lengths in words that cut device memory into gaps and storages, in turn."""
    cuts: list[int] = []
    remaining = iter(records)
    for first, last in runs:
        at = first
        while at < last:
            record = next(remaining)
            cuts += [(record.data_offset - at) // WORD_BYTES, -(-record.num_bytes // WORD_BYTES)]
            at = record.data_offset + _whole_words(record.num_bytes)
    return cuts


def _runs(records: list[Record]) -> list[tuple[int, int]]:
    """Stretches of the file in which all storages are on the device: each is copied as one.

    What lies between two of them, a header and padding, is filled in by the writer later.
    """
    runs: list[tuple[int, int]] = []
    before: Record | None = None
    for record in records:
        if before is not None and record.header_offset == before.end:
            runs[-1] = (runs[-1][0], record.data_end)
        else:
            runs.append((record.data_offset, record.data_end))
        before = record
    return runs


def _within_registrations(first: int, last: int) -> list[tuple[int, int]]:
    """A stretch of the arena in parts that lie in one registration each: no copy may cross two."""
    bounds = [
        *range(first, last, REGISTERED_BYTES)[:1],
        *range(-(-(first + 1) // REGISTERED_BYTES) * REGISTERED_BYTES, last, REGISTERED_BYTES),
        last,
    ]
    return [(start, end) for start, end in pairwise(bounds) if start < end]
