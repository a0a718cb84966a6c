"""Who gets memory ready rests while somebody needs the machine who is waited for."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.pages import CHECK_BYTES, Asking, Pages
from tests.unit.snapshot.pretended import Driver

pytestmark = pytest.mark.torch
forking = multiprocessing.get_context("fork")

MOMENT_S = 0.05
"""Long enough for a thread to do what it is not to do."""


class Helper(threading.Thread):
    """Asks an arena for all of its pages."""

    def __init__(self, arena: Arena) -> None:
        super().__init__(daemon=True)
        self.has_asked = threading.Event()
        self._arena = arena
        self.start()

    def run(self) -> None:
        while self._arena.ask_for_next(Asking(CHECK_BYTES, self._ask)):
            pass

    def _ask(self, pages: Pages) -> bool:
        self.has_asked.set()
        return True


def test_nobody_asks_for_memory_until_the_last_one_has_what_is_waited_for(arena: Arena) -> None:
    arena.grow(2 * CHECK_BYTES)
    with arena.resting():
        with arena.resting():  # a handler of a signal, in the midst of it
            helper = Helper(arena)
        assert not helper.has_asked.wait(MOMENT_S)

    assert helper.has_asked.wait(60)
    helper.join(60)


def test_nor_locks_what_is_there(driver: Driver, arena: Arena) -> None:
    """Nothing can be launched meanwhile, such as what brings to a GPU what is restored."""
    arena.grow(2 * REGISTERED_BYTES)
    arena.populate()
    locking = threading.Thread(target=arena.register, daemon=True)
    with arena.resting():
        locking.start()
        locking.join(MOMENT_S)
        assert driver.locked == {}
    locking.join(60)
    assert arena.locked_bytes == arena.num_bytes


def test_what_fails_meanwhile_lets_them_go_on(arena: Arena) -> None:
    arena.grow(CHECK_BYTES)
    with pytest.raises(InterruptedError), arena.resting():
        raise InterruptedError

    assert Helper(arena).has_asked.wait(60)


def test_an_arena_that_is_closed_meanwhile_has_nobody_left_who_rests(arena: Arena) -> None:
    arena.grow(CHECK_BYTES)
    with arena.resting():
        helper = Helper(arena)
        arena.close()
        helper.join(60)

    assert not helper.is_alive()
    assert not helper.has_asked.is_set()


def rest_in_child(arena: Arena) -> None:
    arena.close_in_child()
    with arena.resting():
        pass


def test_a_forked_process_waits_for_no_thread_of_its_parent(arena: Arena) -> None:
    has_it, go_on = threading.Event(), threading.Event()

    def hold() -> None:  # as one of them does, in the moment of the fork
        with arena._helpers._changed:
            has_it.set()
            go_on.wait(60)

    holding = threading.Thread(target=hold)
    holding.start()
    assert has_it.wait(60)
    child = forking.Process(target=rest_in_child, args=(arena,))
    child.start()
    child.join(30)
    go_on.set()
    holding.join(60)
    try:
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
