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
from typing import NamedTuple

import torch

from instride.bench.report import DeviceFloors, Floors
from instride.lifetimes import PerThread
from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.store.verifying import open_for_reading, read_piece
from instride.writer.direct import PieceFile

PIECE_BYTES = 4 << 20
NUM_REPEATS = 5
NUM_REPEATS_OF_MUCH = 2
MUCH_BYTES = 8 << 30


class Deal(NamedTuple):
    """How pieces are dealt out. Disks differ in what they like, and what is slower than another way
    is no floor."""

    num_threads: int
    apart: bool
    """Each thread in a part of the file, or all of them side by side."""

    def __str__(self) -> str:
        return f"{self.num_threads} threads {'apart' if self.apart else 'side by side'}"

    def pieces_of(self, thread: int, num_pieces: int) -> range:
        if not self.apart:
            return range(thread, num_pieces, self.num_threads)
        first, end = (n * num_pieces // self.num_threads for n in (thread, thread + 1))
        return range(first, end)

    def work(self, do: Callable[[int], object], num_pieces: int) -> None:
        """Call `do` with each piece. Raises what it raises."""

        def work(thread: int) -> None:
            for index in self.pieces_of(thread, num_pieces):
                do(index)

        with ThreadPoolExecutor(self.num_threads) as pool:
            list(pool.map(work, range(self.num_threads)))


DEALS = (Deal(4, apart=False), Deal(8, apart=False), Deal(16, apart=True))


class InTurn:
    """The same thing in each deal, again and again: a disk that becomes slower, or faster, favours
    none of them."""

    def __init__(self, do: Callable[[Deal], float]) -> None:
        """`do` says how long it took."""
        self._do = do
        self._took_s: dict[Deal, list[float]] = {deal: [] for deal in DEALS}

    def once_more(self) -> None:
        for deal, took_s in self._took_s.items():
            took_s.append(self._do(deal))

    def by_deal(self) -> dict[str, list[float]]:
        return {str(deal): took_s for deal, took_s in self._took_s.items()}

    @property
    def quickest_s(self) -> float:
        """By the way that is quickest here, in the median."""
        return min(median(each) for each in self._took_s.values())


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
    return writing.quickest_s


def direct_writing(num_bytes: int, folder: Path) -> InTurn:
    """Files of so many bytes, none of which is left."""
    piece = memoryview(mmap.mmap(-1, PIECE_BYTES))
    piece[:] = os.urandom(PIECE_BYTES)
    num_pieces = -(-num_bytes // PIECE_BYTES)

    def write(path: Path, deal: Deal) -> None:
        file = PieceFile(path, num_pieces * PIECE_BYTES)
        try:
            deal.work(lambda index: file.write(piece, index * PIECE_BYTES), num_pieces)
            os.fsync(file.fd)
        finally:
            file.close()

    def write_and_delete(deal: Deal) -> float:
        with tempfile.TemporaryDirectory(dir=folder, prefix="bench-") as scratch:
            return _took_s(partial(write, Path(scratch) / "floor", deal))

    return InTurn(write_and_delete)


def direct_reading(path: Path) -> InTurn:
    """Of all of a file."""
    num_pieces = -(-path.stat().st_size // PIECE_BYTES)

    def read(deal: Deal) -> None:
        fd = open_for_reading(path)
        piece = PerThread(lambda: memoryview(mmap.mmap(-1, PIECE_BYTES)))
        try:
            deal.work(lambda index: read_piece(fd, piece.get(), index * PIECE_BYTES), num_pieces)
        finally:
            os.close(fd)

    return InTurn(lambda deal: _took_s(partial(read, deal)))


def _median_s(do: Callable[[], object], num_repeats: int = NUM_REPEATS) -> float:
    return median(_took_s(do) for _ in range(num_repeats))


def _took_s(do: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    do()
    return time.perf_counter() - start_s
