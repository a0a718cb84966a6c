"""A file is read into memory that is made up meanwhile, and what goes wrong ends all of it."""

from __future__ import annotations

import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import torch
from blake3 import blake3

from instride.errors import DamagedError
from instride.saver.reading import Target, Targets, filling
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.staggering import most_threads

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

    with filling(file, None, (each.offset for each in wanted), is_for_gpu=False) as targets:
        for each in wanted[::order]:
            targets.add(each)

    assert_filled(wanted, data)


@ON_LINUX
def test_reading_begins_before_there_is_memory_and_goes_no_further_than_a_piece_a_thread(
    file: Path, data: bytes
) -> None:
    wanted = targets_at([(0, SIZE)])
    before = num_read()

    with filling(file, manifest_of(data), [0], is_for_gpu=False) as targets:
        await_true(lambda: num_read() - before >= most_threads() * PIECE_BYTES)
        assert num_read() - before < (most_threads() + 1) * PIECE_BYTES
        targets.add(wanted[0])

    assert_filled(wanted, data)


@ON_LINUX
def test_a_small_one_is_waited_for_together_with_those_behind_it(file: Path, data: bytes) -> None:
    """Nobody is woken for each of a thousand small ones: also the last of them must be seen."""
    wanted = targets_at([(0, 10), (10, 20)])
    before = num_read()

    with filling(file, None, [0, 10], is_for_gpu=False) as targets:
        await_true(lambda: num_read() - before >= PIECE_BYTES)
        for each in wanted:
            targets.add(each)

    assert_filled(wanted, data)


def test_what_is_expected_and_never_comes_is_left_out(file: Path, data: bytes) -> None:
    wanted = targets_at([(0, 100)])
    with filling(file, None, [0, 100, PIECE_BYTES], is_for_gpu=False) as targets:
        targets.add(wanted[0])

    assert_filled(wanted, data)


@pytest.mark.parametrize("at", [0, 4 * PIECE_BYTES, SIZE - 1])
def test_damage_is_told_of_wherever_it_is(at: int, file: Path, data: bytes) -> None:
    wanted = targets_at([(0, SIZE)])
    other = bytearray(data)
    other[at] ^= 1
    file.write_bytes(other)

    with (
        pytest.raises(DamagedError, match=rf"bytes from {at // PIECE_BYTES * PIECE_BYTES} to"),
        filling(file, manifest_of(data), [0], is_for_gpu=False) as targets,
    ):
        targets.add(wanted[0])


class NoRoomError(Exception):
    pass


def test_memory_that_cannot_be_had_ends_it_with_no_thread_left_that_waits(
    file: Path, data: bytes
) -> None:
    before = set(threading.enumerate())

    def fill() -> None:
        with filling(file, manifest_of(data), [0, SIZE - 1], is_for_gpu=False) as targets:
            targets.add(*targets_at([(0, SIZE - 1)]))
            raise NoRoomError

    with pytest.raises(NoRoomError):
        fill()

    assert set(threading.enumerate()) == before


def test_whoever_waits_for_what_is_given_up_gets_nothing() -> None:
    targets = Targets([0, 10])
    (first,) = targets_at([(0, 10)])
    targets.add(first)
    found: list[list[Target]] = []
    waiting = threading.Thread(target=lambda: found.append(targets.within(5, 15)), daemon=True)
    waiting.start()
    targets.end(is_given_up=True)
    waiting.join(60)

    assert found == [[]]


def test_what_lies_between_two_places_is_found_and_nothing_else() -> None:
    targets = Targets([0, 10, 20, 40])
    made = targets_at([(0, 10), (10, 20), (20, 30), (40, 50)])
    for each in made:
        targets.add(each)

    def within(start: int, end: int) -> list[int]:
        return [each.offset for each in targets.within(start, end)]

    assert within(0, 50) == [0, 10, 20, 40]
    assert within(9, 10) == [0]
    assert within(10, 11) == [10]
    assert within(9, 11) == [0, 10]
    assert within(30, 40) == []
    assert within(35, 41) == [40]
    assert within(50, 60) == []
