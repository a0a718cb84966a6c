"""The memory that snapshots live in: a memfd, shared with the writer, filled in before it is used.

Its pages are asked for in the background and within a budget: past the limit of a container the
kernel answers an allocation with SIGKILL, not with an error.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref

import torch

from instride.snapshot.helpers import Helpers
from instride.snapshot.locked import REGISTERED_BYTES, LockedPieces
from instride.snapshot.mapping import let_go_in_child, map_shared
from instride.snapshot.pages import CHECK_BYTES, POPULATING, Asking, gently
from instride.snapshot.runtime import let_others_capture
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from instride.system.cgroups import available_memory_bytes
from instride.system.interpreter import giving_way
from instride.system.priority import make_thread_modest

SPARE_BYTES = 256 << 20
"""What is left to others, whatever the budget says."""
LEAST_SLOTS = 4
CLOSED = -1
BREATH_S = 0.001
"""Between two pieces that are locked beside training, so that what waits to be launched gets its
turn. What is launched ahead of the GPU hides the rest."""
PATIENCE_S = 5.0
"""How long the end of a program waits for a thread that asks for pages: they take milliseconds."""
LOCKING = "instride-locking"
"""The name of the thread that locks."""


class Arena:
    """Memory for one image, or for a part of one that streams through."""

    def __init__(self, budget_bytes: int | None = None) -> None:
        self.fd = os.memfd_create("instride-arena", os.MFD_CLOEXEC)
        self._budget_bytes = budget_bytes
        self._lock = threading.Lock()
        self.num_bytes = 0
        self.memory = torch.empty(0, dtype=torch.uint8)
        """All of it, as bytes."""
        self._mappings: list[weakref.ref[ctypes.Array[ctypes.c_uint8]]] = []
        """This one, and those of before that something still refers to."""
        self._allocated = 0
        """So many bytes have pages, as far as was asked for them."""
        self._mapped = 0
        """So many of these the present mapping knows: a page that it does not is a fault when it is
        copied to, even if it is there."""
        self._under_way: list[tuple[int, int]] = []
        """Where pages begin and end that were asked for, and may not be there yet."""
        self._helpers = Helpers()
        self._preparing = threading.Lock()
        self._registering = threading.Lock()
        self._locked = LockedPieces()
        weakref.finalize(self, self._locked.unlock)  # before its memory goes

    def room_bytes(self) -> int:
        """How large it may become, by the budget and by what the machine has left."""
        room = self._allocated + self._left_bytes()
        if self._budget_bytes is not None:
            room = min(room, self._budget_bytes)
        return room // PIECE_BYTES * PIECE_BYTES

    def _left_bytes(self) -> int:
        """What the machine has left for it; of that, some is on its way and not seen yet."""
        on_its_way = sum(end - start for start, end in list(self._under_way))
        return max(0, available_memory_bytes() - on_its_way - SPARE_BYTES)

    def grow(self, wanted_bytes: int) -> None:
        """Be as large as wanted, or as the budget allows; never smaller than before."""
        with self._lock:
            wanted = -(-wanted_bytes // PIECE_BYTES) * PIECE_BYTES
            wanted = min(wanted, max(self.room_bytes(), LEAST_SLOTS * PIECE_BYTES))
            if wanted <= self.num_bytes or self.fd == CLOSED:
                return
            self._locked.unlock()
            os.ftruncate(self.fd, wanted)
            # The old mapping goes when the last view of it does; the pages are the file's.
            mapping = map_shared(self.fd, wanted)
            self._mappings = [each for each in self._mappings if each() is not None]
            self._mappings.append(weakref.ref(mapping))
            self.memory = torch.frombuffer(mapping, dtype=torch.uint8)
            self.num_bytes = wanted
            self._mapped = 0

    def usable_bytes(self, wanted_bytes: int) -> int:
        """How much of it may be written to now: what is wanted, or less, if what has no pages yet
        would take memory that is not there any more. The answer counts as used."""
        with self._lock:
            wanted = min(-(-wanted_bytes // PIECE_BYTES) * PIECE_BYTES, self.num_bytes)
            if wanted > self._allocated:
                room = self._allocated + self._left_bytes()
                least = min(wanted, LEAST_SLOTS * PIECE_BYTES)
                wanted = max(min(wanted, room // PIECE_BYTES * PIECE_BYTES), least)
                self._allocated = max(wanted, self._allocated)
            return wanted

    def prepare(self, wanted_bytes: int, num_touching: int = 0) -> None:
        """Grow, and ask for the pages, in modest threads: so that the first save is quick."""
        arguments = (wanted_bytes, num_touching)
        self._helpers.start(threading.Thread(target=self._prepare, args=arguments, daemon=True))

    def _prepare(self, wanted_bytes: int, num_touching: int) -> None:
        make_thread_modest(preempts=not num_touching)
        self.grow(wanted_bytes)
        # A state that is still growing is prepared for again and again: those who ask for the pages
        # of before go on with the new ones, and more of them would only take cores from training.
        with self._preparing:
            together(*([self.touch] * num_touching or [self.populate]))

    def stop_preparing(self) -> None:
        """Ask for nothing more, from the next piece on."""
        self._helpers.is_stopping = True

    def await_stopped(self, timeout_s: float) -> None:
        """Until nobody asks any more."""
        self._helpers.await_stopped(timeout_s)

    def lock(self, device: torch.device) -> None:
        """Lock all of it for GPUs, in a modest thread, a piece now and then. For all of them: one
        is named that the process uses, because there is a context on it already."""
        if not self._registering.locked() and self.locked_bytes < self.num_bytes:
            locking = threading.Thread(
                target=self._lock_gently, args=(device,), name=LOCKING, daemon=True
            )
            self._helpers.start(locking)

    def _lock_gently(self, device: torch.device) -> None:
        # Whoever launches takes the interpreter back at once: between any two pieces, this thread
        # would have to wait until that one must hand it over.
        with self._registering, torch.cuda.device(device), giving_way():
            make_thread_modest(preempts=False)
            let_others_capture()
            self._locked.is_refused = False  # memory may have been short just then
            has_more = True
            while has_more:  # close behind those who ask for pages, and then the rest
                has_more = self._await_others() or self._ask_for_next(gently())
                self.register(BREATH_S)

    def _await_others(self) -> bool:
        """Whether pages are on their way that somebody else asked for; a moment passes."""
        if self._under_way:
            time.sleep(BREATH_S)
            return True
        return False

    def register(self, breath_s: float = 0.0) -> None:
        """Lock the pages for GPUs, so that they copy at the speed of the bus.

        In small pieces, once they are populated: while one is registered, nothing can be launched.
        """
        while self._register_next():
            time.sleep(breath_s)

    def _register_next(self) -> bool:
        """Lock a piece; whether there was one, and it could be."""
        with self._lock:
            piece = self._next_unlocked()
            return piece is not None and self._locked.lock(*piece)

    def _next_unlocked(self) -> tuple[int, int] | None:
        """The address and size of the piece to be locked next, if it has its pages: locking would
        ask for those that there is no memory for, and wait for those that are on their way."""
        start = self.locked_bytes
        end = min(start + REGISTERED_BYTES, self.num_bytes)
        there = min([self._mapped, *(each[0] for each in list(self._under_way))])
        if self._helpers.is_stopping or self._locked.is_refused or not start < end <= there:
            return None
        return self.memory.data_ptr() + start, end - start

    @property
    def locked_bytes(self) -> int:
        """So many from the beginning on are locked for GPUs."""
        return min(self._locked.num_bytes, self.num_bytes)

    @property
    def register_s(self) -> float:
        """How long nothing could be launched on a GPU because memory was being locked for it."""
        return self._locked.took_s

    def is_locked(self, place: torch.Tensor) -> bool:
        """Whether a GPU can copy to this part of the arena at the speed of the bus. A part of the
        memory that it had before it grew is not locked any more."""
        start = int(place.data_ptr()) - int(self.memory.data_ptr())
        return start >= 0 and start + place.numel() <= self.locked_bytes

    def populate(self) -> None:
        """Ask for the pages that are not there yet, step by step."""
        while self._ask_for_next(POPULATING):
            pass

    def touch(self) -> None:
        """The same, held up less by whoever trains, and holding them up less."""
        while self._ask_for_next(gently()):
            pass

    def _ask_for_next(self, asking: Asking) -> bool:
        """Whether there was something to ask for, and memory left for it."""
        with self._lock:
            start = self._mapped
            end = min(start - start % asking.most_bytes + asking.most_bytes, self.num_bytes)
            if start >= end or self._helpers.is_stopping:
                return False
            is_new = start >= self._allocated and start % CHECK_BYTES == 0
            if is_new and not self._left_bytes():
                return False  # whoever is to use the rest looks at the room again
            part = self.memory[start:end]  # so that the mapping is there until the call is over
            before = self._allocated
            self._mapped, self._allocated = end, max(end, before)
            self._under_way.append((start, end))
        try:
            is_there = asking.ask(part)
        finally:
            self._under_way.remove((start, end))
        if not is_there:
            with self._lock:
                self._mapped = min(start, self._mapped)
                if self._allocated == end > before:  # and nobody was promised more meanwhile
                    self._allocated = max(start, before)
        return is_there

    def close_in_child(self) -> None:
        """A forked child must not keep the memory alive, for as long as it lives."""
        self._locked.forget()
        for mapping in (each() for each in self._mappings):
            if mapping is not None:
                let_go_in_child(mapping)
        if self.fd != CLOSED:
            os.close(self.fd)
            self.fd = CLOSED

    def close(self) -> None:
        self.stop_preparing()
        self.await_stopped(PATIENCE_S)
        with self._lock:
            self._locked.unlock()
            self.num_bytes = 0
            self.memory = torch.empty(0, dtype=torch.uint8)
            os.close(self.fd)
            self.fd = CLOSED  # the number may be somebody else's file from now on
