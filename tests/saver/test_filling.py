"""A file is read into memory that is made up meanwhile, and what goes wrong ends all of it."""

from __future__ import annotations

import gc
import os
import random
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from blake3 import blake3

from instride.errors import DamagedError
from instride.saver.pieces import memory_for_piece
from instride.saver.reading import Target, Targets, filling
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.staggering import most_threads
from instride.store.verifying import read_piece

pytestmark = pytest.mark.torch

SIZE = 9 * PIECE_BYTES + 12_345
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what was read is told by /proc")


@pytest.fixture(scope="module")
def data() -> bytes:
    return random.Random(7).randbytes(SIZE)


@pytest.fixture
def file(data: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "step_00000001.pt"
    path.write_bytes(data)
    return path


def manifest_of(data: bytes) -> Manifest:
    pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
    return Manifest("", "", len(data), [blake3(each).hexdigest() for each in pieces], 0.0)


def targets_at(spans: Iterable[tuple[int, int]]) -> list[Target]:
    """Memory for what lies between each two places of the file, all of it with other values."""
    return [
        Target(start, torch.full((end - start,), 0x55, dtype=torch.uint8)) for start, end in spans
    ]


def spans_of(targets: Iterable[Target]) -> Mapping[int, int]:
    return {each.offset: each.memory.numel() for each in targets}


def assert_filled(targets: list[Target], data: bytes) -> None:
    for each in targets:
        assert bytes(each.memory.numpy()) == data[each.offset : each.end]


def num_read() -> int:
    """Bytes that this process has read from files so far."""
    told = re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())
    assert told is not None
    return int(told[1])


def await_true(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.001)


SPANS = {
    "all of it": [(0, SIZE)],
    "one behind the other": [(0, 5), (5, PIECE_BYTES), (PIECE_BYTES, SIZE)],
    "with gaps": [(64, 100), (PIECE_BYTES - 1, PIECE_BYTES + 1), (3 * PIECE_BYTES + 7, SIZE - 9)],
    "only the last byte": [(SIZE - 1, SIZE)],
    "a thousand small ones": [(at, at + 10_000) for at in range(0, 1000 * 37_000, 37_000)],
    "nothing": [],
}


@pytest.mark.parametrize("spans", SPANS.values(), ids=SPANS)
@pytest.mark.parametrize("order", [1, -1], ids=["as in the file", "the last one first"])
def test_each_gets_its_own_bytes(
    order: int, spans: list[tuple[int, int]], file: Path, data: bytes
) -> None:
    wanted = targets_at(spans)

    with filling(file, None, spans_of(wanted), gpu=None) as targets:
        for each in wanted[::order]:
            targets.add(each)

    assert_filled(wanted, data)


@ON_LINUX
def test_what_is_there_is_read_while_the_rest_is_made_up(file: Path, data: bytes) -> None:
    at = 5 * PIECE_BYTES
    wanted = targets_at([(0, at), (at, SIZE)])
    before = num_read()

    with filling(file, manifest_of(data), spans_of(wanted), gpu=None) as targets:
        for each in wanted:
            targets.add(each)
            until = before + each.end
            await_true(lambda until=until: num_read() >= until)  # type: ignore[misc]
            assert num_read() < until + PIECE_BYTES

    assert_filled(wanted, data)


class Asked:
    """Notes which pieces of a file are to be read, and for whom."""

    def __init__(self, *spans: tuple[int, int], size: int = 3 * PIECE_BYTES) -> None:
        self.made = targets_at(spans)
        self.seen: list[tuple[int, list[int]]] = []
        self.targets = Targets(spans_of(self.made), size, self.note)

    def note(self, index: int, targets: list[Target]) -> None:
        self.seen.append((index, [each.offset for each in targets]))


END = PIECE_BYTES
"""Of the first piece."""


def test_a_piece_is_read_once_there_is_memory_for_all_of_it() -> None:
    asked = Asked((0, 10), (10, END + 5), (END + 5, 2 * END), (2 * END, 3 * END))
    assert asked.seen == []
    asked.targets.add(asked.made[1])
    asked.targets.add(asked.made[0])
    assert asked.seen == [(0, [10, 0])]
    asked.targets.add(asked.made[3])
    asked.targets.end()
    assert asked.seen == [(0, [10, 0]), (2, [2 * END]), (1, [10])], "what never comes is left out"


