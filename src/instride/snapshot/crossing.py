"""From a device to the arena, over the bus."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.blocks import Pairs, grouped
from instride.snapshot.ring import Ring

NUM_IN_FLIGHT = 2
PACED_BYTES = 32 << 20
"""Half a millisecond of the bus: a loop that synchronizes waits for two or three of these."""
HURRIED_BYTES = 512 << 20
"""How much is given to the bus at once of what an optimizer waits for anyway."""
PART_BYTES = 1 << 30
"""How much of that goes through the ring before it is looked again what is locked by then."""


class Crossing:
    """Copies on the current stream: directly to what of the arena is locked, with few groups under
    way, each of them one call without the GIL; to the rest of it through a ring."""

    def __init__(self, arena: Arena, memory: torch.Tensor, ring: Ring) -> None:
        self._arena = arena
        self._memory = memory
        """That of the arena, as it was when the places were found in it."""
        self._ring = ring
        self._in_flight: deque[torch.cuda.Event] = deque()

    def copy(self, pairs: Iterable[Pairs], tell: Telling = tell_nobody) -> None:
        """The last copies to locked memory may still be under way on return. Where there are none,
        it is told up to which place of the memory all has come."""
        others: list[Pairs] = []
        is_direct = self._directly(self._to_locked(pairs, others), PACED_BYTES)
        if others:
            start = self._memory.data_ptr()
            here = tell_nobody if is_direct else lambda address: tell(address - start)
            self._ring.carry(others, here)

    def copy_awaited(self, pairs: Iterable[Pairs]) -> None:
        """The same in a hurry, for what an optimizer waits for. Memory goes on being locked, from
        its beginning on: what is not locked when its turn comes goes through the ring from the end,
        a part at a time, and by then the rest may be."""
        others: list[Pairs] = []
        self._directly(self._to_locked(pairs, others), HURRIED_BYTES)
        others.sort(key=lambda other: other[0][0].data_ptr())
        while others:
            self._ring.carry(_last_of(others, PART_BYTES), is_awaited=True)
            left, others = others, []
            self._directly(self._to_locked(left, others), HURRIED_BYTES)

    def training_waits(self) -> AbstractContextManager[None]:
        """While the thread that trains waits for this, and launches nothing."""
        return self._arena.backlog.training_waits()

    def _directly(self, pairs: Iterable[Pairs], group_bytes: int) -> bool:
        """Whether there was anything to copy."""
        is_direct = False
        for places, pieces in grouped(pairs, group_bytes):
            is_direct = True
            torch._foreach_copy_(places, pieces, non_blocking=True)
            event = torch.cuda.Event(blocking=True)
            event.record()
            self._in_flight.append(event)
            if len(self._in_flight) > NUM_IN_FLIGHT:
                self._in_flight.popleft().synchronize()
        return is_direct

    def _to_locked(self, pairs: Iterable[Pairs], others: list[Pairs]) -> Iterator[Pairs]:
        """What goes directly; everything else is left among the others."""
        for places, pieces in pairs:
            locked: Pairs = ([], [])
            other: Pairs = ([], [])
            for place, piece in zip(places, pieces, strict=True):
                into = locked if self._arena.is_locked(place) else other
                into[0].append(place)
                into[1].append(piece)
            if other[0]:
                others.append(other)
            yield locked

    def finish(self) -> None:
        while self._in_flight:
            self._in_flight.popleft().synchronize()


def _last_of(others: list[Pairs], num_bytes: int) -> list[Pairs]:
    """So many bytes, or a little more, taken from the end."""
    taken: list[Pairs] = []
    while others and num_bytes > 0:
        taken.append(others.pop())
        num_bytes -= sum(piece.numel() for piece in taken[-1][1])
    return taken
