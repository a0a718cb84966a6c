"""Fewer threads at the disk than there are, and none that waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from instride.store import staggering
from instride.store.staggering import FEWEST_AT_DISK, Staggered, most_threads


def ask(staggered: Staggered, num_threads: int) -> list[int]:
    """Let so many come at once: how many each of them found there, with itself."""
    lock, begun = threading.Lock(), threading.Barrier(num_threads)
    here: list[int] = []
    seen: list[int] = []

    def come(number: int) -> None:
        begun.wait(60)
        with staggered.turn():
            with lock:
                here.append(number)
                seen.append(len(here))
            time.sleep(0.02)  # for the others to come, if they are let
            with lock:
                here.remove(number)

    with ThreadPoolExecutor(num_threads) as pool:
        list(pool.map(come, range(num_threads)))
    return seen


def stand(staggered: Staggered, num_threads: int, until: Callable[[], object]) -> None:
    """Let so many have a place until something was done."""
    may_end, all_there = threading.Event(), threading.Barrier(num_threads + 1)

    def have_a_place() -> None:
        with staggered.turn():
            all_there.wait(60)
            assert may_end.wait(60)

    with ThreadPoolExecutor(num_threads) as pool:
        standing = [pool.submit(have_a_place) for _ in range(num_threads)]
        all_there.wait(60)
        until()
        may_end.set()
        for each in standing:
            each.result(60)


@pytest.mark.parametrize(("num_threads", "most"), [(1, 2), (4, 2), (7, 3), (8, 4), (13, 6)])
def test_half_of_the_threads_are_at_the_disk_and_all_get_there(
    num_threads: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 60.0)
    seen = ask(Staggered(num_threads), 2 * most)
    assert len(seen) == 2 * most
    assert max(seen) == most


@pytest.mark.parametrize(("num_cores", "num_at_disk"), [(1, 2), (2, 2), (4, 2), (8, 4), (96, 4)])
def test_on_few_cores_too_some_hash_while_others_are_at_the_disk(
    num_cores: int, num_at_disk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staggering, "usable_cores", lambda: num_cores)
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 60.0)
    num_threads = most_threads()

    assert num_threads == 2 * num_at_disk
    assert max(ask(Staggered(num_threads), num_threads)) == num_at_disk


def test_who_has_waited_long_enough_goes_on_beside_those_that_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nobody waits after that: a second for each ten pieces would be the end of haste."""
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 0.2)
    staggered = Staggered(FEWEST_AT_DISK)
    took_s = []

    def hurry() -> None:
        start_s = time.monotonic()
        for _ in range(500):
            with staggered.turn():
                pass
        took_s.append(time.monotonic() - start_s)

    stand(staggered, FEWEST_AT_DISK, until=hurry)
    assert 0.2 <= took_s[0] < 50.0  # once, and not five hundred times


def test_a_disk_that_stood_still_is_asked_for_no_more_than_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 0.2)
    staggered = Staggered(FEWEST_AT_DISK)
    stand(staggered, FEWEST_AT_DISK, until=lambda: ask(staggered, 2 * FEWEST_AT_DISK))
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 60.0)
    assert max(ask(staggered, 2 * FEWEST_AT_DISK)) == FEWEST_AT_DISK


def test_an_error_gives_the_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 60.0)
    staggered = Staggered(FEWEST_AT_DISK)
    for _ in range(FEWEST_AT_DISK + 1):  # the last one would wait for a minute
        with pytest.raises(OSError, match="No space"), staggered.turn():
            raise OSError(28, "No space left on device")
