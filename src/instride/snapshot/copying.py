"""Copying storages into the arena, at the speed of the memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from instride.snapshot.arena import Arena
from instride.snapshot.cuda import DeviceArenas, DeviceCopy
from instride.snapshot.planning import Plan
from instride.store.manifest import PIECE_BYTES
from instride.writer.page import COPIED, WRITTEN, SharedPage

POLL_S = 0.0002


class WriterGoneError(Exception):
    """Nobody takes the pieces of a stream any more."""


class WholeCopy:
    """An arena that holds the whole image: every storage has its place, known beforehand."""

    def __init__(self, plan: Plan, arena: Arena, arenas: DeviceArenas) -> None:
        self._plan = plan
        self._memory = arena.memory
        self._arenas = arenas
        pairs = [
            (record, source)
            for record, source in zip(plan.layout.records, plan.sources, strict=True)
            if source.device.type != "cuda"
        ]
        self._sources = [source for _, source in pairs]
        self._places = [arena.memory[r.data_offset : r.data_end] for r, _ in pairs]
        self._devices = [DeviceCopy(plan, arena, device) for device in plan.gpus]

    def is_for(self, plan: Plan, arena: Arena) -> bool:
        return self._plan is plan and self._memory is arena.memory

    def copy(self, late: Callable[[], set[int]]) -> None:
        """One call for all storages: it releases the GIL and uses torch's own threads.

        Those of a GPU are ordered behind what it computes; the others are copied on return.
        """
        for device in self._devices:
            device.copy(self._arenas, late)
        if self._places:
            with torch.no_grad():
                torch._foreach_copy_(self._places, self._sources)

    def fence(self) -> None:
        """Before an optimizer step: what is still to be copied must not change under the copy."""
        for device in self._devices:
            device.fence()

    def drain(self) -> None:
        """Wait, off the training thread, until everything is on the host."""
        for device in self._devices:
            device.drain()


def stream(plan: Plan, arena: Arena, page: SharedPage, is_gone: Callable[[], bool]) -> float:
    """Copy an image that is larger than the arena, as the writer takes piece after piece.

    Returns the seconds spent waiting for it.
    """
    slots = arena.num_bytes // PIECE_BYTES
    waited_s = 0.0
    index = 0
    for source, record in zip(plan.sources, plan.layout.records, strict=True):
        done = 0
        while done < record.num_bytes:
            offset = record.data_offset + done
            while index < offset // PIECE_BYTES:
                index += 1
                page[COPIED] = index
                waited_s += _await_slot(index - slots, page, is_gone)
            within = offset % PIECE_BYTES
            num_bytes = min(PIECE_BYTES - within, record.num_bytes - done)
            start = index % slots * PIECE_BYTES + within
            arena.memory[start : start + num_bytes].copy_(source[done : done + num_bytes])
            done += num_bytes
    while index * PIECE_BYTES < plan.layout.num_bytes:
        index += 1
        page[COPIED] = index
        if index * PIECE_BYTES < plan.layout.num_bytes:
            waited_s += _await_slot(index - slots, page, is_gone)
    return waited_s


def _await_slot(last: int, page: SharedPage, is_gone: Callable[[], bool]) -> float:
    """Wait until the piece that lies in the slot has been written."""
    if page[WRITTEN] > last:
        return 0.0
    start = time.perf_counter()
    while page[WRITTEN] <= last:
        if is_gone():
            raise WriterGoneError
        time.sleep(POLL_S)
    return time.perf_counter() - start
