"""Asking for pages: nobody who trains is held up by it."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from instride.snapshot import pages
from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES, POPULATING, Asking, Pages, gently, touch
from instride.system.striped import NUM_FILES, place_of

pytestmark = pytest.mark.torch

COUNTS_THREADS = """
import os, torch
from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES, Pages, touch
arena = Arena()
arena.grow(2 * CHECK_BYTES)
before = len(os.listdir("/proc/self/task"))
touch(Pages(arena.fds[0], 0, arena.memory[:CHECK_BYTES]))
print(len(os.listdir("/proc/self/task")) - before)
torch.ones(1 << 20).sum()
print(len(os.listdir("/proc/self/task")) - before)
"""


def refusing(code: int, num_times: int = 1000) -> Callable[..., int]:
    """A `fallocate` that fails so often."""
    fallocate = pages._libc.fallocate
    left = iter(range(num_times))

    def refuse(*what: int) -> int:
        if next(left, None) is None:
            return int(fallocate(*what))
        ctypes.set_errno(code)
        return -1

    return refuse


def pages_at(arena: Arena, start: int) -> Pages:
    file, offset = place_of(start, NUM_FILES)
    return Pages(arena.fds[file], offset, arena.memory[start : start + CHECK_BYTES])


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
    beside = [rate(partial(touch, pages_at(arena, n * CHECK_BYTES))) for n in range(4)]
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


def test_touching_keeps_what_a_snapshot_has_put_there(arena: Arena) -> None:
    arena.grow(2 * CHECK_BYTES)
    arena.memory[CHECK_BYTES - 3 : CHECK_BYTES + 3] = 7

    for start in (0, CHECK_BYTES):
        assert touch(pages_at(arena, start))

    assert arena.memory[CHECK_BYTES - 4 : CHECK_BYTES + 4].tolist() == [0, 7, 7, 7, 7, 7, 7, 0]
    files = [os.fstat(fd) for fd in arena.fds]
    assert sum(each.st_blocks * 512 for each in files) == 2 * CHECK_BYTES
    assert sum(each.st_size for each in files) == arena.num_bytes


def test_pages_that_there_is_no_memory_for_are_refused_and_not_touched(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Touching them would end the process."""
    monkeypatch.setattr(pages._libc, "fallocate", refusing(errno.ENOSPC))
    arena.grow(2 * CHECK_BYTES)
    arena.touch()

    assert arena._mapped == arena._allocated == 0
    assert [os.fstat(fd).st_blocks for fd in arena.fds] == [0] * NUM_FILES


@pytest.mark.parametrize("code", [errno.EINTR, errno.EOPNOTSUPP, errno.ENOSYS])
def test_they_are_touched_also_where_they_cannot_be_allocated_at_once(
    code: int, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal interrupted it, or a sandbox does not know how."""
    monkeypatch.setattr(pages._libc, "fallocate", refusing(code, num_times=1))
    arena.grow(2 * CHECK_BYTES)
    arena.touch()

    assert arena._mapped == 2 * CHECK_BYTES
    assert sum(os.fstat(fd).st_blocks * 512 for fd in arena.fds) == 2 * CHECK_BYTES


def test_a_number_that_a_thread_may_still_use_is_not_given_to_another_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would be that one's pages that are allocated."""
    monkeypatch.setattr("instride.snapshot.arena.PATIENCE_S", 0.01)
    is_asking, is_over = threading.Event(), threading.Event()

    def ask(part: Pages) -> bool:
        is_asking.set()
        return is_over.wait(60)

    monkeypatch.setattr("instride.snapshot.arena.gently", lambda: Asking(CHECK_BYTES, ask))
    arena = Arena()
    fds = arena.fds
    arena.prepare(CHECK_BYTES, 1)
    assert is_asking.wait(60)
    arena.close()

    for fd in fds:
        os.fstat(fd)
    assert not arena.ask_for_next(Asking(CHECK_BYTES, ask))
    is_over.set()
    deadline_s = time.monotonic() + 60
    while arena.fds and time.monotonic() < deadline_s:
        time.sleep(0.001)
    for fd in fds:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)
