"""The memory that snapshots live in: shared with the writer, and filled in before it is used.

Its pages are asked for in the background and within a budget: past the limit of a container the
kernel answers an allocation with SIGKILL, not with an error.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import AbstractContextManager, suppress

import torch

from instride.snapshot.backlog import Backlog
from instride.snapshot.helpers import Helpers
from instride.snapshot.locked import REGISTERED_BYTES, LockedPieces
from instride.snapshot.locking import lock_gently
from instride.snapshot.pages import CHECK_BYTES, POPULATING, Asking, gently
from instride.snapshot.shared import SharedMemory
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from instride.system.cgroups import available_memory_bytes
from instride.system.priority import make_thread_modest
from instride.system.striped import NUM_FILES

SPARE_BYTES = 256 << 20
"""What is left to others, whatever the budget says."""
LEAST_SLOTS = 4
PATIENCE_S = 5.0
"""How long the end of a program waits for a thread that asks for pages: they take milliseconds."""
LOCKING = "instride-locking"
"""The name of the thread that locks."""


class Arena:
    """Memory for one image, or for a part of one that streams through."""

    def __init__(self, budget_bytes: int | None = None, num_files: int = NUM_FILES) -> None:
        self._shared = SharedMemory("instride-arena", num_files)
        self._is_closed = False
        self._budget_bytes = budget_bytes
        self._lock = threading.Lock()
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
        self._hidden_s = 0.0
        """Of the time that locking took: while the GPU had something left to do."""
        self.backlog = Backlog()
        """To be marked behind each step."""
        weakref.finalize(self, self._locked.unlock)  # before its memory goes

    @property
    def fds(self) -> tuple[int, ...]:
        """Of the files that it lies in; none once it is closed."""
        return self._shared.fds

    @property
    def memory(self) -> torch.Tensor:
        """All of it, as bytes."""
        return self._shared.bytes

    @property
    def num_bytes(self) -> int:
        return int(self.memory.numel())

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
            if wanted <= self.num_bytes or self._is_closed:
                return
            self._locked.unlock()
            self._shared.grow(wanted)
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
        with suppress(OSError):  # the save that needs it will say why it cannot be had
            self.grow(wanted_bytes)
        # A state that is still growing is prepared for again and again: those who ask for the pages
        # of before go on with the new ones, and more of them would only take cores from training.
        with self._preparing:
            together(*([self.touch] * num_touching or [self.populate]))

    def stop_preparing(self) -> None:
        """Ask for nothing more, from the next piece on."""
        self._helpers.stop()

    def resting(self) -> AbstractContextManager[None]:
        """Meanwhile nothing is asked for or locked in the background."""
        return self._helpers.resting()

    def await_stopped(self, timeout_s: float) -> None:
        """Until nobody asks any more."""
        self._helpers.await_stopped(timeout_s)

    def lock(self, device: torch.device) -> None:
        """Lock all of it for GPUs, in a modest thread, mostly while the one that is named has a
        backlog. For all of them: it is one that the process uses, because there is a context on it
        already."""
        if not self._registering.locked() and self.locked_bytes < self.num_bytes:
            locking = threading.Thread(
                target=self._lock_gently, args=(device,), name=LOCKING, daemon=True
            )
            self._helpers.start(locking)

    def _lock_gently(self, device: torch.device) -> None:
        with self._registering:
            self._locked.is_refused = False  # memory may have been short just then
            lock_gently(self, device)

    def register(self) -> None:
        """Lock the pages for GPUs, so that they copy at the speed of the bus.

        In small pieces, once they are populated: while one is registered, nothing can be launched.
        """
        while self.register_next():
            pass

    def register_next(self) -> bool:
        """Lock a piece; whether there was one, and it could be."""
        self._helpers.await_turn()
        with self._lock:
            piece = self._next_unlocked()
            if piece is None:
                return False
            before_s = self._locked.took_s
            is_locked = self._locked.lock(*piece)
            if self.backlog.is_left:
                self._hidden_s += self._locked.took_s - before_s
            return is_locked

    def _next_unlocked(self) -> tuple[int, int] | None:
        """The address and size of the piece to be locked next, if it has its pages: locking would
        ask for those that there is no memory for, and wait for those that are on their way."""
        start = self.locked_bytes
        end = min(start + REGISTERED_BYTES, self.num_bytes)
        there = min([self._mapped, *(each[0] for each in list(self._under_way))])
        if self._helpers.is_stopping or self._locked.is_refused or not start < end <= there:
            return None
        return self.memory.data_ptr() + start, end - start

    def has_unlocked(self) -> bool:
        """Whether a piece has its pages, and can be locked next."""
        return self._next_unlocked() is not None

    def is_asked_for(self) -> bool:
        """Whether pages of it are on their way."""
        return bool(self._under_way)

    @property
    def locked_bytes(self) -> int:
        """So many from the beginning on are locked for GPUs."""
        return min(self._locked.num_bytes, self.num_bytes)

    @property
    def register_s(self) -> float:
        """How long nothing could be launched on a GPU because memory was being locked for it, as
        far as it may have had nothing left to do."""
        hidden_s = self._hidden_s  # first: the other one is counted before it
        return self._locked.took_s - hidden_s

    def is_locked(self, place: torch.Tensor) -> bool:
        """Whether a GPU can copy to this part of the arena at the speed of the bus. A part of the
        memory that it had before it grew is not locked any more."""
        locked_bytes = self.locked_bytes  # first: what grows meanwhile has nothing locked at first
        start = int(place.data_ptr()) - int(self.memory.data_ptr())
        return start >= 0 and start + place.numel() <= locked_bytes

    def populate(self) -> None:
        """Ask for the pages that are not there yet, step by step."""
        while self.ask_for_next(POPULATING):
            pass

    def touch(self) -> None:
        """The same, held up less by whoever trains, and holding them up less."""
        while self.ask_for_next(gently()):
            pass

    def ask_for_next(self, asking: Asking) -> bool:
        """Whether there was something to ask for, and memory left for it."""
        self._helpers.await_turn()
        with self._lock:
            start = self._mapped
            end = min(start - start % asking.most_bytes + asking.most_bytes, self.num_bytes)
            if start >= end or self._helpers.is_stopping or self._is_closed:
                return False
            is_new = start >= self._allocated and start % CHECK_BYTES == 0
            if is_new and not self._left_bytes():
                return False  # whoever is to use the rest looks at the room again
            pages = self._shared.pages(start, end)
            before = self._allocated
            self._mapped, self._allocated = end, max(end, before)
            self._under_way.append((start, end))
        is_there = False
        try:
            is_there = asking.ask(pages)
        finally:
            with self._lock:  # all at once: what is mapped, and not under way, may be locked
                self._under_way.remove((start, end))
                if not is_there:
                    self._mapped = min(start, self._mapped)
                    if self._allocated == end > before:  # and nobody was promised more meanwhile
                        self._allocated = max(start, before)
                self._close_unused()
        return is_there

    def close_in_child(self) -> None:
        """A forked child must not keep the memory alive, for as long as it lives."""
        self._helpers = Helpers()  # it has none of the threads, one of which may have held a lock
        self._locked.forget()
        self.backlog.forget()
        self._shared.let_go_in_child()

    def close(self) -> None:
        self.stop_preparing()
        self.await_stopped(PATIENCE_S)
        with self._lock:
            self._locked.unlock()
            self._shared.let_go()
            self._is_closed = True
            self._close_unused()

    def _close_unused(self) -> None:
        """Once nobody is about to allocate pages: the numbers may be those of other files then."""
        if self._is_closed and not self._under_way:
            self._shared.close()
