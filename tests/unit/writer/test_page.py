"""The page that trainer and writer share."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from instride.writer.page import PROGRESS, SharedPage

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
