"""Threads that yield to everybody, and help for them once somebody waits."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from instride.governor.governing import Governor
from instride.governor.pace import Pace
from instride.governor.yielding import yield_thread
from instride.store.manifest import PIECE_BYTES

MOST_THREADS = 4


def most_threads() -> int:
    return min(MOST_THREADS, os.cpu_count() or 1)


class _Hands:
    """Threads that do pieces of one work until none is left, or one of them fails."""

    def __init__(self, do_one: Callable[[], bool], pace: Pace) -> None:
        self._do_one = do_one
        self._pace = pace
        self._errors: list[BaseException] = []
        self._num_at_work = 0
        self._is_over = False
        self._changed = threading.Condition()

    def start(self, *, idle: bool) -> None:
        for _ in range(most_threads()):
            self._start(self._work_idly if idle else self._work)

    def start_steady(self, share: float) -> None:
        """One hand more, that takes so much of a core whether or not others leave any."""
        self._start(lambda: self._work_steadily(share))

    def _start(self, work: Callable[[], None]) -> None:
        # Counted before it runs: it may have a piece in hand before anybody else knows of it.
        self._count(1)
        try:
            threading.Thread(target=self._until_over, args=(work,), daemon=True).start()
        except BaseException:
            self._count(-1)
            raise

    def _count(self, change: int) -> None:
        with self._changed:
            self._num_at_work += change
            self._changed.notify_all()

    def wait(self) -> None:
        """Until no hand has a piece any more, those that came later included."""
        with self._changed:
            self._changed.wait_for(lambda: self._num_at_work == 0)
        if self._errors:
            raise self._errors[0]

    def _until_over(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # raised again by wait(), whatever it is
            self._errors.append(error)
        finally:
            self._is_over = True
            self._count(-1)

    def _work(self) -> None:
        while not self._errors and self._take_turn():
            pass

    def _work_idly(self) -> None:
        yield_thread()
        self._work()

    def _work_steadily(self, share: float) -> None:
        while not self._is_over:
            begun_s = time.thread_time()
            if not self._take_turn(is_extra=True):
                return
            pause_s = (time.thread_time() - begun_s) * (1 / share - 1)
            with self._changed:
                self._changed.wait_for(lambda: self._is_over, min(pause_s, threading.TIMEOUT_MAX))

    def _take_turn(self, *, is_extra: bool = False) -> bool:
        with self._pace.turn(PIECE_BYTES, is_extra=is_extra):
            return self._do_one()


class Crew:
    """Does work piece by piece, yielding as long as nobody waits for it.

    Threads that yield get next to nothing on a machine that is never idle. One more, which does
    not, takes `steady_share` of a core: little enough for nobody to feel, and the work ends.
    """

    def __init__(
        self,
        pace: Pace | None = None,
        governor: Governor | None = None,
        steady_share: float | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._hands: _Hands | None = None
        self._is_waited_for = False
        self._is_for_good = False
        self._pace = pace or Pace()
        self._governor = governor
        self._steady_share = steady_share
        self.deadline_s: float | None = None
        """When what is being done should be done, by the monotonic clock."""

    @property
    def is_steady(self) -> bool:
        """Whether all work comes to its end, also where nobody leaves it anything."""
        return self._steady_share is not None

    def run(
        self, do_one: Callable[[], bool], *, num_bytes: int = 0, is_awaited: bool = False
    ) -> None:
        """Call `do_one` from several threads until it returns False; raise what any of them
        raises. What the training itself waits for is not governed."""
        governor = None if is_awaited else self._governor
        if governor is not None:
            governor.begin(num_bytes, self.deadline_s)
        try:
            self._run(do_one)
        finally:
            if governor is not None:
                governor.end()

    def _run(self, do_one: Callable[[], bool]) -> None:
        with self._lock:
            self._hands = hands = _Hands(do_one, self._pace)
            hands.start(idle=not self._is_waited_for)
            if self._steady_share is not None and not self._is_waited_for:
                hands.start_steady(self._steady_share)
        hands.wait()

    def hurry(self, *, for_good: bool = False) -> None:
        """Add hands that do not yield, now and for what comes, until `relax`, or for good.

        A thread cannot leave the idle class by itself: that is why there are new ones.
        """
        with self._lock:
            self._is_for_good |= for_good
            if not self._is_waited_for and self._hands is not None:
                self._hands.start(idle=False)
            self._is_waited_for = True
            self._pace.hurry()

    def relax(self) -> None:
        """Nobody waits any more, unless it is for the end of all."""
        with self._lock:
            if not self._is_for_good:
                self._is_waited_for = False
                self._pace.relax()
