"""The store of a writer: taken at the start, and looked at again before each save."""

from __future__ import annotations

import errno
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.store.lock import Owner, StoreLock, started_at, take_lock
from instride.writer.protocol import Hello, Refused, Waiting, Wire

POLL_LOCK_S = 0.1


class Ownership:
    """What makes a store ours, as long as it is there."""

    def __init__(self, directory: Path, hello: Hello) -> None:
        self._directory = directory
        self._me = Owner(
            socket.gethostname(),
            hello.trainer_pid,
            hello.trainer_started,
            os.getpid(),
            writer_started=started_at(os.getpid()) or 0,
        )
        self._lock: StoreLock | None = None

    def take(self, wire: Wire) -> bool:
        """Take the store; False if a training that runs has it. Raises OSError.

        A writer that still works for a dead trainer is waited for.
        """
        said = None
        while (holder := self._try_take()) is not None:
            if holder.is_alive:
                tell(wire, Refused(holder.host, holder.trainer_pid, holder.is_agent))
                return False
            if said != holder.writer_pid:
                said = holder.writer_pid
                tell(wire, Waiting(holder.writer_pid))
            time.sleep(POLL_LOCK_S)
        return True

    def ensure(self) -> bool:
        """Take the store now if it could not be taken before, or was deleted and made anew; whether
        that was so. Raises OSError."""
        if self._lock is not None and self._lock.is_in_place():
            return False
        holder = self._try_take()
        if holder is not None:
            raise OSError(
                errno.EBUSY, f"the store belongs to the training with pid {holder.trainer_pid}"
            )
        return True

    @property
    def is_by_name(self) -> bool:
        """Whether the filesystem has no locks, so that only a name keeps others out."""
        return self._lock is not None and self._lock.is_by_name

    def leave(self) -> None:
        """Nothing more will come: whoever wants the store need only wait until we are done."""
        self._me = msgspec.structs.replace(self._me, is_leaving=True)
        with suppress(OSError):
            if self._lock is not None:
                self._lock.say(self._me)

    def _try_take(self) -> Owner | None:
        """Take the lock; if somebody has it, who."""
        while True:
            try:
                lock = take_lock(self._directory, self._me)
            except BlockingIOError:
                time.sleep(POLL_LOCK_S)  # it has just been taken, and not yet said by whom
                continue
            if isinstance(lock, Owner):
                return lock
            if lock.is_in_place():
                if self._lock is not None:
                    self._lock.release()
                self._lock = lock
                return None
            lock.release()  # the store was deleted in this very moment


def tell(wire: Wire, message: Refused | Waiting) -> None:
    try:
        wire.send(message)
    except OSError:
        return  # nobody listens any more: the loop will notice
