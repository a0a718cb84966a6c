"""Memory that is locked for a GPU beside training: when nobody misses what cannot be launched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from instride.snapshot import locking
from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.locking import LOOK_S
from instride.snapshot.pages import CHECK_BYTES
from instride.store.manifest import PIECE_BYTES
from tests.unit.snapshot.lockers import (
    GPU,
    Slow,
    await_locked,
    await_pieces,
    lock_and_watch,
    lock_gently,
)
from tests.unit.snapshot.pretended import Driver, Event

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("driver")]


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody trains here."""
    monkeypatch.setattr(locking, "PACE_S", 0.001)
    monkeypatch.setattr(locking, "UNSEEN_PACE_S", 0.001)


@pytest.fixture
def never_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only while the GPU has something to do, which it has as long as nobody says otherwise."""
    monkeypatch.setattr(locking, "UNSEEN_PACE_S", 600)
    monkeypatch.setattr(locking, "PACE_S", 600)
    monkeypatch.setattr(Event, "has_arrived", False)


def test_it_is_locked_beside_training_in_pieces(arena: Arena, driver: Driver) -> None:
    arena.grow(2 * REGISTERED_BYTES + PIECE_BYTES)

    lock_gently(arena)

    assert list(driver.locked.values()) == [REGISTERED_BYTES, REGISTERED_BYTES, PIECE_BYTES]
    assert arena.locked_bytes == arena.num_bytes
    assert arena.is_locked(arena.memory[REGISTERED_BYTES:])


def test_it_is_locked_while_pages_are_still_asked_for(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.grow(2 * CHECK_BYTES)
    behind: list[int] = []

    def lock(*piece: int) -> int:
        behind.append(arena._mapped - arena.locked_bytes)
        return Driver.cudaHostRegister(driver, *piece)

    monkeypatch.setattr(driver, "cudaHostRegister", lock)
    lock_gently(arena)

    assert behind == [n * REGISTERED_BYTES for n in (4, 3, 2, 1)] * 2
    assert arena.locked_bytes == arena.num_bytes


def test_pages_that_others_asked_for_are_locked_once_they_are_there(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Locking would wait for them, and nothing could be launched meanwhile."""
    arena.grow(4 * REGISTERED_BYTES)
    other = Slow(arena, 2 * REGISTERED_BYTES)
    arena.populate()
    arena.register()
    assert arena.locked_bytes == 0

    looks = 0

    def look(seen: Arena) -> bool:
        nonlocal looks
        looks += 1
        return bool(seen._under_way)

    monkeypatch.setattr(Arena, "is_asked_for", look)
    arena.lock(GPU)
    time.sleep(0.1)
    assert 0 < looks <= 0.1 / LOOK_S + 1  # and not as often as it can
    other.get_them()
    await_locked()
    assert arena.locked_bytes == arena.num_bytes


def test_pages_that_come_between_two_looks_are_locked(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were not there at the first, and nobody was asking for any at the second."""
    arena.grow(4 * REGISTERED_BYTES)
    other = Slow(arena, 4 * REGISTERED_BYTES)

    def look(seen: Arena) -> bool:
        other.get_them()
        return bool(seen._under_way)

    monkeypatch.setattr(Arena, "is_asked_for", look)
    lock_gently(arena)

    assert arena.locked_bytes == arena.num_bytes


@pytest.mark.usefixtures("never_by_itself")
def test_what_the_gpu_has_to_do_hides_it(arena: Arena, driver: Driver) -> None:
    arena.grow(8 * REGISTERED_BYTES)
    lock_and_watch(arena)
    time.sleep(0.05)
    assert driver.locked == {}  # no step was seen: for all it knows, the next one is launched

    arena.backlog.mark()
    await_locked()

    assert arena.locked_bytes == arena.num_bytes
    assert arena.register_s == 0


@pytest.mark.usefixtures("never_by_itself")
def test_nothing_is_locked_once_the_gpu_has_nothing_left_to_do(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the next step has been launched."""

    def lock(*piece: int) -> int:
        if len(driver.locked) == 2:
            monkeypatch.setattr(Event, "has_arrived", True)
        return Driver.cudaHostRegister(driver, *piece)

    monkeypatch.setattr(driver, "cudaHostRegister", lock)
    arena.grow(8 * REGISTERED_BYTES)
    lock_and_watch(arena)
    arena.backlog.mark()
    await_pieces(driver, 3)
    time.sleep(0.05)
    assert len(driver.locked) == 3
    felt_s = arena.register_s
    assert felt_s > 0  # that it ended before the last piece was locked

    monkeypatch.setattr(Event, "has_arrived", False)
    arena.backlog.mark()
    await_locked()
    assert arena.locked_bytes == arena.num_bytes
    assert arena.register_s == felt_s


def test_without_steps_to_hide_behind_it_is_locked_all_the_same(
    arena: Arena, driver: Driver
) -> None:
    """Slowly; and whoever asks is told what that may have cost."""
    arena.grow(4 * REGISTERED_BYTES)
    lock_gently(arena)

    assert arena.locked_bytes == arena.num_bytes
    assert arena.register_s > 0


def test_a_forked_child_marks_no_steps(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that wants to know is not there, and CUDA neither."""
    arena = Arena()
    with arena.backlog.watched(GPU):
        arena.close_in_child()
        monkeypatch.setattr(Event, "record", lambda self: pytest.fail("a step was marked"))
        arena.backlog.mark()


def test_a_driver_that_refuses_is_not_asked_again_and_again(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.most_pieces = 0
    asked: list[int] = []

    def refuse(*piece: int) -> int:
        asked.append(piece[0])
        return Driver.cudaHostRegister(driver, *piece)

    monkeypatch.setattr(driver, "cudaHostRegister", refuse)
    arena.grow(3 * REGISTERED_BYTES)
    lock_gently(arena)
    arena.register()

    assert len(asked) == 1
    assert arena._mapped == arena.num_bytes  # it is there for what comes another way

    driver.most_pieces = 3  # memory was short just then
    lock_gently(arena)
    assert arena.locked_bytes == arena.num_bytes


def test_threads_that_could_lock_nothing_are_forgotten(arena: Arena, driver: Driver) -> None:
    """Each save tries again, as long as it finds no room on the device."""
    driver.most_pieces = 0
    arena.grow(REGISTERED_BYTES)
    for _ in range(20):
        lock_gently(arena)

    assert len(arena._helpers._threads) <= 1


def test_it_is_locked_and_let_go_by_a_device_that_is_used_anyway(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread begins at the first one, and whatever it calls there takes half a gigabyte."""
    current = [0]
    used: list[int] = []

    @contextmanager
    def device(which: torch.device | int) -> Iterator[None]:
        current.append(which if isinstance(which, int) else which.index)
        yield
        current.pop()

    def note() -> Driver:
        used.append(current[-1])
        return driver

    monkeypatch.setattr(torch.cuda, "device", device)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current[-1])
    monkeypatch.setattr(torch.cuda, "cudart", note)
    arena.grow(2 * REGISTERED_BYTES)
    lock_gently(arena, torch.device("cuda", 3))
    arena.grow(4 * REGISTERED_BYTES)  # lets go of what was locked

    assert used == [3] * 4


def test_nothing_is_locked_any_more_once_it_is_not_needed(arena: Arena, driver: Driver) -> None:
    arena.grow(4 * REGISTERED_BYTES)
    arena.populate()
    arena.stop_preparing()

    arena.register()
    lock_gently(arena)

    assert driver.locked == {}
