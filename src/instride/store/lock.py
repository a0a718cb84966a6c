"""One owner per store: a lock on a file, and who holds it, for people and for the next trainer."""

from __future__ import annotations

import errno
import os
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Protocol

import msgspec
import psutil

from instride.errors import StoreInUseError
from instride.store.atomic import NOT_INHERITED, make_directory
from instride.store.manifest import PRIVATE
from instride.store.small_files import read_small
from instride.system.descriptors import above_standard

MOST_BYTES = 4096
NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}
"""The answer of filesystems that know no locks."""

STATE, FLAGS, STARTED = 0, 6, 19
"""Fields of /proc/PID/stat behind the name."""
EXITING = 0x4
"""PF_EXITING among those flags."""

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class Owner(msgspec.Struct, frozen=True):
    """Who works on a store: a trainer, and the writer that holds the lock for it."""

    host: str
    trainer_pid: int
    trainer_started: int
    """In clock ticks since boot: a pid alone may be somebody else's by now."""
    writer_pid: int
    is_agent: bool = False
    """No training, but `instride agent`, which works for scripts that know nothing of a store."""
    is_leaving: bool = False
    """Nothing more will come from the trainer, which may live on or have become another program."""
    writer_started: int = 0
    """Like that of the trainer; 0 where it could not be had, and any process counts."""

    @property
    def is_alive(self) -> bool:
        """Whether its trainer still runs and has not left; one on another machine is taken to. One
        that was killed runs no more, also while the system still takes its memory back."""
        if self.is_leaving:
            return False
        if self.host != socket.gethostname():
            return True
        pid = self.trainer_pid
        return is_running(pid, self.trainer_started) and not is_ending(pid)

    @property
    def is_at_work(self) -> bool:
        """Whether the process that holds the lock runs on this machine."""
        if self.host != socket.gethostname():
            return False
        return is_running(self.writer_pid, self.writer_started)


class StoreLock:
    """A lock that is gone with the process that holds it, however that ends.

    Where files cannot be locked so (Windows, Lustre as it is often mounted), the name of an owner
    whose process runs on this machine is the lock: of two that come in the same moment both may get
    in, and one on another machine cannot be told from one that was killed there.
    """

    def __init__(self, directory: Path) -> None:
        private = directory / PRIVATE
        make_directory(private)
        self._path = private / "lock"
        with above_standard():
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | NOT_INHERITED, 0o644)
        self.is_by_name = False

    def try_take(self, owner: Owner) -> Owner | None:
        """Take the lock; if somebody has it, say who. Raises BlockingIOError if nobody knows."""
        try:
            _flock(self._fd)
        except BlockingIOError:
            holder = self._read()
            if holder is None:
                raise
            return holder
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            return self._take_by_name(owner)
        self._write(owner)
        return None

    def _take_by_name(self, owner: Owner) -> Owner | None:
        holder = self._read()
        if holder is not None and holder.writer_pid != owner.writer_pid and holder.is_at_work:
            return holder
        self._write(owner)
        self.is_by_name = True
        return None

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

    def say(self, owner: Owner) -> None:
        """Write down what has changed about the owner; only for who has the lock."""
        self._write(owner)

    def release(self) -> None:
        """Let others have the store."""
        if self.is_by_name:
            self.leave()
        self.close()

    def close(self) -> None:
        """Have nothing to do with the lock any more, and leave it to who holds it: for a child,
        which has inherited it."""
        os.close(self._fd)

    def _write(self, owner: Owner) -> None:
        raw = msgspec.json.encode(owner)
        os.lseek(self._fd, 0, os.SEEK_SET)
        # Over all that stood there, at once: whoever looks meanwhile must not see nobody.
        os.write(self._fd, raw.ljust(os.fstat(self._fd).st_size))

    def _read(self) -> Owner | None:
        try:
            os.lseek(self._fd, 0, os.SEEK_SET)
            return msgspec.json.decode(os.read(self._fd, MOST_BYTES), type=Owner)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


def _flock(fd: int) -> None:
    if fcntl is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take_lock(directory: Path, owner: Owner) -> StoreLock | Owner:
    """The lock of a store, or who has it. Raises OSError; BlockingIOError if nobody knows who."""
    lock = StoreLock(directory)
    try:
        holder = lock.try_take(owner)
    except OSError:
        lock.release()
        raise
    if holder is None:
        return lock
    lock.release()
    return holder


class Holder(Protocol):
    """As much of an owner as people are told."""

    @property
    def host(self) -> str: ...
    @property
    def trainer_pid(self) -> int: ...
    @property
    def is_agent(self) -> bool: ...


def in_use(directory: Path, holder: Holder, hint: str | None = None) -> StoreInUseError:
    """Why a store cannot be had; `hint` is for those who want it for something else than saving."""
    names = {"message": "message", "hint": hint or "hint"}
    if holder.is_agent:
        names = {"message": "message.agent", "hint": "hint.second-agent"}
    elif hint is None and (holder.host, holder.trainer_pid) == (socket.gethostname(), os.getpid()):
        names = {"message": "message.here", "hint": "hint.here"}
    return StoreInUseError(str(directory), holder.host, holder.trainer_pid, **names)


def holder_of(directory: Path) -> Owner | None:
    """Who works on a store, as its lock says; nothing is locked or written to find out.

    The file outlives its writer: one that is gone from this machine holds nothing. Whether one on
    another machine still runs cannot be told, and it is named.
    """
    try:
        raw = read_small(directory / PRIVATE / "lock", MOST_BYTES)
        holder = msgspec.json.decode(raw, type=Owner)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_here = holder.host == socket.gethostname()
    return None if is_here and not holder.is_at_work else holder


def is_running(pid: int, started: int) -> bool:
    """Whether a process that was started then still runs, and its pid is not another one's. 0 is a
    start that nobody knows."""
    found = started_at(pid)
    return found is not None and (found == started or 0 in (found, started))


def started_at(pid: int) -> int | None:
    """When a process was started, in ticks since boot; None if there is no such process, 0 if there
    is one, and the system does not say."""
    if sys.platform != "linux":
        return _created_at(pid)
    try:
        fields = _status_of(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:  # no descriptors are left, or no memory
        return 0
    return None if fields[STATE] in (b"Z", b"X") else int(fields[STARTED])


def is_ending(pid: int) -> bool:
    """Whether a process does nothing more and only gives back what it had: of many GB, that takes
    seconds. False where the system does not say."""
    if sys.platform != "linux":
        return False
    try:
        return bool(int(_status_of(pid)[FLAGS]) & EXITING)
    except OSError:
        return False


def _status_of(pid: int) -> list[bytes]:
    """What the system says of a process, behind its name, which may hold anything."""
    stat = Path(f"/proc/{pid}/stat").read_bytes()
    return stat[stat.rindex(b")") + 2 :].split()


def _created_at(pid: int) -> int | None:
    """The same where there is no /proc, in hundredths of a second since 1970."""
    try:
        return int(psutil.Process(pid).create_time() * 100)
    except psutil.NoSuchProcess:
        return None
    except psutil.Error:  # another user's
        return 0
