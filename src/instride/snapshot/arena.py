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
from contextlib import suppress
from typing import NamedTuple

import torch

from instride.snapshot.mapping import let_go_in_child, map_shared
from instride.snapshot.runtime import forget_error, let_others_capture
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from instride.system.cgroups import available_memory_bytes
from instride.system.priority import make_thread_modest

POPULATE_WRITE = 23
STEP_BYTES = 2 << 20
"""Pages are asked for in steps of this: meanwhile nobody in the process can map memory."""
CHECK_BYTES = 64 << 20
"""How often the budget is checked."""
SPARE_BYTES = 256 << 20
"""What is left to others, whatever the budget says."""
LEAST_SLOTS = 4
CLOSED = -1
BREATH_S = 0.008
"""Between two pieces that are locked beside training, so that what waits to be launched gets its
turn. What is launched ahead of the GPU hides the rest; with a quarter of it, four times as much is
felt in all."""
LOCKING = "instride-locking"
"""The thread that does so."""
REGISTERED_BYTES = 16 << 20
"""What is locked for a GPU at once; no copy may cross from one such piece into the next."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Locked(NamedTuple):
    """A piece of memory, and who locked it for all GPUs."""

    device: int
    address: int


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
        self._registering = threading.Lock()
        self.register_s = 0.0
        """How long nothing could be launched on a GPU because memory was being locked for it."""
        self._locked: list[_Locked] = []
        """Memory that is unmapped while it still counts as locked poisons whatever is mapped there
        next."""
        self._is_refused = False
        weakref.finalize(self, _unregister, self._locked)

    def room_bytes(self) -> int:
        """How large it may become, by the budget and by what the machine has left."""
        room = self._allocated + max(0, available_memory_bytes() - SPARE_BYTES)
        if self._budget_bytes is not None:
            room = min(room, self._budget_bytes)
        return room // PIECE_BYTES * PIECE_BYTES

    def grow(self, wanted_bytes: int) -> None:
        """Be as large as wanted, or as the budget allows; never smaller than before."""
        with self._lock:
            wanted = -(-wanted_bytes // PIECE_BYTES) * PIECE_BYTES
            wanted = min(wanted, max(self.room_bytes(), LEAST_SLOTS * PIECE_BYTES))
            if wanted <= self.num_bytes or self.fd == CLOSED:
                return
            _unregister(self._locked)
            self._is_refused = False
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
                room = self._allocated + max(0, available_memory_bytes() - SPARE_BYTES)
                least = min(wanted, LEAST_SLOTS * PIECE_BYTES)
                wanted = max(min(wanted, room // PIECE_BYTES * PIECE_BYTES), least)
                self._allocated = max(wanted, self._allocated)
            return wanted

    def prepare(self, wanted_bytes: int, num_threads: int = 1) -> None:
        """Grow, and ask for the pages, in modest threads: so that the first save is quick."""
        arguments = (wanted_bytes, num_threads)
        threading.Thread(target=self._prepare, args=arguments, daemon=True).start()

    def _prepare(self, wanted_bytes: int, num_threads: int) -> None:
        make_thread_modest()
        self.grow(wanted_bytes)
        together(*[self.populate] * num_threads)

    def lock(self, device: torch.device) -> None:
        """Lock all of it for GPUs, in a modest thread, a piece now and then. For all of them: one
        is named that the process uses, because there is a context on it already."""
        if not self._registering.locked() and self.locked_bytes < self.num_bytes:
            locking = threading.Thread(
                target=self._lock_gently, args=(device,), name=LOCKING, daemon=True
            )
            with suppress(RuntimeError):  # a program that is ending starts no threads any more
                locking.start()

    def _lock_gently(self, device: torch.device) -> None:
        with self._registering, torch.cuda.device(device):
            make_thread_modest()
            let_others_capture()
            self._is_refused = False  # memory may have been short just then
            has_more = True
            while has_more:  # close behind those who ask for pages, and then the rest
                has_more = self._populate_next()
                self.register(BREATH_S)

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
            if piece is None:
                return False
            start_s = time.perf_counter()
            code = torch.cuda.cudart().cudaHostRegister(*piece, 0)
            self.register_s += time.perf_counter() - start_s
            if int(code) != 0:
                self._is_refused = True
                forget_error()
                return False  # there is a limit: what is not locked goes through what is
            self._locked.append(_Locked(torch.cuda.current_device(), piece[0]))
            return True

    def _next_unlocked(self) -> tuple[int, int] | None:
        """The address and size of the piece to be locked next, if it has its pages: locking would
        ask for those that there is no memory for. The last ones that were asked for may be on
        their way, and would be waited for."""
        start = self.locked_bytes
        end = min(start + REGISTERED_BYTES, self.num_bytes)
        is_behind = end + REGISTERED_BYTES <= self._mapped or self._mapped == self.num_bytes
        if self._is_refused or not start < end <= self._mapped or not is_behind:
            return None
        return self.memory.data_ptr() + start, end - start

    @property
    def locked_bytes(self) -> int:
        """So many from the beginning on are locked for GPUs."""
        return min(len(self._locked) * REGISTERED_BYTES, self.num_bytes)

    def is_locked(self, place: torch.Tensor) -> bool:
        """Whether a GPU can copy to this part of the arena at the speed of the bus. A part of the
        memory that it had before it grew is not locked any more."""
        start = int(place.data_ptr()) - int(self.memory.data_ptr())
        return start >= 0 and start + place.numel() <= self.locked_bytes

    def populate(self) -> None:
        """Ask for the pages that are not there yet, step by step."""
        while self._populate_next():
            pass

    def _populate_next(self) -> bool:
        """Whether there was something to ask for, and memory left for it."""
        with self._lock:
            start = self._mapped
            end = min(start + STEP_BYTES, self.num_bytes)
            if start >= end:
                return False
            is_new = start >= self._allocated and start % CHECK_BYTES == 0
            if is_new and available_memory_bytes() < SPARE_BYTES:
                return False  # whoever is to use the rest looks at the room again
            memory = self.memory  # kept, so that the mapping is there until the call is over
            address = memory.data_ptr() + start
            self._mapped, self._allocated = end, max(end, self._allocated)
        _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(end - start), POPULATE_WRITE)
        return True

    def close_in_child(self) -> None:
        """A forked child must not keep the memory alive, for as long as it lives. What the parent
        has locked is none of its business."""
        self._locked.clear()
        for mapping in (each() for each in self._mappings):
            if mapping is not None:
                let_go_in_child(mapping)
        if self.fd != CLOSED:
            os.close(self.fd)
            self.fd = CLOSED

    def close(self) -> None:
        with self._lock:
            _unregister(self._locked)
            self.num_bytes = 0  # a thread that is still preparing finds nothing more to do
            self.memory = torch.empty(0, dtype=torch.uint8)
            os.close(self.fd)
            self.fd = CLOSED  # the number may be somebody else's file from now on


def _unregister(locked: list[_Locked]) -> None:
    while locked:
        device, address = locked.pop()
        with torch.cuda.device(device):
            if int(torch.cuda.cudart().cudaHostUnregister(address)) != 0:
                forget_error()
