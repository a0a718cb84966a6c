"""The page that trainer and writer share."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from instride.writer.page import PROGRESS, RESTORED, SharedPage

NUM_THREADS, NUM_TIMES = 4, 2000


@pytest.fixture
def often_interrupted() -> Iterator[None]:
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before_s)


@pytest.mark.usefixtures("often_interrupted")
def test_what_many_threads_get_done_is_counted_each_time() -> None:
    page = SharedPage.create()
    page[PROGRESS] = 7  # as a writer before this one left it

    def work() -> None:
        for _ in range(NUM_TIMES):
            page.count_progress()

    threads = [threading.Thread(target=work) for _ in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert page[PROGRESS] == 7 + NUM_THREADS * NUM_TIMES
    page.close()


def test_restores_have_their_place_among_the_steps_and_are_none() -> None:
    page = SharedPage.create()
    page.restored(None, 0.5)
    page.beat(-1, 1.0)
    page.restored(0, 1.5)
    page.beat(7, 2.0)
    page.restored(4999, 2.5)
    page.restored(1 << 63, 3.0)  # no room for it, and nobody trains that long

    assert page.beats_since(0, page.num_beats) == [(-1, 1.0), (7, 2.0)]
    everything = page.all_since(0, page.num_beats)
    assert [at_s for _, at_s in everything] == [0.5, 1.0, 1.5, 2.0, 2.5]
    restores = [page.restored_by(beat) for beat, _ in everything if beat <= RESTORED]
    assert restores == [None, 0, 4999]
    assert page.beat_before(page.num_beats) == 2.0
    page.close()
