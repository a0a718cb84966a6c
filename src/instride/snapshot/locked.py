"""Pieces of memory that are locked for GPUs, which copy there at the speed of the bus."""

from __future__ import annotations

import time
from typing import NamedTuple

import torch

from instride.snapshot.runtime import forget_error

REGISTERED_BYTES = 16 << 20
"""What is locked at once: meanwhile nothing can be launched. No copy may cross from one such piece
into the next."""


class _Piece(NamedTuple):
    """Where it is, and who locked it for all GPUs."""

    device: int
    address: int


class LockedPieces:
    """Those of one mapping, from its beginning on."""

    def __init__(self) -> None:
        self.took_s = 0.0
        """How long nothing could be launched because of it."""
        self._pieces: list[_Piece] = []
        """Memory that is unmapped while it still counts as locked poisons whatever is mapped there
        next."""
        self.is_refused = False
        """There is a limit: what is not locked goes through what is."""

    @property
    def num_bytes(self) -> int:
        """As many as there would be if the last piece was as large as the others."""
        return len(self._pieces) * REGISTERED_BYTES

    def lock(self, address: int, num_bytes: int) -> bool:
        """Lock one more, that lies behind the others; whether it could be."""
        start_s = time.perf_counter()
        code = torch.cuda.cudart().cudaHostRegister(address, num_bytes, 0)
        self.took_s += time.perf_counter() - start_s
        if int(code) != 0:
            self.is_refused = True
            forget_error()
            return False
        self._pieces.append(_Piece(torch.cuda.current_device(), address))
        return True

    def unlock(self) -> None:
        """Before the memory is unmapped, or another mapping takes its place."""
        self.is_refused = False
        while self._pieces:
            device, address = self._pieces.pop()
            with torch.cuda.device(device):
                if int(torch.cuda.cudart().cudaHostUnregister(address)) != 0:
                    forget_error()

    def forget(self) -> None:
        """In a forked child: what the parent has locked is none of its business."""
        self._pieces.clear()
