"""Memory of GPUs that streams were seen to use which it was not asked for on (`record_stream`).

Whoever frees it has the driver mark where these streams are. Where none answers, as in a forked
child and after an error of the GPU that stays, the allocator ends the process. So all that may be
freed, by us or by training, is known here, without being kept alive.

What an error of the GPU does to memory that training lets go of before any of ours is closed, or
the program ends, cannot be seen from here.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.pools import never_free
from instride.snapshot.runtime import gpus_in_use, letting_others_capture

FEWEST_LOOKED_THROUGH = 4096
"""The states of a few trainings. It takes a microsecond for each of them."""


class Seen:
    """Storages, by what is theirs alone for as long as they are known."""

    def __init__(self) -> None:
        self._known: dict[int, StorageWeakRef] = {}
        self._most = FEWEST_LOOKED_THROUGH
        # A handler that saves may interrupt the thread that has it.
        self._adding = threading.RLock()
        self._held: list[list[torch.UntypedStorage]] = []
        """While the process forks: by each thread that does."""

    def __len__(self) -> int:
        return len(self._known)

    def add(self, sources: Iterable[torch.Tensor]) -> None:
        """Before streams are seen to use their memory."""
        with self._adding:
            for source in sources:
                storage = source.untyped_storage()
                if storage._cdata not in self._known:
                    self._known[storage._cdata] = StorageWeakRef(storage)
            if len(self._known) > self._most:
                self._forget_what_is_gone()

    def _forget_what_is_gone(self) -> None:
        for key, known in list(self._known.items()):
            # A handler may have come here meanwhile, and have found another one in that place.
            if known.expired() and self._known.get(key) is known:
                del self._known[key]
        self._most = max(FEWEST_LOOKED_THROUGH, 2 * len(self._known))

    def _alive(self) -> list[torch.UntypedStorage]:
        """Without the lock: whoever has it may have been interrupted by what leads here."""
        found = (
            torch.UntypedStorage._new_with_weak_ptr(known.cdata)
            for known in list(self._known.values())
        )
        return [storage for storage in found if storage is not None]

    def never_free(self) -> None:
        """What there is of them now."""
        for storage in self._alive():
            never_free(storage)

    def never_free_if_failed(self, streams: Iterable[torch.cuda.Stream]) -> None:
        """If one of these streams tells of an error that stays, which is training's to tell of. By
        any thread: others may be capturing, and whoever waits for a device ends that."""
        try:
            for stream in streams:
                with torch.cuda.device(stream.device), letting_others_capture():
                    stream.query()
        except RuntimeError:
            self.never_free()

    def hold(self) -> None:
        """Before a fork: a child ends the threads that it does not have, with all that is theirs,
        before anybody can be asked."""
        self._held.append(self._alive())

    def let_go(self) -> None:
        self._held.pop()

    def never_free_in_child(self) -> None:
        self._adding = threading.RLock()
        never_free(self._held)


seen = Seen()


@atexit.register
def _look_once_more() -> None:
    """Training may have gone on for long behind the last saver."""
    if len(seen):
        seen.never_free_if_failed(map(torch.cuda.current_stream, gpus_in_use()))


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(
        before=seen.hold,
        after_in_parent=seen.let_go,
        after_in_child=seen.never_free_in_child,
    )
