"""From a device to the arena, over the bus."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.blocks import Pairs, grouped
from instride.snapshot.ring import Ring
from instride.snapshot.runtime import let_others_capture
from instride.snapshot.together import together

NUM_IN_FLIGHT = 2
PACED_BYTES = 32 << 20
"""Half a millisecond of the bus: a loop that synchronizes waits for two or three of these."""
HURRIED_BYTES = 512 << 20
"""How much is given to the bus at once of what an optimizer waits for anyway."""
SHARED_BYTES = 128 << 20
"""The same where pieces for the ring come in between."""


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
        """The same for what an optimizer waits for: both ways at a time, and in a hurry."""
        others: list[Pairs] = []
        locked = [pair for pair in self._to_locked(pairs, others) if pair[0]]
        if not others:
            self._directly(locked, HURRIED_BYTES)
        elif not locked:
            self._ring.carry(others, is_awaited=True)
        else:
            stream = torch.cuda.current_stream()
            together(
                partial(self._directly, locked, SHARED_BYTES), partial(self._beside, others, stream)
            )

    def _beside(self, others: list[Pairs], stream: torch.cuda.Stream) -> None:
        """Through the ring, in a thread of its own."""
        with torch.cuda.device(stream.device), torch.cuda.stream(stream), torch.no_grad():
            let_others_capture()
            self._ring.carry(others, is_awaited=True)

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
