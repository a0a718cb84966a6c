"""Asking for pages: nobody who trains is held up by it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES, POPULATING, gently, touch

pytestmark = pytest.mark.torch

COUNTS_THREADS = """
import os, torch
from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES, touch
arena = Arena()
arena.grow(2 * CHECK_BYTES)
before = len(os.listdir("/proc/self/task"))
touch(arena.memory[:CHECK_BYTES])
print(len(os.listdir("/proc/self/task")) - before)
torch.ones(1 << 20).sum()
print(len(os.listdir("/proc/self/task")) - before)
"""


def test_the_interpreter_is_free_while_pages_are_touched(arena: Arena) -> None:
    arena.grow(4 * CHECK_BYTES)
    count = 0
    is_over = threading.Event()

    def train() -> None:
        nonlocal count
        while not is_over.is_set():
            count += 1

    def rate(call: Callable[[], object]) -> float:
        before, start_s = count, time.perf_counter()
        call()
        return (count - before) / (time.perf_counter() - start_s)

    training = threading.Thread(target=train)
    training.start()
    alone = rate(lambda: time.sleep(0.05))
    beside = [rate(partial(touch, part)) for part in arena.memory.split(CHECK_BYTES)]
    is_over.set()
    training.join()

    assert max(beside) > 0.3 * alone  # with the interpreter it would be a turn at the end of each


def test_no_other_threads_help_to_touch_pages() -> None:
    """They would spin on cores that are somebody else's."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTS_THREADS],
        capture_output=True,
        text=True,
        check=True,
        env={"OMP_NUM_THREADS": "4"},
    )
    by_touching, by_a_large_sum = map(int, done.stdout.split())
    assert by_touching == 0
    assert by_a_large_sum > 0  # so they could have been seen


def test_where_a_missing_page_is_fatal_they_are_asked_for_by_a_call_that_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert gently().ask is touch
    monkeypatch.setattr("instride.snapshot.pages.must_be_there", lambda: True)
    assert gently() == POPULATING
