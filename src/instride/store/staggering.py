"""Threads that compute and wait for a disk in turn, but not all of them at the same moments.

A disk is fair: what is asked of it together ends together. Threads that hash what they read or
write fall into step by that, and while all of them hash, the disk has nothing to do. So fewer may
be at the disk than there are, and one of the others is always ready to follow.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

FEWEST = 4
"""At the disk at a time: with fewer, it may be faster than what is asked of it."""
LONGEST_WAIT_S = 0.1


class Staggered:
    """Around what a disk is asked for in one work."""

    def __init__(self, num_threads: int) -> None:
        """Of so many threads, half are at the disk at a time."""
        self._places = threading.Semaphore(max(FEWEST, num_threads // 2))
        self._is_given_up = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        has_place = not self._is_given_up and self._places.acquire(timeout=LONGEST_WAIT_S)
        if not has_place:
            # A disk that is so slow is never idle. Or who has a place yields, and is kept from
            # giving it back for as long as it pleases others: who is in a hurry goes on beside it.
            self._is_given_up = True
        try:
            yield
        finally:
            if has_place:
                self._places.release()
