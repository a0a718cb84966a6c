"""SIGTERM and SIGUSR1, heard for whoever wants to know of them.

A handler stays behind where it cannot be taken away: another one was put over it, or a thread that
may not do that was the last to leave. Nobody listens then, and it does what was done before it.
"""

from __future__ import annotations

import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Protocol

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name))
"""Windows has no SIGUSR1."""
REQUESTS = tuple(number for number in SIGNALS if number != signal.SIGTERM)
"""Those that ask for a save and for nothing else."""


class Hears(Protocol):
    """Who wants to know of signals."""

    def hear(self, number: int) -> bool:
        """Take note; False if it was heard before, and whoever sends it again means it."""
        ...


class _Handler:
    """What is called instead of what was there before."""

    def __init__(self, before: Callable[[int, FrameType | None], object] | int) -> None:
        self.before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if number in _being_told:
            self._go_on(number, frame, is_new=_being_told[number])
            return
        heard = [each.hear(number) for each in list(_listeners)]  # all of them, whoever is first
        is_new = _being_told[number] = any(heard)
        try:
            self._go_on(number, frame, is_new=is_new)
        finally:
            del _being_told[number]

    def _go_on(self, number: int, frame: FrameType | None, *, is_new: bool) -> None:
        if callable(self.before):
            self.before(number, frame)
        elif self.before == signal.SIG_DFL and not is_new:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


_listeners: weakref.WeakSet[Hears] = weakref.WeakSet()
_being_told: dict[int, bool] = {}
"""What is being handled, and whether it is new: somebody's handler between two of ours calls the
older one too."""


def listen(listener: Hears, numbers: Iterable[int] = SIGNALS) -> bool:
    """Let somebody hear signals. Only the main thread may install handlers; False elsewhere."""
    if threading.current_thread() is not threading.main_thread():
        return False
    _listeners.add(listener)
    for number in numbers:
        before = signal.getsignal(number)
        if before is not None and not isinstance(before, _Handler):  # None: somebody's in C
            signal.signal(number, _Handler(before))
    return True


def stop_listening(listener: Hears) -> None:
    _listeners.discard(listener)
    if _listeners or threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if isinstance(handler, _Handler):
            signal.signal(number, handler.before)


def _forget() -> None:
    """In a forked child: whoever ends a worker of a data loader means it."""
    _listeners.clear()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_forget)
