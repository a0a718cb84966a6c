"""Memory that lies in several files: one memory for whoever maps it."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from instride.system import striped
from instride.system.striped import (
    FEW_STRIPES,
    NUM_FILES,
    SPARE_MAPS,
    STRIPE_BYTES,
    close_files,
    fill,
    make_files,
    place_of,
    reserve,
    resize,
)

PAGE_BYTES = 4096


@pytest.fixture
def fds() -> Iterator[tuple[int, ...]]:
    made = make_files("instride-test", NUM_FILES)
    yield made
    close_files(made)


@pytest.fixture
def short_stripes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(striped, "STRIPE_BYTES", PAGE_BYTES)


def sizes(fds: tuple[int, ...]) -> list[int]:
    return [os.fstat(fd).st_size for fd in fds]


def mapped() -> int:
    """Stripes that this process has mapped."""
    return Path("/proc/self/maps").read_text(encoding="utf-8").count("instride-test")


def test_stripes_lie_in_the_files_in_turn() -> None:
    stripes = [place_of(number * STRIPE_BYTES, 4) for number in range(6)]
    assert [each.file for each in stripes] == [0, 1, 2, 3, 0, 1]
    assert [each.offset for each in stripes] == [0, 0, 0, 0, STRIPE_BYTES, STRIPE_BYTES]
    assert place_of(5 * STRIPE_BYTES + 7, 4) == (1, STRIPE_BYTES + 7)
    assert place_of(5 * STRIPE_BYTES + 7, 1) == (0, 5 * STRIPE_BYTES + 7)


@pytest.mark.usefixtures("short_stripes")
def test_what_is_written_to_the_memory_is_in_the_files_and_in_other_maps(
    fds: tuple[int, ...],
) -> None:
    num_bytes = 6 * PAGE_BYTES
    resize(fds, num_bytes)
    assert sizes(fds) == [2 * PAGE_BYTES, 2 * PAGE_BYTES, PAGE_BYTES, PAGE_BYTES]

    ours, other = fill(reserve(num_bytes), fds), fill(reserve(num_bytes), fds)
    for number in range(6):
        ctypes.memset(ctypes.addressof(ours) + number * PAGE_BYTES, 1 + number, PAGE_BYTES)

    assert bytes(other) == b"".join(bytes([1 + number]) * PAGE_BYTES for number in range(6))
    for number in range(6):
        file, offset = place_of(number * PAGE_BYTES, NUM_FILES)
        assert os.pread(fds[file], PAGE_BYTES, offset) == bytes([1 + number]) * PAGE_BYTES


@pytest.mark.usefixtures("short_stripes")
def test_what_it_holds_is_where_it_was_when_it_has_grown(fds: tuple[int, ...]) -> None:
    grown = [3 * PAGE_BYTES, 9 * PAGE_BYTES, 17 * PAGE_BYTES]
    resize(fds, grown[0])
    memory = fill(reserve(grown[0]), fds)
    memory[0] = memory[3 * PAGE_BYTES - 1] = 7

    for before, now in pairwise(grown):
        resize(fds, now)
        memory = fill(reserve(now), fds)
        assert (memory[0], memory[before - 1], memory[now - 1]) == (7, 7, 0)
        memory[now - 1] = 7
    assert sum(sizes(fds)) == grown[-1]


@pytest.mark.usefixtures("short_stripes")
def test_a_memory_that_nobody_has_any_more_is_not_mapped(fds: tuple[int, ...]) -> None:
    resize(fds, 8 * PAGE_BYTES)
    memory = fill(reserve(8 * PAGE_BYTES), fds)
    view = memoryview(memory)
    del memory
    assert mapped() == 8
    view.release()
    del view
    assert mapped() == 0


@pytest.mark.usefixtures("short_stripes")
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_memory_that_cannot_be_mapped_to_its_end_leaves_nothing_behind(
    error: type[BaseException], fds: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may have so many maps and no more; and somebody may press Ctrl-C."""
    num_mapped = 0
    really = striped._map

    def refuse(*what: Any) -> int:
        nonlocal num_mapped
        num_mapped += 1
        if num_mapped == 4:
            assert mapped() == 2
            raise error
        return really(*what)

    monkeypatch.setattr(striped, "_map", refuse)
    resize(fds, 8 * PAGE_BYTES)
    try:
        fill(reserve(8 * PAGE_BYTES), fds)
    except error:
        is_refused = True
    assert is_refused
    assert mapped() == 0


def test_the_last_maps_of_a_process_are_not_taken(
    fds: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any, not even a thread can be started: whoever starts one waits for ever."""
    limit = tmp_path / "max_map_count"
    monkeypatch.setattr(striped, "MOST_MAPS", limit)
    num_maps = Path("/proc/self/maps").read_text(encoding="utf-8").count("\n")
    resize(fds, 100 * STRIPE_BYTES)

    limit.write_text(str(num_maps + SPARE_MAPS + 99))
    with pytest.raises(OSError, match=r"memory maps.* 100 are needed.*vm\.max_map_count"):
        fill(reserve(100 * STRIPE_BYTES), fds)
    assert mapped() == 0
    fill(reserve((FEW_STRIPES - 1) * STRIPE_BYTES), fds)  # as few as any program asks for

    for text in (str(num_maps + SPARE_MAPS + 150), None):  # or a system that does not say
        limit.write_text(text) if text else limit.unlink()
        memory = fill(reserve(100 * STRIPE_BYTES), fds)
        assert mapped() == 100
        del memory


def test_it_is_mapped_at_once_beside_a_thread_that_computes(fds: tuple[int, ...]) -> None:
    """Whoever hands on the interpreter for each stripe waits for it as often, for seconds."""
    num_bytes = 512 * STRIPE_BYTES
    resize(fds, num_bytes)
    is_over = threading.Event()

    def train() -> None:
        while not is_over.is_set():
            pass

    training = threading.Thread(target=train)
    training.start()
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(0.05)
    try:
        start_s = time.perf_counter()
        fill(reserve(num_bytes), fds)
        took_s = time.perf_counter() - start_s
    finally:
        sys.setswitchinterval(interval_s)
        is_over.set()
        training.join()

    assert took_s < 512 * 0.05 / 4


def test_files_that_cannot_all_be_made_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    create = os.memfd_create

    def refuse(name: str, flags: int) -> int:
        if len(made) == NUM_FILES - 1:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.append(create(name, flags))
        return made[-1]

    monkeypatch.setattr(os, "memfd_create", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        make_files("instride-test", NUM_FILES)

    for fd in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)


def test_files_that_were_closed_are_not_given_a_size() -> None:
    """As in a child that let go of them: whoever asks for memory can live without it."""
    with pytest.raises(OSError) as raised:  # noqa: PT011
        resize((), STRIPE_BYTES)
    assert raised.value.errno == errno.EBADF
