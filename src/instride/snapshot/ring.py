"""A little memory that is locked for a GPU, through which a snapshot leaves it.

A GPU copies at the speed of the bus only to memory that is locked for it, and while memory is being
locked nothing can be launched. So little is locked, for good, and threads take what arrives there
to its place in the arena, which may not even have its pages yet. That is several times as fast as
a disk, and nobody waits for it while the snapshot lies in the memory of the GPU.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import InOrder, Telling, tell_nobody
from instride.snapshot.blocks import Pairs, grouped
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.runtime import letting_others_capture
from instride.snapshot.together import together

NUM_SLOTS = 4
NUM_GENTLE = 2
"""Threads, each of which takes what came to one slot to its place while the next piece comes to
another. A core does that at a fraction of the speed of the bus. One for each slot is twice as fast,
and takes the interpreter from the thread that trains so often that its steps show it: that many are
used where it waits anyway."""


class Ring:
    """Slots of locked memory, each in one registration, as large as the largest piece."""

    def __init__(self) -> None:
        self._arena = Arena(num_files=1)
        self._slots: tuple[torch.Tensor, ...] | None = None
        self._making_ready = threading.Lock()
        self._carrying = threading.Lock()

    @property
    def register_s(self) -> float:
        """How long nothing could be launched on a GPU because of it."""
        return self._arena.register_s

    def make_ready(self) -> tuple[torch.Tensor, ...]:
        """Lock the memory, if that was not done yet; as much of it as can be."""
        with self._making_ready:
            if self._slots is None:
                self._arena.grow(NUM_SLOTS * REGISTERED_BYTES)
                self._arena.populate()
                self._arena.register()
                slots = self._arena.memory.split(REGISTERED_BYTES)
                # Where memory was short the last one may be too small for what it has to take.
                whole = [slot for slot in slots if slot.numel() == REGISTERED_BYTES]
                self._slots = tuple(slot for slot in whole if self._arena.is_locked(slot))
            return self._slots

    def carry(
        self, pairs: Iterable[Pairs], tell: Telling = tell_nobody, *, is_awaited: bool = False
    ) -> None:
        """Copy from the device, in the order of the current stream. Everything is in its place on
        return; until then the address is told that all has come up to, in the order of the pairs.
        """
        slots = self.make_ready()
        groups = grouped(pairs, REGISTERED_BYTES)
        if not slots:  # the driver has locked memory of its own, and takes one copy at a time
            for places, pieces in groups:
                torch._foreach_copy_(places, pieces)
                tell(_end_of(places))
            return
        carrier = _Carrier(groups, torch.cuda.current_stream(), InOrder(tell))
        num_threads = NUM_SLOTS if is_awaited else NUM_GENTLE
        hands = [slots[number::num_threads] for number in range(num_threads)]
        with self._carrying:  # a save that is given up is drained while it is being drained
            together(*(partial(carrier.work, each) for each in hands if each))

    def close_in_child(self) -> None:
        self._arena.close_in_child()

    def close(self) -> None:
        with self._making_ready:
            self._slots = ()
            self._arena.close()


class _Carrier:
    """What several threads, each with slots of its own, bring over the bus."""

    def __init__(
        self, groups: Iterator[Pairs], stream: torch.cuda.Stream, in_order: InOrder
    ) -> None:
        self._groups = enumerate(groups)
        self._stream = stream
        self._in_order = in_order
        self._taking = threading.Lock()

    def work(self, slots: tuple[torch.Tensor, ...]) -> None:
        """Take groups of pieces until there are none left, or a thread has failed."""
        stream = self._stream
        with (
            torch.cuda.device(stream.device),
            torch.cuda.stream(stream),
            torch.no_grad(),
            letting_others_capture(),
        ):
            try:
                self._bring(deque(_Slot(memory) for memory in slots))
            except BaseException:
                self._groups = enumerate(())
                raise

    def _bring(self, slots: deque[_Slot]) -> None:
        """The oldest slot is emptied while those behind it are being filled."""
        for slot in slots:
            self._fill(slot)
        while slots[0].is_full:
            self._in_order.arrived(*slots[0].empty())
            self._fill(slots[0])
            slots.rotate(-1)

    def _fill(self, slot: _Slot) -> None:
        with self._taking:
            number, group = next(self._groups, (0, None))
        if group is not None:
            slot.fill(number, *group)


class _Slot:
    """Locked memory that holds a group of pieces, or none."""

    def __init__(self, memory: torch.Tensor) -> None:
        self._memory = memory
        self._arrived = torch.cuda.Event(blocking=True)
        self._moves: list[tuple[int, int, int]] = []
        """Of each piece: where it belongs, where it arrives, and its size."""
        self._group = (0, 0)
        """Its number, and the address behind the place of its last piece."""

    @property
    def is_full(self) -> bool:
        return bool(self._moves)

    def fill(self, number: int, places: list[torch.Tensor], pieces: list[torch.Tensor]) -> None:
        """Let them come, in the order of the current stream."""
        sizes = [piece.numel() for piece in pieces]
        # Most pieces fill a slot. Each call of torch gives the interpreter away, and takes it back
        # from the thread that trains: none is made in vain.
        is_whole = sizes == [self._memory.numel()]
        parts = [self._memory] if is_whole else self._memory[: sum(sizes)].split_with_sizes(sizes)
        torch._foreach_copy_(list(parts), pieces, non_blocking=True)
        self._arrived.record()
        self._moves = [
            (place.data_ptr(), part.data_ptr(), size)
            for place, part, size in zip(places, parts, sizes, strict=True)
        ]
        self._group = number, _end_of(places)

    def empty(self) -> tuple[int, int]:
        """Once they are there, take them to their places: which group, and where it ends."""
        if not self._arrived.query():
            self._arrived.synchronize()
        for move in self._moves:
            ctypes.memmove(*move)  # without the GIL
        self._moves = []
        return self._group


def _end_of(places: list[torch.Tensor]) -> int:
    return int(places[-1].data_ptr() + places[-1].numel())
