"""Memory that a piece of a file is read into, on its way to where its bytes belong."""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from contextlib import suppress

import torch

from instride.snapshot.locked import LockedPieces
from instride.snapshot.planning import is_ordered
from instride.snapshot.runtime import letting_others_capture
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import memory_to_read_into


def memory_for_piece(gpu: torch.device | None) -> torch.Tensor:
    """Aligned for direct reads, and locked as long as it lives, if a GPU is to copy from it and
    that can be had. What torch locks is in small pages, of which a disk would be asked for a
    thousand at a time."""
    memory = memory_to_read_into()
    piece = torch.frombuffer(memory, dtype=torch.uint8)
    if gpu is not None and is_ordered(gpu):
        lock = _Lock(memory)
        with torch.cuda.device(gpu), letting_others_capture():
            lock.take(piece.data_ptr())
        weakref.finalize(piece, lock.give_back).atexit = False
    return piece


class _Lock:
    """Of memory that is not unmapped before it is unlocked: it is held here until then."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._locked = LockedPieces()
        self._owner_pid = os.getpid()

    def take(self, address: int) -> None:
        with suppress(OSError):  # a page that a child has too would be another one once written to
            self._memory.madvise(mmap.MADV_DONTFORK)
        # Or it would be locked before it has its pages; torch would start threads for that.
        ctypes.memset(address, 0, PIECE_BYTES)
        self._locked.lock(address, PIECE_BYTES)

    def give_back(self) -> None:
        """By whatever thread has the memory last; what others compute is none of its business."""
        if os.getpid() == self._owner_pid:
            with letting_others_capture():
                self._locked.unlock()
