"""Pools of a device's memory, and when they may end.

The memory of a pool goes back to the driver when the pool does. Where that fails the allocator ends
the process: while a graph is being captured or another pool is in use, by whatever thread, behind a
capture that has failed, in a child that was forked, and after an error of the GPU that stays, of
which training is about to hear. Nor may a pool end of which something is lent to somebody.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import os
from typing import NamedTuple

import torch

from instride.snapshot.runtime import letting_others_capture

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
    pool: torch.cuda.MemPool
    stream: torch.cuda.Stream
    """That it was asked for on: the allocator would answer another one with memory of its own."""
    device: torch.device

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is lent to anybody, nor used."""
        parts = torch.cuda.memory_snapshot(self.pool.id, **_WITHOUT_HISTORY)
        return all(part["active_size"] == 0 for part in parts)


left_behind: list[Kept] = []
"""By savers that ended in another thread than took it, or because it was lent or could not be given
back just then: lent as before, and given back by the thread that takes memory next."""
NUM_TRIES = 2
"""The first one may find that more became free than it asked for."""


def new(num_bytes: int, device: torch.device, stream: torch.cuda.Stream) -> Kept:
    """A pool for so much, which has none of it yet."""
    with torch.cuda.device(device):  # a pool is one of the current device
        pool = torch.cuda.MemPool(use_on_oom=True) if _CAN_LEND else torch.cuda.MemPool()
    return Kept(num_bytes, pool, stream, device)


def can_lend() -> bool:
    """Whether the allocator takes from such a pool before it reports that no memory is left. As it
    is set by default: it passes over memory that is not of the kind, or size, that it is set to."""
    settings = next((os.environ[name] for name in SETTINGS if os.environ.get(name)), "")
    found = dict(each.partition(":")[::2] for each in settings.replace(" ", "").split(","))
    is_expandable = found.get("expandable_segments", "").lower() == "true"
    return _CAN_LEND and not is_expandable and "max_split_size_mb" not in found


def give_back(several: list[Kept]) -> None:
    """By the thread that trains. Empties the list: nobody else may have any of them. What is lent,
    or cannot be given back now, is left behind."""
    left = []
    while several:
        kept = several.pop()
        try:
            may_end = kept.is_idle and not is_held_up(kept.device)
        except RuntimeError:
            never_free(kept.pool)
            continue
        if not may_end:
            left.append(kept)
        elif _has_failed(kept.device):
            never_free(kept.pool)
        else:
            with torch.cuda.device(kept.device):
                del kept
    left_behind.extend(left)


def taken_up(num_bytes: int, device: torch.device, stream: torch.cuda.Stream) -> Kept | None:
    """Of what was left behind, and cannot be given back: what is just what is wanted."""
    for kept in left_behind:
        if (kept.num_bytes, kept.device, kept.stream) == (num_bytes, device, stream):
            left_behind.remove(kept)
            return kept
    return None


def is_held_up(device: torch.device) -> bool:
    """Whether the allocator would end the process if it had to give anything back now: as long as
    any thread captures or has a pool in use, and for good behind a capture that has failed. It says
    that to nobody. But as long as that is so, memory that another stream was seen to use goes to
    nobody else, even if that stream is done with it. Raises RuntimeError if the GPU has failed."""
    if torch.cuda.is_current_stream_capturing():
        return True
    with torch.cuda.device(device), letting_others_capture():
        current = torch.cuda.current_stream(device)
        streams = torch.cuda.Stream(device), torch.cuda.Stream(device)
        other = next(stream for stream in streams if stream != current)
        for _ in range(NUM_TRIES):
            memory = torch.empty(1, dtype=torch.uint8, device=device)
            address = memory.data_ptr()
            memory.record_stream(other)
            other.query()  # before it is freed, which a GPU that has failed makes the end as well
            del memory
            other.synchronize()
            if torch.empty(1, dtype=torch.uint8, device=device).data_ptr() == address:
                return False
    return True


def _has_failed(device: torch.device) -> bool:
    """Whether of a GPU nothing can be had any more, once it has done what it was given: whoever
    gives memory back waits for that anyway."""
    try:
        torch.cuda.synchronize(device)
    except RuntimeError:
        return True
    return False


@atexit.register
def _leave_to_the_driver() -> None:
    """What was left behind goes with the process, in whatever state training has left the GPU."""
    for kept in left_behind:
        never_free(kept.pool)


def never_free(it: object) -> None:
    """What frees it asks the driver, which may not answer any more."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(it))
