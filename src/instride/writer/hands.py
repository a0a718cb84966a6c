"""Threads that yield to everybody, and help for them once somebody waits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from instride.system.priority import make_thread_idle

MOST_THREADS = 4


class _Hands:
    """Threads that do pieces of one work until none is left, or one of them fails."""

    def __init__(self, do_one: Callable[[], bool]) -> None:
        self._do_one = do_one
        self._threads: list[threading.Thread] = []
        self._errors: list[BaseException] = []

    def start(self, *, idle: bool) -> None:
        for _ in range(min(MOST_THREADS, os.cpu_count() or 1)):
            thread = threading.Thread(target=self._work, args=(idle,), daemon=True)
            thread.start()
            self._threads.append(thread)  # behind its start: whoever waits may join at once

    def wait(self) -> None:
        for thread in self._threads:  # may grow meanwhile
            thread.join()
        if self._errors:
            raise self._errors[0]

    def _work(self, idle: bool) -> None:
        if idle:
            make_thread_idle()
        try:
            while not self._errors and self._do_one():
                pass
        except BaseException as error:  # raised again by wait(), whatever it is
            self._errors.append(error)


class Crew:
    """Does work piece by piece, yielding as long as nobody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hands: _Hands | None = None
        self._is_waited_for = False

    def run(self, do_one: Callable[[], bool]) -> None:
        """Call `do_one` from several threads until it returns False; raise what any of them
        raises."""
        with self._lock:
            self._hands = hands = _Hands(do_one)
            hands.start(idle=not self._is_waited_for)
        hands.wait()

    def hurry(self) -> None:
        """Add hands that do not yield, now and for what comes, until `relax`.

        A thread cannot leave the idle class by itself: that is why there are new ones.
        """
        with self._lock:
            if not self._is_waited_for and self._hands is not None:
                self._hands.start(idle=False)
            self._is_waited_for = True

    def relax(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._is_waited_for = False
