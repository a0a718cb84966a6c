"""Memory that is locked for a GPU: what has its pages, and only while it is mapped."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.pages import Asking, Pages
from instride.system.striped import close_files
from tests.unit.snapshot.pretended import Driver

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("driver")]


@pytest.mark.parametrize("error", [None, MemoryError])
def test_pages_that_were_refused_are_never_taken_for_there(
    error: type[Exception] | None, arena: Arena, driver: Driver
) -> None:
    """Locking would ask for them once more, past the limit of a container too."""
    arena.grow(2 * REGISTERED_BYTES)

    class Watched:
        """A lock that somebody uses whenever it is free."""

        def __enter__(self) -> None:
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()
            seen.append(arena.has_unlocked())

    def refuse(pages: Pages) -> bool:
        if error is not None:
            raise error
        return False

    lock, seen = threading.Lock(), list[bool]()
    arena._lock = Watched()  # type: ignore[assignment]
    with suppress(MemoryError):
        arena.ask_for_next(Asking(2 * REGISTERED_BYTES, refuse))

    assert seen
    assert not any(seen)
    assert arena._mapped == arena._allocated == 0


def test_pages_that_there_is_no_memory_for_are_not_locked(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Locking would ask for them, past the limit of a container too."""
    arena.grow(4 * REGISTERED_BYTES)
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    arena.populate()
    arena.register()

    assert driver.locked == {}
    assert not arena.is_locked(arena.memory[:1])


def test_where_there_is_a_limit_what_is_below_it_is_locked(arena: Arena, driver: Driver) -> None:
    driver.most_pieces = 2
    arena.grow(3 * REGISTERED_BYTES)
    arena.populate()
    arena.register()

    assert arena.is_locked(arena.memory[: 2 * REGISTERED_BYTES])
    assert not arena.is_locked(arena.memory[REGISTERED_BYTES:])


def test_memory_of_before_it_grew_is_not_locked_any_more(arena: Arena, driver: Driver) -> None:
    arena.grow(REGISTERED_BYTES)
    arena.populate()
    arena.register()
    before = arena.memory

    arena.grow(2 * REGISTERED_BYTES)

    assert driver.locked == {}
    arena.populate()
    arena.register()
    assert arena.is_locked(arena.memory)
    assert not arena.is_locked(before)


def test_memory_of_an_arena_that_nobody_has_any_more_is_unlocked_before_it_is_unmapped(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is unmapped while it counts as locked poisons whatever comes to lie there."""
    was_mapped: list[bool] = []

    def unlock(address: int) -> int:
        maps = Path("/proc/self/maps").read_text().splitlines()
        bounds = [line.split()[0].split("-") for line in maps if "instride-arena" in line]
        was_mapped.append(any(int(low, 16) <= address < int(high, 16) for low, high in bounds))
        return Driver.cudaHostUnregister(driver, address)

    monkeypatch.setattr(driver, "cudaHostUnregister", unlock)
    arena = Arena()
    arena.grow(2 * REGISTERED_BYTES)
    arena.populate()
    arena.register()
    close_files(arena.fds)
    del arena

    assert was_mapped == [True, True]
    assert driver.locked == {}


def test_pages_of_a_mapping_of_before_do_not_count_as_those_of_this_one(
    arena: Arena, driver: Driver
) -> None:
    """Somebody may still be asking for them."""
    arena.grow(2 * REGISTERED_BYTES)

    def grow_meanwhile(pages: Pages) -> bool:
        arena.grow(4 * REGISTERED_BYTES)
        arena.ask_for_next(Asking(REGISTERED_BYTES, lambda pages: True))
        arena._under_way.append((2 * REGISTERED_BYTES, 3 * REGISTERED_BYTES))
        return True

    arena.ask_for_next(Asking(2 * REGISTERED_BYTES, grow_meanwhile))
    arena.register()
    assert arena.locked_bytes == REGISTERED_BYTES
