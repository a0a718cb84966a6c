"""Things that end with a `with`, and things that each thread has its own of."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from instride.lifetimes import OpenFile, PerThread


def _open_file(folder: Path) -> tuple[int, OpenFile]:
    fd = os.open(folder / "file", os.O_RDWR | os.O_CREAT)
    return fd, OpenFile(fd)


def test_a_file_is_closed_where_its_block_fails(tmp_path: Path) -> None:
    fd, file = _open_file(tmp_path)
    with pytest.raises(KeyError), file:
        raise KeyError
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_closing_again_does_not_close_what_has_the_number_now(tmp_path: Path) -> None:
    fd, file = _open_file(tmp_path)
    file.close()
    other = os.open(os.devnull, os.O_RDONLY)
    assert other == fd
    file.close()
    os.fstat(other)
    os.close(other)


def test_threads_share_nothing_and_a_thread_makes_its_own_once() -> None:
    both_are_here = Barrier(2)
    each: PerThread[list[None]] = PerThread(list)

    def mine() -> tuple[int, int]:
        first, again = each.get(), each.get()
        both_are_here.wait(60)
        return id(first), id(again)

    with ThreadPoolExecutor(2) as pool:
        (one, one_again), (other, other_again) = (
            future.result() for future in [pool.submit(mine), pool.submit(mine)]
        )
    assert one == one_again
    assert other == other_again
    assert one != other
