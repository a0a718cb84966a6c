"""Pools of a device's memory, and when they may end.

The memory of a pool goes back to the driver when the pool does. Where that fails the allocator ends
the process: while a graph is being captured, in a child that was forked, and after an error of the
GPU that stays, of which training is about to hear; before torch 2.13 also while another thread
captures or has a pool in use, and for good behind a capture that has failed. Nor may a pool end of
which something is lent to somebody.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import os
from enum import Enum, auto
from functools import cache
from itertools import count
from typing import NamedTuple

import torch

from instride.snapshot.runtime import letting_others_capture

CAN_LOOK = "mempool_id" in inspect.signature(torch.cuda.memory_snapshot).parameters
"""Whether torch tells what of a pool is in use: from 2.8 on."""
_CAN_LEND = "use_on_oom" in inspect.signature(torch.cuda.MemPool.__init__).parameters
_WITHOUT_HISTORY = (
    {"include_traces": False}
    if "include_traces" in inspect.signature(torch.cuda.memory_snapshot).parameters
    else {}
)
"""Who records that of all allocations has millions, which would be listed in the call."""
SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


class Kept(NamedTuple):
    """Memory of a pool that has no other."""

    num_bytes: int
    number: int
    stream: torch.cuda.Stream
    """That it was asked for on: the allocator would answer another one with memory of its own."""
    device: torch.device

    @property
    def pool(self) -> torch.cuda.MemPool:
        """Not to be held: it ends where it is given back, and there alone."""
        return _pools[self.number]

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is lent to anybody, nor used."""
        parts = torch.cuda.memory_snapshot(self.pool.id, **_WITHOUT_HISTORY)
        return all(part["active_size"] == 0 for part in parts)


left_behind: list[Kept] = []
"""By savers that ended in another thread than took it, or because it was lent or could not be given
back just then: lent as before, and given back by the thread that takes memory next."""
_pools: dict[int, torch.cuda.MemPool] = {}
_numbers = count()
NUM_TRIES = 2
"""The first one may find that more became free than it asked for."""


def new(num_bytes: int, device: torch.device, stream: torch.cuda.Stream) -> Kept:
    """A pool for so much, which has none of it yet."""
    with torch.cuda.device(device):  # a pool is one of the current device
        pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
    number = next(_numbers)
    _pools[number] = pool
    return Kept(num_bytes, number, stream, device)


def can_lend() -> bool:
    """Whether the allocator takes from such a pool before it reports that no memory is left. As it
    is set by default: it passes over memory that is not of the kind, or size, that it is set to."""
    settings = next((os.environ[name] for name in SETTINGS if os.environ.get(name)), "")
    found = dict(each.partition(":")[::2] for each in settings.replace(" ", "").split(","))
    is_expandable = found.get("expandable_segments", "").lower() == "true"
    return _CAN_LEND and not is_expandable and "max_split_size_mb" not in found


class _Fate(Enum):
    NOW = auto()
    LATER = auto()
    NEVER = auto()


def give_back(several: list[Kept]) -> None:
    """By the thread that trains. Empties the list: nobody else may have any of them. What is lent,
    or cannot be given back now, is left behind."""
    trying, later = several[:], []
    several.clear()
    try:
        while trying:
            fate = _fate_of(trying[-1])
            kept = trying.pop()
            if fate is _Fate.LATER:
                later.append(kept)
            elif fate is _Fate.NEVER:
                never_free(_pools.pop(kept.number))
            else:
                with torch.cuda.device(kept.device), letting_others_capture():
                    del _pools[kept.number]
    finally:
        left_behind.extend((*later, *trying))


def _fate_of(kept: Kept) -> _Fate:
    """Whether it can be given back. What training has launched is waited for, as whoever gives
    memory back does anyway: then a GPU has failed or not, but for what other streams have to do.
    They are let be: whoever waits for all of a device ends captures there."""
    try:
        with torch.cuda.device(kept.device), letting_others_capture():
            if not kept.is_idle or is_held_up(kept):
                return _Fate.LATER
            for stream in (kept.stream, torch.cuda.current_stream(kept.device)):
                stream.synchronize()
            # Another thread may have begun to capture meanwhile.
            return _Fate.LATER if is_held_up(kept) else _Fate.NOW
    except torch.OutOfMemoryError:
        return _Fate.LATER
    except RuntimeError as error:
        # One class for all that a GPU refuses.
        is_for_now = any(words in str(error) for words in ("captur", "out of memory"))
        return _Fate.LATER if is_for_now else _Fate.NEVER


def taken_up(num_bytes: int, device: torch.device, stream: torch.cuda.Stream) -> Kept | None:
    """Of what was left behind, and cannot be given back: what is just what is wanted."""
    for kept in left_behind:
        if (kept.num_bytes, kept.device, kept.stream) == (num_bytes, device, stream):
            left_behind.remove(kept)
            return kept
    return None


def is_held_up(kept: Kept) -> bool:
    """Whether the allocator would end the process if it had to give anything back now, on the
    device that is current. It says that to nobody. But as long as it is so, memory that another
    stream was seen to use goes to nobody else, even if that stream is done with it. Raises
    RuntimeError if the GPU has failed."""
    if torch.cuda.is_current_stream_capturing():
        return True
    here = torch.cuda.current_stream(kept.device).cuda_stream
    other = next(each for each in _hardly_used(kept.device) if each.cuda_stream != here)
    for _ in range(NUM_TRIES):
        other.query()  # a GPU that has failed makes the end of what comes next, too
        memory = torch.empty(1, dtype=torch.uint8, device=kept.device)
        address = memory.data_ptr()
        memory.record_stream(other)
        del memory
        other.synchronize()
        if torch.empty(1, dtype=torch.uint8, device=kept.device).data_ptr() == address:
            return False
    return True


@cache
def _hardly_used(device: torch.device) -> tuple[torch.cuda.Stream, ...]:
    """Torch deals out the same few streams to all who ask for one, but fewer ask for these."""
    return torch.cuda.Stream(device, priority=-1), torch.cuda.Stream(device, priority=-1)


@atexit.register
def _leave_to_the_driver() -> None:
    """What there still is goes with the process, in whatever state training has left the GPU."""
    for pool in list(_pools.values()):
        never_free(pool)


def never_free(it: object) -> None:
    """What frees it asks the driver, which may not answer any more."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(it))
