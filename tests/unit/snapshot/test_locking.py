"""Memory that is locked for a GPU: what has its pages, and only while it is mapped."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import torch

from instride.snapshot import locking
from instride.snapshot.arena import LOCKING, Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.locking import LOOK_S
from instride.snapshot.pages import CHECK_BYTES, Asking, Pages
from instride.store.manifest import PIECE_BYTES
from instride.system.striped import close_files
from tests.unit.snapshot.pretended import Driver, Event

pytestmark = pytest.mark.torch

GPU = torch.device("cuda", 0)


@pytest.fixture
def arena(driver: Driver) -> Iterator[Arena]:
    """One that leaves nothing locked."""
    made = Arena()
    yield made
    made.close()
    assert driver.locked == {}


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody trains here."""
    monkeypatch.setattr(locking, "PACE_S", 0.001)
    monkeypatch.setattr(locking, "UNSEEN_PACE_S", 0.001)


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


def test_what_the_gpu_has_to_do_hides_it(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "UNSEEN_PACE_S", 600)
    monkeypatch.setattr(locking, "PACE_S", 600)
    monkeypatch.setattr(Event, "has_arrived", False)
    arena.grow(8 * REGISTERED_BYTES)
    lock_and_watch(arena)
    time.sleep(0.05)
    assert driver.locked == {}  # no step was seen: for all it knows, the next one is launched

    arena.backlog.mark()
    await_locked()

    assert arena.locked_bytes == arena.num_bytes
    assert arena.register_s == 0


def test_nothing_is_locked_once_the_gpu_has_nothing_left_to_do(
    arena: Arena, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the next step has been launched."""
    monkeypatch.setattr(locking, "UNSEEN_PACE_S", 600)
    monkeypatch.setattr(locking, "PACE_S", 600)
    monkeypatch.setattr(Event, "has_arrived", False)

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


def test_nothing_is_locked_any_more_once_it_is_not_needed(arena: Arena, driver: Driver) -> None:
    arena.grow(4 * REGISTERED_BYTES)
    arena.populate()
    arena.stop_preparing()

    arena.register()
    lock_gently(arena)

    assert driver.locked == {}
