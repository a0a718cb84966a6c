"""Threads that compute and wait for a disk in turn, but not all of them at the same moments.

A disk is fair: what is asked of it together ends together. Threads that hash what they read or
write fall into step by that, and while all of them hash, the disk has nothing to do. So fewer may
be at the disk than there are, and one of the others is always ready to follow.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WAIT_S = 0.1
"""A thread that yields may be kept from ending for as long as it pleases others. Whoever has waited
so long goes on beside it."""


class Staggered:
    def __init__(self, num_threads: int) -> None:
        """Of so many threads, half are at the disk at a time; two, or between one and the next it
        would have nothing to do."""
        self._places = threading.Semaphore(max(2, num_threads // 2))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Around what a disk is asked for."""
        has_place = self._places.acquire(timeout=LONGEST_WAIT_S)
        try:
            yield
        finally:
            if has_place:
                self._places.release()
