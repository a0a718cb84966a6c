"""One owner per store: a lock on a file, and who holds it, for people and for the next trainer."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

import msgspec

from instride.store.manifest import PRIVATE


class Owner(msgspec.Struct, frozen=True):
    """Who works on a store: a trainer, and the writer that holds the lock for it."""

    host: str
    trainer_pid: int
    trainer_started: int
    """In clock ticks since boot: a pid alone may be somebody else's by now."""
    writer_pid: int

    @property
    def is_alive(self) -> bool:
        """Whether its trainer still runs; one on another machine is taken to."""
        if self.host != socket.gethostname():
            return True
        return started_at(self.trainer_pid) == self.trainer_started


class StoreLock:
    """A lock that is gone with the process that holds it, however that ends."""

    def __init__(self, directory: Path) -> None:
        private = directory / PRIVATE
        private.mkdir(parents=True, exist_ok=True)
        self._path = private / "lock"
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def try_take(self, owner: Owner) -> Owner | None:
        """Take the lock; if somebody has it, say who. Raises BlockingIOError if nobody knows."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._read()
            if holder is None:
                raise
            return holder
        self._write(owner)
        return None

    def wait(self, owner: Owner) -> None:
        """Take the lock when whoever has it is done."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        self._write(owner)

    def is_in_place(self) -> bool:
        """Whether the file that is locked is the one that others would lock: a store may be deleted
        and made anew while it is owned."""
        try:
            here, there = os.fstat(self._fd), self._path.stat()
        except OSError:
            return False
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

    def leave(self) -> None:
        """Take the name of the owner out again; only for who has the lock and lives on."""
        os.ftruncate(self._fd, 0)

    def release(self) -> None:
        os.close(self._fd)

    def _write(self, owner: Owner) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, msgspec.json.encode(owner), 0)

    def _read(self) -> Owner | None:
        try:
            return msgspec.json.decode(os.pread(self._fd, 4096, 0), type=Owner)
        except msgspec.DecodeError:
            return None


def holder_of(directory: Path) -> Owner | None:
    """Who works on a store, as its lock says; nothing is locked or written to find out.

    The file outlives its writer: one that is gone from this machine holds nothing. Whether one on
    another machine still runs cannot be told, and it is named.
    """
    try:
        raw = (directory / PRIVATE / "lock").read_bytes()
        holder = msgspec.json.decode(raw, type=Owner)
    except (OSError, msgspec.DecodeError):
        return None
    is_here = holder.host == socket.gethostname()
    return None if is_here and started_at(holder.writer_pid) is None else holder


def started_at(pid: int) -> int | None:
    """When a process was started, in ticks since boot; None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()  # the name in brackets may hold anything
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
