"""Compresses every checkpoint that appears in a directory, in the way that hurts.

It reads the whole file into memory and compresses it hard on all cores, at normal priority, while
the training that wrote the file needs the same cores. Many setups have a script like this one;
here it is the culprit that `instride explain` has to find.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from multiprocessing.pool import Pool
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

POLL_S = 0.05
LEVEL = 19
PIECE_BYTES = 1 << 20
WORKERS_PER_CORE = 2
"""More than there are cores, as in scripts that ask for speed: training gets the rest."""


def compress(piece: bytes) -> bytes:
    return zstd.compress(piece, LEVEL)


def pack(checkpoint: Path, workers: Pool) -> None:
    """Compress the whole file at once, piece by piece, on all cores."""
    data = checkpoint.read_bytes()
    pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
    checkpoint.with_suffix(".pt.zst").write_bytes(b"".join(workers.map(compress, pieces)))


def watch(directory: Path, workers: Pool) -> None:
    """Pack what appears, as long as the training lives."""
    trainer = os.getppid()
    sizes: dict[Path, int] = {}
    done = set(directory.glob("*.pt"))
    while os.getppid() == trainer:
        for checkpoint in sorted(set(directory.glob("*.pt")) - done):
            size = checkpoint.stat().st_size
            if size and sizes.get(checkpoint) == size:
                pack(checkpoint, workers)
                done.add(checkpoint)
            sizes[checkpoint] = size
        time.sleep(POLL_S)


def main() -> None:
    with multiprocessing.Pool(WORKERS_PER_CORE * (os.cpu_count() or 1)) as workers:
        watch(Path(sys.argv[1]), workers)


if __name__ == "__main__":
    main()
