"""Threads that compute and wait for a disk in turn, but not all of them at the same moments.

A disk is fair: what is asked of it together ends together. Threads that hash what they read or
write fall into step by that, and while all of them hash, the disk has nothing to do. So fewer may
be at the disk than there are, and one of the others is always ready to follow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from instride.system.cores import usable_cores

FEWEST_AT_DISK = 2
"""At a time: with one, it has nothing to do between two writes. Of four threads on two cores, two
at the disk wrote 2 GB in 0.8 s where four took 1.0, and read them in 0.7 where four took 0.8 ("How
many at the disk" in bench/results/save.md)."""
FEWEST_THREADS = 4
MOST_THREADS = 8
"""Half of them hash while the other half is at the disk: with four, a disk that writes 2.6 GB/s was
idle for a seventh of the time (bench/results/save-gpu.md)."""
LONGEST_WAIT_S = 0.1


def most_threads() -> int:
    """By the cores, but enough of them for a disk also where there are few: on two cores, four are
    no slower than two, and most often faster (bench/results/save.md)."""
    return min(MOST_THREADS, max(FEWEST_THREADS, usable_cores()))


class Staggered:
    """Around what a disk is asked for in one work.

    Who has a place may yield, and be kept from giving it back for as long as it pleases others: in
    its stead somebody who has waited as long gets a place more. That one is taken away again when
    the other comes back, so that a disk that stood still for a moment is asked for no more than
    before.
    """

    def __init__(self, num_threads: int) -> None:
        """Of so many threads, half are at the disk at a time."""
        self._num_free = max(FEWEST_AT_DISK, num_threads // 2)
        self._num_added = 0
        self._since_s: list[float] = []
        """When those that have a place got it."""
        self._changed = threading.Condition()

    @contextmanager
    def turn(self) -> Iterator[None]:
        since_s = self._take()
        try:
            yield
        finally:
            self._give_back(since_s)

    def _take(self) -> float:
        with self._changed:
            while not self._changed.wait_for(lambda: self._num_free > 0, LONGEST_WAIT_S):
                if self._num_overdue() > self._num_added:
                    self._num_added += 1
                    self._num_free += 1
            self._num_free -= 1
            self._since_s.append(time.monotonic())
            return self._since_s[-1]

    def _num_overdue(self) -> int:
        limit_s = time.monotonic() - LONGEST_WAIT_S
        return sum(since_s <= limit_s for since_s in self._since_s)

    def _give_back(self, since_s: float) -> None:
        with self._changed:
            self._since_s.remove(since_s)
            if self._num_added > self._num_overdue():
                self._num_added -= 1
            else:
                self._num_free += 1
                self._changed.notify()
