"""Who takes a snapshot, and who closes: one at a time.

A signal handler may interrupt the very thread that is at it, at any point, and must not wait for
itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

R = TypeVar("R")


class Turns:
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.is_taken = False
        """Somebody is in the middle of a snapshot."""
        self._closer: int | None = None
        """The thread that closes."""
        self._is_over = threading.Event()

    @property
    def is_closed(self) -> bool:
        return self._closer is not None

    @contextmanager
    def take(self) -> Iterator[bool]:
        """Wait for the turn of another thread to end; False inside of one's own."""
        with self._lock:
            if self.is_taken:
                yield False
                return
            self.is_taken = True
            try:
                yield True
            finally:
                self.is_taken = False

    def close(self, closing: Callable[[], R]) -> R | None:
        """Close once: whoever comes second waits for the first, and gets nothing."""
        me = threading.get_ident()
        with self._lock:  # what another thread is taking is taken to its end
            is_first, self._closer = self._closer is None, self._closer or me
        if is_first:
            try:
                return closing()
            finally:
                self._is_over.set()
        if self._closer != me:  # else a handler interrupts us while we do just that
            self._is_over.wait()
        return None
