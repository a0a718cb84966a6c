"""Memory that is locked for a GPU: what has its pages, and only while it is mapped."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from instride.snapshot.arena import LOCKING, REGISTERED_BYTES, Arena
from instride.store.manifest import PIECE_BYTES
from tests.unit.snapshot.pretended import Driver

pytestmark = pytest.mark.torch


@pytest.fixture
def arena(driver: Driver) -> Iterator[Arena]:
    """One that leaves nothing locked."""
    made = Arena()
    yield made
    made.close()
    assert driver.locked == {}


def test_it_is_locked_beside_training_in_pieces(arena: Arena, driver: Driver) -> None:
    arena.grow(2 * REGISTERED_BYTES + PIECE_BYTES)

    arena.lock()
    for thread in threading.enumerate():
        if thread.name == LOCKING:
            thread.join(60)

    assert list(driver.locked.values()) == [REGISTERED_BYTES, REGISTERED_BYTES, PIECE_BYTES]
    assert arena.locked_bytes == arena.num_bytes
    assert arena.is_locked(arena.memory[REGISTERED_BYTES:])


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
