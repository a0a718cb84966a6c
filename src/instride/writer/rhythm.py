"""When threads that do not yield may work: all at the same moments, and seldom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Rhythm:
    """Lets hands begin their turns at the same moments, and pause between them.

    The threads of a training wait for each other: where one core is taken from them, the others
    stand still too. So what is taken is taken from all of them at once where that is possible; the
    pauses are long enough for a training that loses all of it one after the other."""

    def __init__(self, num_hands: int, share: float, on_beat: Callable[[], None]) -> None:
        self._share = share
        self._on_beat = on_beat
        self._barrier = threading.Barrier(num_hands, self._set_next)
        self._took_s: list[float] = []
        self._next_s = 0.0

    def pause_s(self, took_s: float) -> float:
        """Wait until all have done their turns, of which this one took so much of a core; how long
        to pause then. Raises BrokenBarrierError once one of them has ended."""
        self._took_s.append(took_s)
        self._barrier.wait()
        return self._next_s - time.monotonic()

    def _set_next(self) -> None:
        pause_s = min(sum(self._took_s) * (1 / self._share - 1), threading.TIMEOUT_MAX)
        self._next_s = time.monotonic() + pause_s
        self._took_s.clear()
        self._on_beat()

    def end(self) -> None:
        self._barrier.abort()
