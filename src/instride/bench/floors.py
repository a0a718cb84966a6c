"""What no way of saving can be faster than: copying the state, and writing it past the cache."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import torch

from instride.bench.report import DeviceFloors, Floors
from instride.lifetimes import PerThread
from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import (
    drop_from_cache,
    memory_to_read_into,
    open_for_reading,
    read_piece,
)
from instride.writer.direct import PieceFile
from instride.writer.pieces import PIECES_A_TURN

WRITTEN_BYTES = PIECES_A_TURN * PIECE_BYTES
SOURCE_BYTES = 1 << 30
"""More than any cache of a processor holds. What lies there is written 8 % faster (2.8 GB/s against
2.6, bench/results/save-gpu.md), but no state does."""
NUM_REPEATS = 5
NUM_REPEATS_OF_MUCH = 2
MUCH_BYTES = 8 << 30


NUMS_OF_THREADS = (4, 8)
"""Disks differ in what they like, and what is slower than another way is no floor."""


def deal(do: Callable[[int], object], num_pieces: int, num_threads: int) -> None:
    """Call `do` with each piece, by threads side by side, each of which takes the next one: none
    ends long before the others. Raises what it raises."""
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in pool.map(do, range(num_pieces)):
            pass


class InTurn:
    """The same thing by each number of threads, again and again: a disk that becomes slower, or
    faster, favours none of them."""

    def __init__(self, do: Callable[[int], float]) -> None:
        """`do` takes the number of threads, and says how long it took."""
        self._do = do
        self._order = list(NUMS_OF_THREADS)
        self.took_s: dict[int, list[float]] = {number: [] for number in NUMS_OF_THREADS}

    def once_more(self) -> None:
        for num_threads in self._order:
            os.sync()  # what was deleted before is not this one's to pay
            self.took_s[num_threads].append(self._do(num_threads))
        self._order.reverse()

    @property
    def quickest_s(self) -> list[float]:
        """Each time, by as many threads as are quickest here in the median."""
        return min(self.took_s.values(), key=median)


def measure_floors(num_bytes: int, folder: str) -> Floors:
    return Floors(memcpy_s(num_bytes), direct_write_s(num_bytes, Path(folder)))


def measure_device_floors(num_bytes: int, device: str) -> DeviceFloors:
    return DeviceFloors(device_copy_s(num_bytes, device), bus_s(num_bytes, device))


def device_copy_s(num_bytes: int, device: str) -> float:
    words = num_bytes // 8
    source = torch.ones(words, dtype=torch.int64, device=device)
    target = torch.zeros(words, dtype=torch.int64, device=device)
    return _median_s(lambda: (target.copy_(source), torch.cuda.synchronize()))


def bus_s(num_bytes: int, device: str) -> float:
    """Into an arena as instride has one, in copies that lie within a registration each."""
    source = torch.ones(num_bytes, dtype=torch.uint8, device=device)
    arena = Arena()
    arena.grow(num_bytes)
    arena.populate()
    arena.register()
    places = list(arena.memory[:num_bytes].split(REGISTERED_BYTES))
    pieces = list(source.split(REGISTERED_BYTES))

    def bring() -> None:
        torch._foreach_copy_(places, pieces, non_blocking=True)
        torch.cuda.synchronize()

    took_s = _median_s(bring)
    arena.close()
    return took_s


def memcpy_s(num_bytes: int) -> float:
    """Copying between two buffers that have their pages; by torch or by the C library, whichever
    is faster here."""
    source = torch.ones(num_bytes, dtype=torch.uint8)
    target = torch.zeros(num_bytes, dtype=torch.uint8)
    repeats = NUM_REPEATS if num_bytes < MUCH_BYTES else NUM_REPEATS_OF_MUCH
    by_torch = _median_s(lambda: target.copy_(source), repeats)
    by_c = _median_s(
        lambda: ctypes.memmove(target.data_ptr(), source.data_ptr(), num_bytes), repeats
    )
    return min(by_torch, by_c)


def direct_write_s(num_bytes: int, folder: Path) -> float:
    writing = direct_writing(num_bytes, folder)
    for _ in range(NUM_REPEATS if num_bytes < MUCH_BYTES else NUM_REPEATS_OF_MUCH):
        writing.once_more()
    return median(writing.quickest_s)


def direct_writing(num_bytes: int, folder: Path) -> InTurn:
    """Files of so many bytes, none of which is left."""
    num_pieces = -(-num_bytes // WRITTEN_BYTES)
    memory = memoryview(mmap.mmap(-1, min(num_pieces * WRITTEN_BYTES, SOURCE_BYTES)))
    for start in range(0, len(memory), WRITTEN_BYTES):
        memory[start : start + WRITTEN_BYTES] = os.urandom(WRITTEN_BYTES)

    def piece(index: int) -> memoryview:
        start = index * WRITTEN_BYTES % len(memory)
        return memory[start : start + WRITTEN_BYTES]

    def write(path: Path, num_threads: int) -> None:
        file = PieceFile(path, num_pieces * WRITTEN_BYTES)
        try:
            deal(lambda at: file.write(piece(at), at * WRITTEN_BYTES), num_pieces, num_threads)
            os.fsync(file.fd)
        finally:
            file.close()

    def write_and_delete(num_threads: int) -> float:
        with tempfile.TemporaryDirectory(dir=folder, prefix="bench-") as scratch:
            return _took_s(partial(write, Path(scratch) / "floor", num_threads))

    return InTurn(write_and_delete)


def direct_reading(path: Path) -> InTurn:
    """Of all of a file."""
    num_pieces = -(-path.stat().st_size // PIECE_BYTES)

    def read(num_threads: int) -> None:
        fd = open_for_reading(path)
        piece = PerThread(lambda: memoryview(memory_to_read_into()))
        try:
            deal(lambda at: read_piece(fd, piece.get(), at * PIECE_BYTES), num_pieces, num_threads)
        finally:
            drop_from_cache(fd)
            os.close(fd)

    return InTurn(lambda num_threads: _took_s(partial(read, num_threads)))


def _median_s(do: Callable[[], object], num_repeats: int = NUM_REPEATS) -> float:
    return median(_took_s(do) for _ in range(num_repeats))


def _took_s(do: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    do()
    return time.perf_counter() - start_s
