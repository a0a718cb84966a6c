"""How much of an image is in the arena, from its beginning on, while the rest is on its way."""

from __future__ import annotations

import threading
from collections.abc import Callable

Telling = Callable[[int], None]
"""Takes a place in the image: everything before it is there."""


def tell_nobody(place: int) -> None:
    """Where nobody begins before all is there."""


class InOrder:
    """Things that were numbered when they left, and arrive in any order."""

    def __init__(self, tell: Telling) -> None:
        self._tell = tell
        self._ends: dict[int, int] = {}
        self._num_before = 0
        self._lock = threading.Lock()

    def arrived(self, number: int, end: int) -> None:
        """One of them is there, and ends at a place; all before it may not be."""
        with self._lock:
            self._ends[number] = end
            place = None
            while self._num_before in self._ends:
                place = self._ends.pop(self._num_before)
                self._num_before += 1
            if place is not None:
                self._tell(place)


class Nearest:
    """Several devices bring their own part of an image each, one behind the other in it: all is
    there up to the nearest place that one of them has come to, of those that are not done."""

    def __init__(self, tell: Telling, num_devices: int) -> None:
        self._tell = tell
        self._places = dict.fromkeys(range(num_devices), 0)
        self._lock = threading.Lock()

    def come_to(self, number: int, place: int) -> None:
        """One of them has."""
        with self._lock:
            before = min(self._places.values())
            self._places[number] = place
            self._tell_if_behind(before)

    def done(self, number: int) -> None:
        """All of one is there."""
        with self._lock:
            before = self._places.pop(number)
            self._tell_if_behind(before)

    def _tell_if_behind(self, before: int) -> None:
        nearest = min(self._places.values(), default=before)
        if nearest > before:
            self._tell(nearest)
