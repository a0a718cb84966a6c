"""The arena: its pages are there before they are needed, in the mapping that is copied to."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from instride.snapshot import pages
from instride.snapshot.arena import LEAST_SLOTS, SPARE_BYTES, Arena
from instride.snapshot.pages import CHECK_BYTES, STEP_BYTES, Asking, Pages
from instride.snapshot.together import together
from instride.store.manifest import PIECE_BYTES
from instride.system import striped

pytestmark = pytest.mark.torch

MAPPING = re.compile(r"^([0-9a-f]+)-[0-9a-f]+ ")
RESIDENT = re.compile(r"^Rss: +(\d+) kB")


def resident_bytes(arena: Arena) -> int:
    """So much of what the arena maps now can be touched without a fault."""
    first = arena.memory.data_ptr()
    start = found_bytes = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if mapping := MAPPING.match(line):
            start = int(mapping[1], 16)
        elif first <= start < first + arena.num_bytes and (resident := RESIDENT.match(line)):
            found_bytes += int(resident[1]) << 10
    return found_bytes


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


def test_what_an_arena_holds_survives_its_growth(arena: Arena) -> None:
    arena.grow(4 * PIECE_BYTES)
    arena.memory[:8] = 7
    before = arena.memory

    arena.grow(5 * PIECE_BYTES)
    arena.memory[8] = 8

    assert arena.memory[:9].tolist() == [7] * 8 + [8]
    assert before[8] == 8  # both are the same memory


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


def test_an_arena_that_is_closed_does_not_grow_any_more() -> None:
    arena = Arena()
    arena.close()

    arena.grow(PIECE_BYTES)
    arena.populate()

    assert arena.num_bytes == 0


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


def stripes_mapped() -> int:
    """Of all arenas that there are."""
    return Path("/proc/self/maps").read_text().count("instride-arena")


def test_a_child_that_is_forked_while_it_grows_lets_go_of_it_all(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that maps stripe by stripe is not there to do so to the end."""
    is_half_mapped, go_on = threading.Event(), threading.Event()
    num_mapped, num_before = 0, stripes_mapped()
    really = striped._map

    def slowly(*what: Any) -> int:
        nonlocal num_mapped
        num_mapped += 1
        if num_mapped == 4:
            is_half_mapped.set()
            go_on.wait(60)
        return really(*what)

    monkeypatch.setattr(striped, "_map", slowly)
    growing = threading.Thread(target=arena.grow, args=(8 * CHECK_BYTES,))
    growing.start()
    assert is_half_mapped.wait(60)
    num_here = stripes_mapped() - num_before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        pid = os.fork()
    if pid == 0:
        num_in_child = stripes_mapped()  # without those of a Saver that other tests have left
        arena.close_in_child()
        os._exit(stripes_mapped() + num_here - num_in_child)
    _, status = os.waitpid(pid, 0)
    go_on.set()
    growing.join(60)

    assert num_here == 2
    assert os.waitstatus_to_exitcode(status) == 0
