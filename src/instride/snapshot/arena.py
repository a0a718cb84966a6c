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
from typing import Any

import torch

from instride.snapshot.capturing import let_others_capture
from instride.snapshot.mapping import let_go_in_child, map_shared
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
"""Between two pieces that are locked, so that what waits to be launched gets its turn."""
REGISTERED_BYTES = 16 << 20
"""What is locked for a GPU at once; no copy may cross from one such piece into the next."""

_libc = ctypes.CDLL(None, use_errno=True)


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
        self._under_way: list[int] = []
        """Where steps begin whose pages are being asked for at the moment."""
        self._registering = threading.Lock()
        self._num_preparing = 0
        self._changed = threading.Condition(self._lock)
        """More is locked, or nobody is preparing any more."""
        self.register_s = 0.0
        """How long nothing could be launched on a GPU because memory was being locked for it."""
        self._addresses: list[int] = []
        """Of the pieces that are locked for a GPU. Memory that is unmapped while it still counts as
        locked poisons whatever is mapped there next."""
        weakref.finalize(self, _unregister, self._addresses)

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
            self._unregister()
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

    def prepare(self, wanted_bytes: int, *, register: bool = False) -> None:
        """Grow, ask for the pages, and lock those that are there, in modest threads: so that the
        first save is quick."""
        with self._lock:
            self._num_preparing += 1
        threading.Thread(target=self._prepare, args=(wanted_bytes, register), daemon=True).start()

    def _prepare(self, wanted_bytes: int, register: bool) -> None:
        try:
            make_thread_modest()
            self.grow(wanted_bytes)
            if register:
                self._populate_and_register()
            else:
                self.populate()
        finally:
            with self._lock:
                self._num_preparing -= 1
                self._changed.notify_all()

    def _populate_and_register(self) -> None:
        """Whoever comes while another one is at it finds nothing left to do: the more of them ask
        for pages and lock them, the more the steps feel it."""
        with self._registering:
            let_others_capture()
            populating = threading.Thread(target=self._populate_modestly, daemon=True)
            populating.start()
            self.register(populating)

    def _populate_modestly(self) -> None:
        make_thread_modest()
        self.populate()

    def await_registered(self, end: int) -> None:
        """Wait until everything up to there is locked for a GPU, or nobody is about to do that."""
        with self._lock:
            self._changed.wait_for(
                lambda: (
                    self._num_preparing == 0
                    or len(self._addresses) * REGISTERED_BYTES >= min(end, self.num_bytes)
                )
            )

    def register(self, populating: threading.Thread | None = None) -> None:
        """Lock the pages for a GPU, so that it copies at the speed of the bus.

        In small pieces, once they are populated: while one is registered, nothing can be launched.
        """
        cudart = torch.cuda.cudart()
        while self._register_next(cudart, populating):
            time.sleep(BREATH_S)

    def _register_next(self, cudart: Any, populating: threading.Thread | None) -> bool:
        """Lock a piece, if it has its pages already; whether there are, or will be, more."""
        will_be_more = populating is not None and populating.is_alive()
        with self._lock:
            start = len(self._addresses) * REGISTERED_BYTES
            end = min(start + REGISTERED_BYTES, self.num_bytes)
            if start >= end:
                return False
            if min([self._mapped, *self._under_way]) < end:
                return will_be_more
            address = self.memory.data_ptr() + start
            start_s = time.perf_counter()
            code = cudart.cudaHostRegister(address, end - start, 0)
            self.register_s += time.perf_counter() - start_s
            if int(code) != 0:
                return False  # there is a limit: what is not locked is copied more slowly
            self._addresses.append(address)
            self._changed.notify_all()
            return True

    def _unregister(self) -> None:
        _unregister(self._addresses)

    def populate(self) -> None:
        """Ask for the pages that are not there yet, step by step."""
        while True:
            with self._lock:
                start = self._mapped
                end = min(start + STEP_BYTES, self.num_bytes)
                if start >= end:
                    return
                is_new = start >= self._allocated and start % CHECK_BYTES == 0
                if is_new and available_memory_bytes() < SPARE_BYTES:
                    return  # whoever is to use the rest looks at the room again
                memory = self.memory  # kept, so that the mapping is there until the call is over
                address = memory.data_ptr() + start
                self._mapped, self._allocated = end, max(end, self._allocated)
                self._under_way.append(start)
            _libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(end - start), POPULATE_WRITE)
            with self._lock:
                self._under_way.remove(start)

    def close_in_child(self) -> None:
        """A forked child must not keep the memory alive, for as long as it lives."""
        for mapping in (each() for each in self._mappings):
            if mapping is not None:
                let_go_in_child(mapping)
        if self.fd != CLOSED:
            os.close(self.fd)
            self.fd = CLOSED

    def close(self) -> None:
        with self._lock:
            self._unregister()
            self.num_bytes = 0  # a thread that is still preparing finds nothing more to do
            self.memory = torch.empty(0, dtype=torch.uint8)
            os.close(self.fd)
            self.fd = CLOSED  # the number may be somebody else's file from now on


def _unregister(addresses: list[int]) -> None:
    while addresses:
        torch.cuda.cudart().cudaHostUnregister(addresses.pop())
