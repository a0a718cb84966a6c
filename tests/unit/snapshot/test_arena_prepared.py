"""The pages of an arena are there before they are needed, in the mapping that is copied to."""

from __future__ import annotations

import ctypes
import os
import resource
import threading
import time
from collections.abc import Callable

import pytest

from instride.snapshot import pages
from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES, STEP_BYTES, Asking, Pages
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from tests.unit.snapshot.mapped import resident_bytes

pytestmark = pytest.mark.torch


def test_an_arena_that_grew_is_populated_from_its_beginning(arena: Arena) -> None:
    """Its first pages were there before, but not in the new mapping: each would be a fault."""
    arena.grow(4 * PIECE_BYTES)
    arena.populate()
    assert resident_bytes(arena) == 4 * PIECE_BYTES

    arena.grow(10 * PIECE_BYTES)
    arena.populate()

    assert resident_bytes(arena) == 10 * PIECE_BYTES


def test_pages_that_were_touched_can_be_written_to_without_a_fault(arena: Arena) -> None:
    arena.grow(20 * PIECE_BYTES)
    together(*[arena.touch] * 4)
    assert resident_bytes(arena) == 20 * PIECE_BYTES

    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    ctypes.memset(arena.memory.data_ptr(), 7, arena.num_bytes)
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before < 20


def test_pages_can_be_touched_while_they_are_written_to(arena: Arena) -> None:
    """A save that comes early does not wait for them."""
    arena.grow(40 * PIECE_BYTES)
    touching = [threading.Thread(target=arena.touch) for _ in range(4)]
    for thread in touching:
        thread.start()
    arena.memory.fill_(7)
    for thread in touching:
        thread.join(60)

    is_whole = bool((arena.memory == 7).all())
    assert is_whole


@pytest.mark.parametrize(
    ("num_touching", "most_bytes", "policy"),
    [(0, STEP_BYTES, os.SCHED_OTHER), (4, CHECK_BYTES, os.SCHED_BATCH)],
)
def test_an_arena_is_prepared_in_the_background(
    arena: Arena,
    num_touching: int,
    most_bytes: int,
    policy: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []
    for way in ("populate", "touch"):
        ask = getattr(pages, way)

        def noting(part: Pages, ask: Callable[[Pages], bool] = ask) -> bool:
            asked.append((part.memory.numel(), os.sched_getscheduler(0)))
            return ask(part)

        monkeypatch.setattr(pages, way, noting)
    monkeypatch.setattr("instride.snapshot.arena.POPULATING", Asking(STEP_BYTES, pages.populate))
    arena.prepare(2 * CHECK_BYTES, num_touching)
    arena.await_stopped(60)

    assert resident_bytes(arena) == 2 * CHECK_BYTES
    assert set(asked) == {(most_bytes, policy)}


def test_an_arena_that_is_prepared_again_while_it_is_keeps_to_so_many_threads(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state grows with the first steps, and each of them asks."""
    at_work: set[int] = set()
    most = 0
    touch = pages.touch

    def ask(part: Pages) -> bool:
        nonlocal most
        at_work.add(threading.get_ident())
        most = max(most, len(at_work))
        time.sleep(0.01)
        at_work.discard(threading.get_ident())
        return touch(part)

    monkeypatch.setattr(pages, "touch", ask)
    for num_bytes in (8 * CHECK_BYTES, 12 * CHECK_BYTES, 12 * CHECK_BYTES):
        arena.prepare(num_bytes, 2)
        time.sleep(0.01)
    arena.await_stopped(60)

    assert resident_bytes(arena) == 12 * CHECK_BYTES
    assert most == 2


def test_preparing_stops_at_once_when_it_is_not_needed_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arena = Arena()
    is_asked, goes_on = threading.Event(), threading.Event()

    def ask(part: Pages) -> bool:
        is_asked.set()
        return goes_on.wait(60)

    monkeypatch.setattr(pages, "touch", ask)
    arena.prepare(20 * CHECK_BYTES, 4)
    assert is_asked.wait(60)
    preparing = list(arena._helpers._threads)
    threading.Timer(0.2, goes_on.set).start()
    arena.close()

    assert arena._mapped <= 4 * CHECK_BYTES
    assert goes_on.is_set()  # it was waited for
    assert not any(thread.is_alive() for thread in preparing)
    arena.prepare(CHECK_BYTES, 4)
    assert arena._helpers._threads == []
