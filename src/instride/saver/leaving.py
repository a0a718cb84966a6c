"""What happens to an engine when its process forks or ends, or nobody has its saver any more."""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import torch

from instride.snapshot.runtime import gpus_in_use, letting_others_capture


class Closable(Protocol):
    """What has to be closed at the end."""

    def close(self) -> object: ...


class Leaving(Protocol):
    """What has to be let go of in a child."""

    def let_go(self) -> None: ...


def let_go_in_children(engine: Leaving) -> None:
    reference = weakref.ref(engine)

    def let_go() -> None:
        alive = reference()
        if alive is not None:
            alive.let_go()

    if hasattr(os, "register_at_fork"):  # Windows does not fork
        os.register_at_fork(after_in_child=let_go)


def close_at_exit(engine: Closable) -> None:
    reference = weakref.ref(engine)
    atexit.register(_close, reference)
    if multiprocessing.parent_process() is not None:
        # Such a process ends without what `atexit` knows.
        multiprocessing.util.Finalize(None, _close, args=(reference,), exitpriority=100)


def is_exiting() -> bool:
    """Whether the program is over but for what it does at the end: what is registered to be called
    there now is not called any more."""
    return not threading.main_thread().is_alive()


_dropped: dict[Path, threading.Thread] = {}
"""Threads that close what was dropped, by the store that it holds until then."""


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """Calls a method as long as somebody else holds its object."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        alive = reference()
        if alive is not None:
            alive()

    return call


def close_when_dropped(
    owner: object, engine: Closable, directory: Path, stop: Callable[[], None]
) -> None:
    """Nothing of the engine, nor what is stopped first, may hold the owner."""
    weakref.finalize(owner, _close_aside, engine, directory, stop, os.getpid()).atexit = False


def _close_aside(engine: Closable, directory: Path, stop: Callable[[], None], pid: int) -> None:
    """In a thread: objects are collected in any thread, in those of the engine too, and training
    does not wait for a disk."""
    stop()
    if os.getpid() == pid and not is_exiting():
        thread = threading.Thread(target=_close_here, args=(engine,), daemon=True)
        _dropped[directory] = thread
        try:
            thread.start()
        except RuntimeError:  # no more threads just now: it is closed when the program ends
            _dropped.pop(directory, None)


def _close_here(engine: Closable) -> None:
    with ExitStack() as guest:
        for gpu in sorted(gpus_in_use(), key=str)[:1]:
            guest.enter_context(torch.cuda.device(gpu))
            # What is locked is unlocked, whatever training is about.
            guest.enter_context(letting_others_capture())
        engine.close()


def await_dropped(directory: Path) -> None:
    """Wait for a saver that was dropped to release its store."""
    thread = _dropped.pop(directory, None)
    if thread is not None:
        thread.join()


def _close(reference: weakref.ref[Closable]) -> None:
    alive = reference()
    if alive is not None:
        alive.close()
