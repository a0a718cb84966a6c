"""Saving where nothing can be done in the background: training waits until a save is durable."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from instride.errors import (
    DamagedError,
    InstrideError,
    UnsafeStateError,
)
from instride.saver.leaving import let_go_in_children
from instride.saver.letter import finish_of
from instride.saver.options import Options
from instride.saver.pending import Pending, Purpose, SavedCheckpoint, closed, failing, forked
from instride.saver.plainly import save_plainly
from instride.saver.telling import Telling
from instride.store.atomic import make_directory, removed_on_failure
from instride.store.latest import how_stale
from instride.store.lock import Owner, StoreLock, in_use, started_at, take_lock
from instride.store.manifest import Timings
from instride.store.naming import Naming
from instride.store.verifying import verify
from instride.system import background
from instride.writer.describing import manifest_of
from instride.writer.journal import Journal, Value, journal_path
from instride.writer.page import NOBODYS, SharedPage
from instride.writer.protocol import Finish

if TYPE_CHECKING:
    from instride.snapshot.late import Promise


POLL_LOCK_S = 0.1


class SynchronousEngine:
    """Takes a snapshot, writes it, gives it its name and reads it back, all in the call."""

    waits_for: int | None = None

    def __init__(self, directory: Path | None, options: Options) -> None:
        self._directory = directory
        self._naming = Naming(directory, options.keep)
        self._stall_s = options.stall_s
        self._telling = Telling()
        self._lock: StoreLock | None = None
        self._waited_for: int | None = None
        self._last: Pending | None = None
        self._next_id = 1
        self.is_closed = False
        self._owner_pid = os.getpid()
        self.page = SharedPage(NOBODYS)
        self.problem: str | None = None
        is_taken = False
        try:
            is_taken = self._take_store()
        except OSError as error:
            self.problem = f"{directory}: {error.strerror}"
        self._journal: Journal | None = None
        if directory is not None:
            in_thread = background.can_start_threads()
            self._journal = Journal(journal_path(directory), self.page, in_thread=in_thread)
        let_go_in_children(self)
        self._note("start", host=socket.gethostname(), trainer_pid=self._owner_pid)
        if is_taken:
            self._naming.sweep().tell(self._note)

    def _take_store(self) -> bool:
        """Own the store, as long as it is there; whether it was taken anew. Who finishes for a
        training that is gone, or prunes, is waited for, but not for ever, and once: it may be
        frozen, and each save would stand still. Raises StoreInUseError and OSError."""
        if self._directory is None or (self._lock is not None and self._lock.is_in_place()):
            return False
        pid = os.getpid()
        started = started_at(pid) or 0
        me = Owner(socket.gethostname(), pid, started, pid, writer_started=started)
        deadline_s = time.monotonic() + self._stall_s
        while isinstance(lock := take_lock(self._directory, me), Owner):
            if lock.is_alive:
                raise in_use(self._directory, lock)
            if lock.writer_pid == self._waited_for or time.monotonic() > deadline_s:
                self._waited_for = lock.writer_pid
                raise OSError(errno.EBUSY, f"process {lock.writer_pid} still works on it")
            self.warn_once(
                "waiting",
                f"waiting for process {lock.writer_pid}, which still works on `{self._directory}`",
            )
            time.sleep(POLL_LOCK_S)
        if self._lock is not None:
            self._lock.release()  # of a store that was deleted
        self._lock = lock
        return True

    @property
    def prepare_cost_s(self) -> float:
        """There is nothing to prepare."""
        return 0.0

    @property
    def is_late(self) -> bool:
        """What a save returns is written."""
        return False

    def follow(self, promises: Callable[[], Promise], has_stepped: Callable[[], bool]) -> None:
        """Nothing hangs on that."""

    def fence(self) -> None:
        """Nothing is left to be copied when a save returns."""

    def give_way(self) -> None:
        """Nothing is kept between two saves."""

    def mark_step(self) -> None:
        """Nothing is done beside it."""

    def prepare(self, tree: object, *, detached: bool) -> None:
        """There is no memory to be asked for."""

    def await_prepared(self, timeout: float) -> None:
        """Nor anything else."""

    def resting(self) -> AbstractContextManager[None]:
        """It always does."""
        return nullcontext()

    def await_store(self, timeout: float) -> bool:
        return True

    def await_saved(self) -> InstrideError | None:
        """Why the last one failed: no save is in flight."""
        return None if self._last is None else self._last.error

    def save(self, tree: object, purpose: Purpose, *, detached: bool) -> Pending:
        """Returns when the file has its name, or has failed to get it."""
        pending = Pending(purpose.path, purpose.step)
        self._last = pending
        with failing(pending, partial(self._fail, pending)):
            pending.commit(self._save(tree, purpose, detached=detached))
            self._telling.it_works()
        if pending.error is None:
            self._tidy(purpose.path)
        return pending

    def _fail(self, pending: Pending, error: InstrideError) -> None:
        pending.fail(error)
        self._note("failed", path=str(pending.path), why=str(error))
        self._telling.of(error)

    def _save(self, tree: object, purpose: Purpose, *, detached: bool) -> SavedCheckpoint:
        if self.is_closed or self._owner_pid != os.getpid():
            raise closed(purpose.path) if self.is_closed else forked(purpose.path)
        called_s = time.monotonic()
        if self._take_store():
            self._naming.sweep().tell(self._note)
        place = self._naming.place_of(purpose.path)
        make_directory(place.parent)
        temporary = self._naming.temporary_for(place)
        with removed_on_failure(temporary):
            written, unsafe = save_plainly(tree, temporary, detached=detached)
            self._tell_of(unsafe, purpose)
            finish = self._finish(purpose, unsafe, called_s)
            serial = self._naming.next_serial(place)
            manifest = manifest_of(place, finish, written, serial)
            self._naming.publish(temporary, place, manifest)
        took_s = time.monotonic() - called_s
        self._note_saved(finish, purpose.path, written.size_bytes, took_s)
        timings = Timings(took_s, 0.0, took_s, took_s)
        return SavedCheckpoint(purpose.path, purpose.step, written.size_bytes, timings)

    def _tell_of(self, unsafe: list[str], purpose: Purpose) -> None:
        if unsafe and purpose.strict:
            raise UnsafeStateError(unsafe)
        if unsafe:
            self._telling.of_unsafe(unsafe, purpose.path, None)

    def _finish(self, purpose: Purpose, unsafe: list[str], called_s: float) -> Finish:
        now_s = time.monotonic()
        finish = finish_of(self._next_id, purpose, called_s, Timings(now_s - called_s))
        self._next_id += 1
        return msgspec.structs.replace(finish, unsafe=unsafe, staged_s=now_s)

    def _note_saved(self, finish: Finish, path: Path, size_bytes: int, took_s: float) -> None:
        self._note("call", finish.called_s, id=finish.id, step=finish.step, s=took_s, waited_s=0.0)
        self._note(
            "durable", id=finish.id, path=str(path), bytes=size_bytes, s=took_s, staged_s=took_s
        )

    def _tidy(self, path: Path) -> None:
        """Read back what was saved; only if it is whole, delete what need not be kept."""
        if self._directory is None:
            return
        try:
            verify(path)
            deleted = self._naming.prune(path)
            is_latest_stale = self._naming.is_latest_stale
        except DamagedError as error:
            self._note("damaged", path=str(path), why=str(error))
            self._telling.of(error)
        except OSError as error:
            self._note("tidy-failed", path=str(path), why=error.strerror or str(error))
        else:
            self._note("verified", path=str(path))
            if deleted:
                self._note("deleted", names=[each.name for each in deleted])
            if is_latest_stale:
                self.warn_once("latest", "\n\nhint: ".join(how_stale(self._directory)))

    def warn_once(self, kind: str, text: str) -> None:
        self._telling.once(kind, text)

    def _note(self, kind: str, at_s: float | None = None, **fields: Value) -> None:
        if self._journal is not None:
            self._journal.note(kind, at_s, **fields)

    def close(self) -> InstrideError | None:
        """Release the store; why the last save failed, if it did. Idempotent."""
        if self.is_closed or self._owner_pid != os.getpid():
            return None
        self.is_closed = True
        if self._journal is not None:
            self._journal.close()
        self.page.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        return None if self._last is None else self._last.error

    def let_go(self) -> None:
        """In a forked child, which would keep the store locked after the trainer is gone. It must
        not free it either: the trainer goes on."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
