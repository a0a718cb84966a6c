"""Copying storages into the arena, at the speed of the memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch

from instride.faults import reached
from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Nearest, Telling, tell_nobody
from instride.snapshot.cuda import DeviceCopy
from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.forking import without_threads_of_a_parent
from instride.snapshot.late import Storages
from instride.snapshot.planning import Plan, is_ordered
from instride.snapshot.runtime import await_devices
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from instride.writer.page import COPIED, WRITTEN, SharedPage

POLL_S = 0.0002
MOST_FOLLOWED = 64
"""Storages of a GPU that are others than at the save before, as what goes along with a save is. For
each of them something small is launched."""


class WriterGoneError(Exception):
    """Nobody takes the pieces of a stream any more."""


class WholeCopy:
    """An arena that holds the whole image: every storage has its place, known beforehand."""

    def __init__(self, plan: Plan, arena: Arena, arenas: DeviceArenas) -> None:
        self._plan = plan
        # First of all: storages that become others while this is being made are seen by it.
        self._num_moves = plan.num_moves
        self._memory = arena.memory
        on_host = [n for n, source in enumerate(plan.sources) if not is_ordered(source.device)]
        self._indices = {index: place for place, index in enumerate(on_host)}
        self._sources = [plan.sources[index] for index in on_host]
        records = [plan.layout.records[index] for index in on_host]
        self._places = [arena.memory[r.data_offset : r.data_end] for r in records]
        self._devices = [DeviceCopy(plan, arena, arenas.of(device)) for device in plan.gpus]
        self._is_offloaded = _may_be_written_to(self._sources)

    def is_for(self, plan: Plan, arena: Arena) -> bool:
        is_of_plan = self._plan is plan and self._num_moves == plan.num_moves
        return is_of_plan and self._memory is arena.memory

    def follow(self, moved: list[int]) -> bool:
        """Go on with other storages of the plan; False where it is as quick to begin anew, or some
        have moved before."""
        if self._num_moves + 1 != self._plan.num_moves:
            return False
        on_gpus: dict[torch.device, dict[int, torch.Tensor]] = {}
        for index in moved:
            place, source = self._indices.get(index), self._plan.sources[index]
            if place is not None:
                self._sources[place] = source
                self._is_offloaded |= _may_be_written_to([source])
            elif source.device in self._plan.gpus:
                begins_at = self._plan.layout.records[index].data_offset
                on_gpus.setdefault(source.device, {})[begins_at] = source
            else:
                return False  # it was let go of
        if any(len(others) > MOST_FOLLOWED for others in on_gpus.values()):
            return False
        for gpu, device in zip(self._plan.gpus, self._devices, strict=True):
            if gpu in on_gpus:
                device.follow(on_gpus[gpu])
        self._num_moves += 1
        return True

    @property
    def has_room(self) -> bool:
        """Whether all devices can hold what is to be copied from them."""
        return all(device.has_room for device in self._devices)

    def begin(self) -> None:
        """Have devices copy what they did the last time, while it is found out whether that is
        still all: most often it is, and what they copy is alive in any case."""
        if self._devices and self._plan.is_in_place:
            for device in self._devices:
                device.begin()

    def copy(self, promise: Callable[[], Storages]) -> None:
        """One call for all storages: it releases the GIL and uses torch's own threads.

        Those of a GPU are ordered behind what it computes; the others are copied on return.
        """
        for device in self._devices:
            device.copy(promise)
        if self._is_offloaded:
            await_devices()
        if self._places:
            with torch.no_grad(), without_threads_of_a_parent():
                torch._foreach_copy_(self._places, self._sources)

    @property
    def is_late(self) -> bool:
        """Whether an optimizer has to wait before it changes anything."""
        return any(device.is_late for device in self._devices)

    def fence(self) -> None:
        """Before an optimizer step: what is still to be copied must not change under the copy."""
        for device in self._devices:
            device.fence()

    @property
    def arrives_in_order(self) -> bool:
        """Whether what is still to come does so from the beginning of the image on."""
        return bool(self._devices) and all(each.arrives_in_order for each in self._devices)

    def drain(self, tell: Telling = tell_nobody) -> None:
        """Wait, off the training thread, until everything is on the host; until then it is told up
        to where it is, if it arrives in order."""
        nearest = Nearest(tell, len(self._devices))

        def drain(number: int, device: DeviceCopy) -> None:
            device.drain(partial(nearest.come_to, number))
            nearest.done(number)

        together(*(partial(drain, *each) for each in enumerate(self._devices)))


def _may_be_written_to(sources: list[torch.Tensor]) -> bool:
    """Whether a GPU may still be writing to memory of the host that is locked for it. To be asked
    once: the driver is, for each of them."""
    return torch.cuda.is_initialized() and any(
        source.device.type == "cpu" and source.is_pinned() for source in sources
    )


@without_threads_of_a_parent()
def stream(
    plan: Plan, memory: torch.Tensor, page: SharedPage, is_gone: Callable[[], bool]
) -> float:
    """Copy an image that is larger than the memory for it, as the writer takes piece after piece.

    Returns the seconds spent waiting for it.
    """
    if _may_be_written_to(plan.sources):
        await_devices()
    slots = memory.numel() // PIECE_BYTES
    waited_s = 0.0
    index = 0
    for source, record in zip(plan.sources, plan.layout.records, strict=True):
        done = 0
        while done < record.num_bytes:
            offset = record.data_offset + done
            while index < offset // PIECE_BYTES:
                index += 1
                page[COPIED] = index
                reached("streamed")
                waited_s += _await_slot(index - slots, page, is_gone)
            within = offset % PIECE_BYTES
            num_bytes = min(PIECE_BYTES - within, record.num_bytes - done)
            start = index % slots * PIECE_BYTES + within
            memory[start : start + num_bytes].copy_(source[done : done + num_bytes])
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
