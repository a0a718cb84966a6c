"""Threads that get memory ready, all of which must be over before the program is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Helpers:
    """Those of one arena. A program that ends while one of its threads is inside of torch ends by a
    signal, and not as it wanted to."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self.is_stopping = False
        """They look at it between two pieces of their work."""
        self._num_resting = 0
        """How many want them to rest."""
        # The thread that trains may be interrupted by a handler that comes here again.
        self._changed = threading.Condition(threading.RLock())

    def start(self, thread: threading.Thread) -> None:
        if self.is_stopping:
            return
        # Where nothing may be locked, every save tries again: those that are over must not add up.
        self._threads = [each for each in self._threads if each.ident is None or each.is_alive()]
        self._threads.append(thread)
        try:
            thread.start()
        except RuntimeError:  # a program that is ending starts no threads any more
            self._threads.remove(thread)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Meanwhile they begin no other piece: somebody needs the machine who is waited for."""
        with self._changed:
            self._num_resting += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_resting -= 1
                self._changed.notify_all()

    def await_turn(self) -> None:
        """By one of them, before each piece: as long as they are to rest."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_stopping or not self._num_resting)

    def stop(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self.is_stopping = True
            self._changed.notify_all()

    def await_stopped(self, timeout_s: float) -> None:
        """Until all have seen that they are to stop; some may not in time."""
        deadline_s = time.monotonic() + timeout_s
        threads, self._threads = self._threads, []
        for thread in threads:
            if thread is not threading.current_thread() and thread.is_alive():
                thread.join(max(0.0, deadline_s - time.monotonic()))
