"""A save on its way: what `save()` returns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from instride.errors import InstrideError, SaveFailedError, UnsafeStateError
from instride.saver.telling import place_outside
from instride.store.manifest import Timings


class Purpose(msgspec.Struct, frozen=True):
    """What a snapshot is for."""

    path: Path
    step: int | None = None
    metric: float | None = None
    strict: bool = False


def is_sayable(path: Path) -> bool:
    """Whether a name can be told to another process, and written down: not all bytes are UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def forked(path: Path) -> SaveFailedError:
    """Only the process that made a saver may save with it."""
    return SaveFailedError(path, "this process was forked from the trainer", hint="hint.forked")


def closed(path: Path) -> SaveFailedError:
    return SaveFailedError(path, "the saver was closed before", hint="hint.closed")


class SavedCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint that has its name: whole and durable."""

    path: Path
    step: int | None
    bytes: int
    timings: Timings


class Pending:
    """A snapshot that is being written. Nothing has to be done with it."""

    def __init__(self, path: Path, step: int | None) -> None:
        self.path = path
        self.step = step
        self.called_at = place_outside()
        """The line of the program that saves, for whatever there is to say of it later."""
        self.on_wait: Callable[[], None] | None = None
        """Lets whoever writes it know."""
        self._owner_pid = os.getpid()
        self.is_skipped = False
        """Not taken: the one before was still being written."""
        self.is_awaited = False
        self._settled = threading.Event()
        self._checkpoint: SavedCheckpoint | None = None
        self._error: InstrideError | None = None

    @property
    def done(self) -> bool:
        """Committed, failed or skipped."""
        return self._settled.is_set()

    @property
    def error(self) -> InstrideError | None:
        """Why it failed; None if it has not."""
        return self._error

    def wait(self, timeout: float | None = None) -> SavedCheckpoint:
        """Wait for the commit. Raises why it failed, or TimeoutError after so many seconds; and
        RuntimeError in a child that was forked before it was known: nobody would tell it."""
        if not self.done:
            self._await(timeout)
        if self._error is not None:
            raise self._error
        assert self._checkpoint is not None
        return self._checkpoint

    def _await(self, timeout: float | None) -> None:
        if self._owner_pid != os.getpid():
            raise RuntimeError(
                f"only the process that saved `{self.path}` can wait for it, and this one was "
                "forked from it; call `wait()` there, or before the fork"
            )
        self.hurry()
        if not self._settled.wait(timeout):
            raise TimeoutError(f"`{self.path}` is not committed after {timeout} s")

    def await_done(self, timeout: float) -> bool:
        return self._settled.wait(timeout)

    def hurry(self) -> None:
        """Somebody waits for it."""
        self.is_awaited = True
        if not self.done and self.on_wait is not None:
            self.on_wait()

    def commit(self, checkpoint: SavedCheckpoint) -> None:
        self._checkpoint = checkpoint
        self._settled.set()

    def fail(self, error: InstrideError) -> None:
        self._error = error
        self._settled.set()

    def __repr__(self) -> str:
        state = "failed" if self._error else "done" if self.done else "pending"
        return f"<Pending {self.path} {state}>"


@contextmanager
def failing(pending: Pending, fail: Callable[[InstrideError], None]) -> Iterator[None]:
    """What is raised while a snapshot is taken is what became of it, and ends no training; but for
    what somebody asked to be refused, and what comes from outside."""
    try:
        yield
    except UnsafeStateError as error:
        pending.fail(error)
        raise
    except InstrideError as error:
        fail(error)
    except Exception as error:  # what a class does when it is pickled is its own affair
        fail(SaveFailedError.of(pending.path, error))
    except BaseException:
        pending.fail(SaveFailedError(pending.path, "it was interrupted"))
        raise
