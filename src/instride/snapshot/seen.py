"""Memory of GPUs that streams were seen to use which it was not asked for on (`record_stream`).

Whoever frees it has the driver mark where these streams are. Where none answers, as in a forked
child and after an error of the GPU that stays, the allocator ends the process. So all that may be
freed, by us or by training, is known here, without being kept alive.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterable

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.pools import never_free
from instride.snapshot.runtime import gpus_in_use

FEWEST_LOOKED_THROUGH = 4096


class Seen:
    """Storages, by what is theirs alone for as long as they are known."""

    def __init__(self) -> None:
        self._known: dict[int, StorageWeakRef] = {}
        self._most = FEWEST_LOOKED_THROUGH
        # A handler that saves may interrupt the thread that has it.
        self._adding = threading.RLock()

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
        self._known = {key: known for key, known in self._known.items() if not known.expired()}
        self._most = max(FEWEST_LOOKED_THROUGH, 2 * len(self._known))

    def never_free(self) -> None:
        """What there is of them now. Without the lock: another thread of the parent may have had
        it when this child was forked."""
        for known in list(self._known.values()):
            storage = torch.UntypedStorage._new_with_weak_ptr(known.cdata)
            if storage is not None:
                never_free(storage)

    def never_free_in_child(self) -> None:
        self._adding = threading.RLock()
        self.never_free()

    def never_free_if_failed(self, streams: Iterable[torch.cuda.Stream]) -> None:
        """If one of these streams tells of an error that stays, which is training's to tell of.
        Whoever waits for a device instead ends captures of other threads."""
        try:
            for stream in streams:
                stream.query()
        except RuntimeError:
            self.never_free()


seen = Seen()


@atexit.register
def _look_once_more() -> None:
    """Training may have gone on for long behind the last saver."""
    if len(seen):
        seen.never_free_if_failed(map(torch.cuda.current_stream, gpus_in_use()))


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=seen.never_free_in_child)
