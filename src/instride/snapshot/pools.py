"""Pools of a device's memory, and when they may end.

The memory of a pool goes back to the driver when the pool does. Where that fails the allocator ends
the process: while a graph is being captured, which only the capturing thread can tell, in a child
that was forked, and after an error of the GPU that stays, of which training is about to hear. Nor
may a pool end of which something is lent to somebody.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import os
from contextlib import suppress
from typing import NamedTuple

import torch

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
"""By savers that ended in another thread than took it, or because it was lent: lent as before, and
given back by the thread that takes memory next."""


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
    """By the thread that trains. Empties the list: nobody else may have any of them. What is lent
    is left behind."""
    lent = []
    while several:
        kept = several.pop()
        try:
            is_lent = not kept.is_idle
        except RuntimeError:
            never_free(kept.pool)
            continue
        if is_lent:
            lent.append(kept)
        elif _has_failed(kept.device):
            never_free(kept.pool)
        else:
            with torch.cuda.device(kept.device):
                del kept
    left_behind.extend(lent)


def _has_failed(device: torch.device) -> bool:
    """Whether of a GPU nothing can be had any more, once it has done what it was given: whoever
    gives memory back waits for that anyway."""
    try:
        torch.cuda.synchronize(device)
    except RuntimeError:
        return True
    return False


@atexit.register
def _end_what_was_left_behind() -> None:
    """By nobody's thread otherwise, and unasked."""
    with suppress(Exception):
        give_back(left_behind)
    for kept in left_behind:
        never_free(kept.pool)


def never_free(it: object) -> None:
    """What frees it asks the driver, which may not answer any more."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(it))