def test_what_belongs_to_nobody_is_read_at_once() -> None:
    asked = Asked((0, 10))
    assert asked.seen == [(1, []), (2, [])]
    asked.targets.add(asked.made[0])
    assert asked.seen == [(1, []), (2, [])], "the GPU is not waited for, for a few bytes"
    asked.targets.end()
    assert asked.seen == [(1, []), (2, []), (0, [0])]


def test_a_storage_of_two_tensors_is_read_once() -> None:
    asked = Asked((0, END), (END, 2 * END))
    for number in (0, 0, 1, 1, 0):
        asked.targets.add(asked.made[number])
    asked.targets.end()
    assert asked.seen == [(2, []), (0, [0]), (1, [END])]


@pytest.mark.parametrize("at", [0, 4 * PIECE_BYTES, SIZE - 1])
def test_damage_is_told_of_wherever_it_is(at: int, file: Path, data: bytes) -> None:
    wanted = targets_at([(0, SIZE)])
    other = bytearray(data)
    other[at] ^= 1
    file.write_bytes(other)

    with (
        pytest.raises(DamagedError, match=rf"bytes from {at // PIECE_BYTES * PIECE_BYTES} to"),
        filling(file, manifest_of(data), spans_of(wanted), gpu=None) as targets,
    ):
        targets.add(wanted[0])


@pytest.mark.parametrize("is_damaged", [False, True])
def test_no_memory_of_it_is_left_to_the_garbage_collector(
    is_damaged: bool, file: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which comes in any thread, while a graph is captured too, and would have it unlocked."""
    wanted = targets_at([(0, SIZE)])
    pieces: list[weakref.ref[torch.Tensor]] = []

    def noted(gpu: torch.device | None) -> torch.Tensor:
        piece = memory_for_piece(gpu)
        pieces.append(weakref.ref(piece))
        return piece

    monkeypatch.setattr("instride.saver.reading.memory_for_piece", noted)
    file.write_bytes(bytes(len(data)) if is_damaged else data)
    gc.disable()
    try:
        try:
            with filling(file, manifest_of(data), spans_of(wanted), gpu=None) as targets:
                targets.add(wanted[0])
        except DamagedError:
            assert is_damaged
        assert pieces
        await_true(lambda: not any(piece() is not None for piece in pieces))
    finally:
        gc.enable()


class NoRoomError(Exception):
    pass


@ON_LINUX
def test_memory_that_cannot_be_had_ends_it_with_nothing_left_open_or_going_on(
    file: Path, data: bytes
) -> None:
    threads = set(threading.enumerate())
    files = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    wanted = targets_at([(0, SIZE - 1), (SIZE - 1, SIZE)])

    def fill() -> None:
        with filling(file, manifest_of(data), spans_of(wanted), gpu=None) as targets:
            targets.add(wanted[0])
            raise NoRoomError

    with pytest.raises(NoRoomError):
        fill()

    assert set(threading.enumerate()) == threads
    assert set(os.listdir("/proc/self/fd")) == files  # noqa: PTH208 - of what is gone by then


def test_behind_a_second_interruption_nothing_more_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while the first one is dealt with, as of somebody who is impatient."""
    wanted = targets_at([(0, SIZE)])
    may_read = threading.Event()
    begun: list[int] = []
    before = set(threading.enumerate())

    def read_late(fd: int, view: memoryview, offset: int) -> int:
        begun.append(offset)
        assert may_read.wait(60)
        return read_piece(fd, view, offset)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def fill() -> None:
        with filling(file, None, spans_of(wanted), gpu=None) as targets:
            targets.add(wanted[0])
            await_true(lambda: len(begun) == most_threads() // 2)
            raise KeyboardInterrupt

    with monkeypatch.context() as patching:
        patching.setattr("instride.saver.reading.read_piece", read_late)
        patching.setattr(ThreadPoolExecutor, "shutdown", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fill()
        may_read.set()
        gc.collect()
        for thread in set(threading.enumerate()) - before:
            thread.join(60)
            assert not thread.is_alive()

    assert len(begun) <= most_threads(), "those that were about to"
