"""The obvious way: read the whole file, compress it on every core, and again from the start.

    python -m instride.bench.interference.naive FILE PROCESSES NICE IDLE

Prints a line each time that the file is done.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 3


def compress(file: Path, num_processes: int) -> None:
    """Every process takes a part of what is in memory, and writes a file of its own."""
    data = memoryview(file.read_bytes())
    size = -(-len(data) // num_processes)
    children = []
    for number in range(num_processes):
        child = os.fork()
        if child == 0:
            part = zstd.compress(data[number * size : (number + 1) * size], LEVEL)
            file.with_suffix(f".part{number}").write_bytes(part)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def main(file: Path, num_processes: int, nice: int, is_idle: bool) -> None:
    os.nice(nice)
    if is_idle:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        compress(file, num_processes)
        print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1")
