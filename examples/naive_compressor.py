"""Compresses every checkpoint that appears in a directory, in the way that hurts.

It reads the whole file into memory and compresses it hard on all cores, at normal priority, while
the training that wrote the file needs the same cores. Many setups have a script like this one;
here it is the culprit that `instride explain` has to find.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

POLL_S = 0.05
LEVEL = 19


def compress(checkpoint: Path) -> None:
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: LEVEL,
        zstd.CompressionParameter.nb_workers: os.cpu_count() or 1,
    }
    data = checkpoint.read_bytes()
    checkpoint.with_suffix(".pt.zst").write_bytes(zstd.compress(data, options=options))


def main() -> None:
    directory, trainer = Path(sys.argv[1]), os.getppid()
    sizes: dict[Path, int] = {}
    done = set(directory.glob("*.pt"))
    while os.getppid() == trainer:
        for checkpoint in sorted(set(directory.glob("*.pt")) - done):
            size = checkpoint.stat().st_size
            if size and sizes.get(checkpoint) == size:
                compress(checkpoint)
                done.add(checkpoint)
            sizes[checkpoint] = size
        time.sleep(POLL_S)


if __name__ == "__main__":
    main()
