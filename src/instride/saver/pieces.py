"""Memory that a piece of a file is read into, on its way to where its bytes belong."""

from __future__ import annotations

import mmap
import weakref

import torch

from instride.snapshot.locked import LockedPieces
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import memory_to_read_into


def memory_for_piece(gpu: torch.device | None) -> torch.Tensor:
    """Aligned for direct reads, and locked as long as it lives, if a GPU is to copy from it and
    that can be had. What torch locks is in small pages, of which a disk would be asked for a
    thousand at a time."""
    memory = memory_to_read_into()
    piece = torch.frombuffer(memory, dtype=torch.uint8)
    if gpu is not None:
        piece.zero_()  # or it would be locked before it has its pages
        locked = LockedPieces()
        with torch.cuda.device(gpu):
            locked.lock(piece.data_ptr(), PIECE_BYTES)
        weakref.finalize(piece, _unlock, locked, memory).atexit = False
    return piece


def _unlock(locked: LockedPieces, memory: mmap.mmap) -> None:
    """Before the memory is unmapped: it is held until then."""
    locked.unlock()
    del memory
