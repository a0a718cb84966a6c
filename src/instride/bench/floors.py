"""What no way of saving can be faster than: copying the state, and writing it past the cache."""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

import torch

from instride.bench.report import Floors
from instride.writer.direct import PieceFile

PIECE_BYTES = 4 << 20
NUM_THREADS = 4
NUM_REPEATS = 5


def measure_floors(num_bytes: int, folder: str) -> Floors:
    return Floors(memcpy_s(num_bytes), direct_write_s(num_bytes, Path(folder)))


def memcpy_s(num_bytes: int) -> float:
    """Copying between two buffers that have their pages; by torch or by the C library, whichever
    is faster here."""
    source = torch.ones(num_bytes, dtype=torch.uint8)
    target = torch.zeros(num_bytes, dtype=torch.uint8)
    by_torch = _median_s(lambda: target.copy_(source))
    by_c = _median_s(lambda: ctypes.memmove(target.data_ptr(), source.data_ptr(), num_bytes))
    return min(by_torch, by_c)


def direct_write_s(num_bytes: int, folder: Path) -> float:
    with tempfile.TemporaryDirectory(dir=folder, prefix="bench-") as scratch:
        numbers = count()
        piece = memoryview(mmap.mmap(-1, PIECE_BYTES))
        piece[:] = os.urandom(PIECE_BYTES)
        return _median_s(lambda: _write(Path(scratch) / f"floor-{next(numbers)}", num_bytes, piece))


def _write(path: Path, num_bytes: int, piece: memoryview) -> None:
    num_pieces = -(-num_bytes // PIECE_BYTES)
    file = PieceFile(path, num_pieces * PIECE_BYTES)
    errors: list[OSError] = []

    def work(first: int) -> None:
        try:
            for index in range(first, num_pieces, NUM_THREADS):
                file.write(piece, index * PIECE_BYTES)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.fsync(file.fd)
    file.close()
    path.unlink()
    if errors:
        raise errors[0]


def _median_s(do: Callable[[], object]) -> float:
    took_s = []
    for _ in range(NUM_REPEATS):
        start_s = time.perf_counter()
        do()
        took_s.append(time.perf_counter() - start_s)
    return median(took_s)
