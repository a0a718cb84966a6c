"""A snapshot that comes into the arena bit by bit, as one does that leaves a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.copying import WholeCopy
from instride.snapshot.late import Storages

BIT_BYTES = 1 << 20
BREATH_S = 0.002


class ArrivingCopy(WholeCopy):
    """Memory of the host stands for that of a GPU: what the call has copied comes to its place
    afterwards, and the writer is told of it."""

    arrives_in_order = True
    meanwhile: Callable[[int], None] = staticmethod(lambda place: time.sleep(BREATH_S))
    """Called whenever something has come."""

    def copy(self, promise: Callable[[], Storages]) -> None:
        self._held = [source.clone() for source in self._sources]

    def drain(self, tell: Telling = tell_nobody) -> None:
        if not self._held:
            return  # it was brought over before
        for place, held in zip(self._places, self._held, strict=True):
            offset = place.data_ptr() - self._memory.data_ptr()
            for start in range(0, len(held), BIT_BYTES):
                place[start : start + BIT_BYTES].copy_(held[start : start + BIT_BYTES])
                end = min(start + BIT_BYTES, len(held))
                tell(offset + end)
                self.meanwhile(offset + end)
        self._held = []  # what was on the device is given back there


def poison(memory: torch.Tensor) -> None:
    """Whoever takes what has not come yet takes this."""
    memory.fill_(0xA5)
