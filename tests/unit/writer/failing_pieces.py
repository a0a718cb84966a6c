"""Work of which each thread does a piece, and one of them fails."""

from __future__ import annotations

import threading

from instride.store.staggering import most_threads


class Pieces:
    """Work in which each thread does one piece, and one of them fails."""

    def __init__(self, failing: int) -> None:
        self._failing = failing
        self._together = threading.Barrier(most_threads())
        self._order = threading.Lock()
        self._threads: list[int] = []

    def do_one(self) -> bool:
        with self._order:
            if threading.get_ident() in self._threads:
                return False
            place = len(self._threads)
            self._threads.append(threading.get_ident())
        self._together.wait(60)  # so that it is another thread each time
        if place == self._failing:
            raise OSError(28, "No space left on device")
        return True
