"""Threads that get memory ready, all of which must be over before the program is."""

from __future__ import annotations

import threading
import time


class Helpers:
    """Those of one arena. A program that ends while one of its threads is inside of torch ends by a
    signal, and not as it wanted to."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self.is_stopping = False
        """They look at it between two pieces of their work."""

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

    def await_stopped(self, timeout_s: float) -> None:
        """Until all have seen that they are to stop; some may not in time."""
        deadline_s = time.monotonic() + timeout_s
        threads, self._threads = self._threads, []
        for thread in threads:
            if thread is not threading.current_thread() and thread.is_alive():
                thread.join(max(0.0, deadline_s - time.monotonic()))
