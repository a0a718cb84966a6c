"""Those who lock memory for a GPU, and those who ask for its pages, as tests want them."""

from __future__ import annotations

import threading
import time

import torch

from instride.snapshot.arena import LOCKING, Arena
from instride.snapshot.pages import Asking, Pages
from tests.unit.snapshot.pretended import Driver

GPU = torch.device("cuda", 0)


class Slow:
    """Somebody else who has asked for pages, and gets them when they are told to."""

    def __init__(self, arena: Arena, num_bytes: int) -> None:
        self._is_asking, self._is_there = threading.Event(), threading.Event()
        asking = Asking(num_bytes, self._ask)
        self._thread = threading.Thread(target=arena.ask_for_next, args=(asking,))
        self._thread.start()
        assert self._is_asking.wait(60)

    def _ask(self, pages: Pages) -> bool:
        self._is_asking.set()
        return self._is_there.wait(60)

    def get_them(self) -> None:
        self._is_there.set()
        self._thread.join(60)


def lock_gently(arena: Arena, gpu: torch.device = GPU) -> None:
    """To its end, in a thread of its own: it will not be scheduled as others are."""
    arena.lock(gpu)
    await_locked()


def await_locked() -> None:
    for thread in threading.enumerate():
        if thread.name == LOCKING:
            thread.join(60)


def lock_and_watch(arena: Arena) -> None:
    """Once its pages are there, until somebody looks out for steps."""
    arena.populate()
    arena.lock(GPU)
    deadline_s = time.monotonic() + 60
    while arena.backlog._watched is None and time.monotonic() < deadline_s:
        time.sleep(0.001)


def await_pieces(driver: Driver, number: int) -> None:
    deadline_s = time.monotonic() + 60
    while len(driver.locked) < number and time.monotonic() < deadline_s:
        time.sleep(0.001)
