"""From a tree of state to a snapshot on its way: freeze, copy, hand over."""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import torch

from instride.errors import (
    InstrideError,
    NeedsLinuxError,
    SaveFailedError,
    SaveSkippedError,
    StorageStuckError,
    UnsafeStateError,
)
from instride.faults import reached
from instride.saver.courier import Courier, Letter
from instride.saver.patience import Patience
from instride.saver.pending import Pending, SavedCheckpoint
from instride.saver.staging import Staged, Stager
from instride.snapshot.copying import WriterGoneError
from instride.store.manifest import Timings
from instride.store.retention import Keep
from instride.writer.protocol import Committed, Finish, Notice

WATCH_S = 0.05
SWITCH_S = 0.0005


class Purpose(msgspec.Struct, frozen=True):
    """What a snapshot is for."""

    path: Path
    step: int | None = None
    metric: float | None = None
    strict: bool = False


class _Outgoing(NamedTuple):
    pending: Pending
    letter: Letter
    staged: Staged
    finish: Finish


class Engine:
    """One arena, one writer, one save in flight."""

    def __init__(
        self,
        directory: Path | None,
        keep: Keep,
        *,
        memory_bytes: int | None = None,
        when_busy: Literal["wait", "skip"] = "wait",
        stall_s: float = 60.0,
    ) -> None:
        if sys.platform != "linux":
            raise NeedsLinuxError(sys.platform)
        self._when_busy = when_busy
        self._stall_s = stall_s
        self._stager = Stager(memory_bytes)
        self.page = self._stager.page
        self._told: set[str] = set()
        self.courier = Courier(directory, keep, self.page, self._stager.arena.fd, self._on_notice)
        self._lock = threading.Lock()
        self._next_id = 1
        self._in_flight: Letter | None = None
        self._last: Pending | None = None
        self._outbox: queue.SimpleQueue[_Outgoing | None] = queue.SimpleQueue()
        self._is_closed = False
        self._owner_pid = os.getpid()
        self._has_let_go = False
        self._training_thread = threading.get_ident()
        self._poster = threading.Thread(target=self._post, daemon=True)
        self._poster.start()
        _forget_in_children(self)
        atexit.register(_close_at_exit, weakref.ref(self))

    def let_be_late(self, late: Callable[[], set[int]]) -> None:
        """Storages that may be copied until the next `fence`, which somebody promises to call."""
        self._stager.late = late

    def fence(self) -> None:
        self._stager.fence()

    def prepare(self, tree: object, *, detached: bool) -> None:
        """Plan ahead and ask for memory, so that the first save is as quick as the others."""
        with self._lock:
            self._stager.prepare(tree, detached=detached)

    def save(self, tree: object, purpose: Purpose, *, detached: bool) -> Pending:
        """Take a snapshot. Returns when it is taken; never raises for what the disk does."""
        pending = Pending(purpose.path, purpose.step, self.courier.hurry)
        called_s = time.monotonic()
        if self._owner_pid != os.getpid():
            pending.fail(SaveFailedError(purpose.path, "this process was forked from the trainer"))
            return pending
        if self._is_closed:
            pending.fail(SaveFailedError(purpose.path, "the saver was closed before"))
            return pending
        with self._lock:
            trouble = self._await_arena(purpose.path)
            if trouble is not None:
                pending.is_skipped = isinstance(trouble, SaveSkippedError)
                pending.fail(trouble)
                self._warn_of(trouble)
                return pending
            waited_s = time.monotonic() - called_s
            self._stage(tree, purpose, pending, detached, called_s, waited_s)
        return pending

    def _stage(
        self,
        tree: object,
        purpose: Purpose,
        pending: Pending,
        detached: bool,
        called_s: float,
        waited_s: float,
    ) -> None:
        id = self._next_id
        self._next_id += 1
        self._last = pending
        timings = [Timings()]
        try:
            staged = self._stager.take(tree, detached=detached, allow_strange=not purpose.strict)
            letter = Letter(
                staged.begin(id, str(purpose.path)),
                lambda answer: self._settle(pending, purpose, timings[0], answer),
            )
            self._in_flight = letter
            if staged.streams:
                waited_s += self._stream(letter, staged, purpose.path)
        except InstrideError as error:
            pending.fail(error)
            if isinstance(error, UnsafeStateError):
                raise
            self._warn_of(error)
            return
        except WriterGoneError:
            return  # the courier has answered the letter
        except Exception as error:  # what a class does when it is pickled is its own affair
            failed = SaveFailedError(purpose.path, f"{type(error).__name__}: {error}")
            pending.fail(failed)
            self._warn_of(failed)
            return
        reached("copied")
        timings[0] = Timings(time.monotonic() - called_s, waited_s)
        finish = Finish(
            id, {}, purpose.step, purpose.metric, [], _versions(), time.time(), called_s, 0.0,
            timings[0].call_s, waited_s,
        )  # fmt: skip
        self._outbox.put(_Outgoing(pending, letter, staged, finish))
        if staged.said is not None:
            self.warn_once("torch.save", staged.said)

    def _stream(self, letter: Letter, staged: Staged, path: Path) -> float:
        """Send a snapshot through the arena, as long as the writer takes it; the seconds waited."""
        patience = Patience(self.page, self._stall_s)

        def is_gone() -> bool:
            if patience.is_over():
                raise StorageStuckError(path, self._stall_s)
            return letter.is_settled

        self.courier.send_begin(letter)
        try:
            return staged.stream(is_gone)
        except WriterGoneError:
            raise
        except BaseException:
            self.courier.cancel(letter)
            raise

    def _post(self) -> None:
        """Off the training thread: pickle, and hand over."""
        while (item := self._outbox.get()) is not None:
            try:
                self._send(*item)
            except Exception as error:  # a state that cannot be pickled fails in its own way
                failed = SaveFailedError(item.pending.path, f"{type(error).__name__}: {error}")
                self.courier.cancel(item.letter)
                item.pending.fail(failed)
                self._warn_of(failed)

    def _send(self, pending: Pending, letter: Letter, staged: Staged, finish: Finish) -> None:
        reached("submitted")
        with giving_way():
            small, unsafe = staged.small_records()
        if not staged.streams:
            self.courier.send_begin(letter)
        if pending.is_awaited:
            self.courier.hurry()  # it could not be told before there was something to do
        reached("pickled")
        if unsafe:
            self.warn_once(
                f"unsafe {unsafe}",
                f"`torch.load(weights_only=True)` will refuse `{letter.begin.path}` because of "
                f"{', '.join(unsafe)}; it is saved all the same",
            )
        self.courier.send_finish(
            letter,
            msgspec.structs.replace(finish, small=small, unsafe=unsafe, staged_s=time.monotonic()),
        )

    def _settle(
        self,
        pending: Pending,
        purpose: Purpose,
        timings: Timings,
        answer: Committed | InstrideError,
    ) -> None:
        if pending.done:
            return  # it was given up, and said so
        if isinstance(answer, InstrideError):
            pending.fail(answer)
            self._warn_of(answer)
            return
        pending.commit(
            SavedCheckpoint(
                purpose.path,
                purpose.step,
                answer.size_bytes,
                msgspec.structs.replace(
                    timings, staged_s=answer.staged_s, durable_s=answer.durable_s
                ),
            )
        )

    def _await_arena(self, path: Path) -> InstrideError | None:
        """Wait for the snapshot before to be durable, as long as that makes progress."""
        before = self._in_flight
        if before is None or before.is_settled:
            return None
        if self._when_busy == "skip":
            return SaveSkippedError(path)
        return self._watch(before, path)

    def _watch(self, before: Letter, path: Path) -> InstrideError | None:
        if self._last is not None:
            self._last.hurry()
        patience = Patience(self.page, self._stall_s)
        while not before.await_settled(WATCH_S):
            if self.courier.is_blocked and not self._is_closed:
                return SaveSkippedError(path)
            if patience.is_over():
                return StorageStuckError(path, self._stall_s)
        return None

    def close(self) -> InstrideError | None:
        """Wait for the save in flight; the error it ended with, if any. Idempotent."""
        if self._is_closed or self._owner_pid != os.getpid():
            return None
        self._is_closed = True
        self._outbox.put(None)
        self._poster.join()  # the last snapshot is handed over before the writer is told to end
        self.courier.close()
        trouble = self._await_last()
        if self._in_flight is None or self._in_flight.is_settled:
            self._stager.close()  # else another writer may need it: the snapshot is only there
        return trouble

    def _await_last(self) -> InstrideError | None:
        letter, last = self._in_flight, self._last
        if letter is None or last is None:
            return self._await_end(self.courier.directory)
        trouble = self._watch(letter, last.path) or self._await_end(last.path)
        return trouble or self._error_of(last)

    def _error_of(self, last: Pending) -> InstrideError | None:
        try:
            last.wait(self._stall_s)
        except InstrideError as error:
            return error
        return None

    def _await_end(self, path: Path | None) -> InstrideError | None:
        """Wait for the writer to have read back, deleted and let go of the store."""
        patience = Patience(self.page, self._stall_s)
        while not self.courier.await_end(WATCH_S):
            if patience.is_over():
                return StorageStuckError(path or "checkpoints", self._stall_s)
        return None

    def _on_notice(self, notice: Notice) -> None:
        self.warn_once(notice.id, f"{notice.text}\n\nhint: {notice.hint}")

    def _warn_of(self, error: InstrideError) -> None:
        self.warn_once(type(error).__name__, f"{error}\n\nhint: {error.hint}")

    def warn_once(self, kind: str, text: str) -> None:
        """Tell the person, once for each kind of trouble; the journal has every time."""
        if kind not in self._told:
            self._told.add(kind)
            try:
                warnings.warn(f"instride: {text}", RuntimeWarning, stacklevel=4)
            except RuntimeWarning:
                # Who turns warnings into errors means the thread that trains; ours have to go on.
                if threading.get_ident() == self._training_thread:
                    raise

    def let_go(self) -> None:
        """In a forked child: hold neither the line nor the memory."""
        if self._has_let_go:
            return  # in a child of a child the descriptors may be somebody else's by now
        self._has_let_go = True
        self.courier.close_in_child()
        self._stager.arena.close_in_child()


@contextmanager
def giving_way() -> Iterator[None]:
    """Let other threads of the interpreter run after half a millisecond of work, not after five.

    A thread that launches kernels lets go of the interpreter with each of them, and would wait that
    long to get it back, hundreds of times in a step.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _versions() -> dict[str, str]:
    from instride.store.manifest import versions_here

    return dict(versions_here(str(torch.__version__)))


def _forget_in_children(engine: Engine) -> None:
    reference = weakref.ref(engine)

    def forget() -> None:
        alive = reference()
        if alive is not None:
            alive.let_go()

    os.register_at_fork(after_in_child=forget)


def _close_at_exit(reference: weakref.ref[Engine]) -> None:
    engine = reference()
    if engine is not None:
        engine.close()
