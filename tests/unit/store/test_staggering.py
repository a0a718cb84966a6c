"""Fewer threads at the disk than there are, and none that waits for ever."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from instride.store import staggering
from instride.store.staggering import Staggered


@pytest.mark.parametrize(("num_threads", "most"), [(1, 2), (2, 2), (4, 2), (8, 4), (9, 4)])
def test_half_of_the_threads_are_at_the_disk(
    num_threads: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 60.0)
    staggered = Staggered(num_threads)
    all_there = threading.Barrier(most + 1)
    num_beyond = threading.Semaphore(0)

    def ask() -> None:
        with staggered.turn():
            all_there.wait(60)

    def ask_too() -> None:
        with staggered.turn():
            num_beyond.release()

    with ThreadPoolExecutor(most + 1) as pool:
        asked = [pool.submit(ask) for _ in range(most)]
        while staggered._places._value:
            pass
        late = pool.submit(ask_too)
        assert not num_beyond.acquire(timeout=0.05)  # there is no place for one more
        all_there.wait(60)
        assert num_beyond.acquire(timeout=60)
        for each in [*asked, late]:
            each.result(60)


def test_who_has_waited_long_enough_goes_on_beside_those_that_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staggering, "LONGEST_WAIT_S", 0.01)
    staggered = Staggered(2)
    with staggered.turn(), staggered.turn(), staggered.turn():
        pass
    # Who had no place gave none back: there would be three from then on.
    assert staggered._places._value == 2


def test_an_error_gives_the_place_back() -> None:
    staggered = Staggered(2)
    for _ in range(3):
        with pytest.raises(OSError, match="No space"), staggered.turn():
            raise OSError(28, "No space left on device")
    assert staggered._places._value == 2
