"""The directory of an agent: owned as a training's writer owns a store, and by nobody else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from instride.store.lock import Owner, StoreLock, in_use, started_at, take_lock


class Ownership:
    """What makes a directory ours, as long as it is there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        pid = os.getpid()
        started = started_at(pid) or 0
        self._me = Owner(
            socket.gethostname(), pid, started, pid, is_agent=True, writer_started=started
        )
        self._lock: StoreLock | None = None

    @property
    def is_held(self) -> bool:
        """False too once the directory was deleted, or made anew."""
        return self._lock is not None and self._lock.is_in_place()

    def take(self) -> bool:
        """Own the directory; False while a writer finishes for a training that is gone.

        Raises StoreInUseError where a training or an agent that lives has it, and OSError.
        """
        if self.is_held:
            return True
        self.release()
        try:
            taken = take_lock(self._directory, self._me)
        except BlockingIOError:  # just taken, and not yet said by whom
            return False
        if isinstance(taken, StoreLock):
            self._lock = taken
            return True
        if taken.is_alive:
            raise in_use(self._directory, taken, "hint.agent")
        return False

    def release(self) -> None:
        if self._lock is not None:
            if self._lock.is_in_place():
                self._lock.leave()
            self._lock.release()
            self._lock = None
