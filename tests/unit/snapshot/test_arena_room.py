"""How much of an arena may be used: its budget, and what memory the machine has left."""

from __future__ import annotations

import ctypes
import errno

import pytest

from instride.snapshot import pages
from instride.snapshot.arena import LEAST_SLOTS, SPARE_BYTES, Arena
from instride.snapshot.pages import CHECK_BYTES, STEP_BYTES, Asking, Pages
from instride.store.manifest import PIECE_BYTES
from tests.unit.snapshot.mapped import resident_bytes

pytestmark = pytest.mark.torch


def test_what_was_asked_for_and_is_not_there_yet_is_not_given_away_twice(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine does not show it as taken before it is."""
    arena.grow(64 * PIECE_BYTES)
    free_bytes = SPARE_BYTES + CHECK_BYTES + 8 * PIECE_BYTES
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: free_bytes)
    seen: list[int] = []

    def ask(part: Pages) -> bool:
        seen.append(arena.usable_bytes(64 * PIECE_BYTES))
        return True

    arena.ask_for_next(Asking(CHECK_BYTES, ask))
    assert seen == [CHECK_BYTES + 8 * PIECE_BYTES]


@pytest.mark.parametrize(("code", "num_there"), [(errno.EFAULT, 12), (errno.EINVAL, 40)])
def test_pages_that_cannot_be_had_do_not_count_as_there(
    arena: Arena, code: int, num_there: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system that never promises more than there is says no, and writing to them would be fatal;
    an old one does not know the question."""

    def madvise(address: ctypes.c_void_p, num_bytes: ctypes.c_size_t, advice: int) -> int:
        ctypes.set_errno(code)
        start = (address.value or 0) - arena.memory.data_ptr()
        return -1 if start >= 12 * PIECE_BYTES else 0

    monkeypatch.setattr(pages, "must_be_there", lambda: True)
    monkeypatch.setattr(pages._libc, "madvise", madvise)
    arena.grow(40 * PIECE_BYTES)
    arena.touch()
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    assert arena._mapped == num_there * PIECE_BYTES
    assert arena.usable_bytes(40 * PIECE_BYTES) == num_there * PIECE_BYTES


def test_what_a_snapshot_was_promised_meanwhile_stays_its_own(arena: Arena) -> None:
    arena.grow(40 * PIECE_BYTES)

    def refuse(part: Pages) -> bool:
        arena.usable_bytes(40 * PIECE_BYTES)
        return False

    assert not arena.ask_for_next(Asking(CHECK_BYTES, refuse))
    assert arena._allocated == 40 * PIECE_BYTES
    arena._mapped = 0
    assert not arena.ask_for_next(Asking(CHECK_BYTES, lambda part: False))  # mapped anew
    assert arena._allocated == 40 * PIECE_BYTES


def test_the_budget_is_looked_at_wherever_somebody_has_begun(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of two sizes share what there is to ask for."""
    arena.grow(3 * CHECK_BYTES)
    arena.ask_for_next(Asking(STEP_BYTES, lambda part: True))
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    arena.touch()

    assert arena._mapped == CHECK_BYTES


def test_an_arena_never_shrinks_and_stays_within_its_budget() -> None:
    arena = Arena(budget_bytes=6 * PIECE_BYTES + 1)
    sizes = []
    for wanted in (1, 5 * PIECE_BYTES, PIECE_BYTES, 100 * PIECE_BYTES):
        arena.grow(wanted)
        sizes.append(arena.num_bytes // PIECE_BYTES)
    arena.close()

    assert sizes == [1, 5, 5, 6]


def test_the_smallest_arena_is_larger_than_a_budget_that_nothing_fits_into() -> None:
    arena = Arena(budget_bytes=1)
    arena.grow(100 * PIECE_BYTES)
    assert arena.num_bytes == LEAST_SLOTS * PIECE_BYTES
    arena.close()


def test_memory_that_the_machine_does_not_have_is_not_asked_for(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.grow(4 * PIECE_BYTES)
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    arena.populate()
    assert resident_bytes(arena) == 0
    arena.grow(100 * PIECE_BYTES)
    assert arena.num_bytes == 4 * PIECE_BYTES


def test_pages_that_are_not_there_are_only_used_while_there_is_memory_for_them(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.grow(40 * PIECE_BYTES)
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    assert arena.usable_bytes(40 * PIECE_BYTES) == LEAST_SLOTS * PIECE_BYTES
    free_bytes = SPARE_BYTES + 6 * PIECE_BYTES
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: free_bytes)
    assert arena.usable_bytes(40 * PIECE_BYTES) == (LEAST_SLOTS + 6) * PIECE_BYTES


def test_pages_that_are_there_may_be_used_however_little_memory_is_left(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena.grow(40 * PIECE_BYTES)
    arena.populate()
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 0)

    assert arena.usable_bytes(39 * PIECE_BYTES + 1) == 40 * PIECE_BYTES
