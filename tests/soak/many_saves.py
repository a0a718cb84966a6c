"""Saves a small state many times over, and looks for anything that grows.

    python tests/soak/many_saves.py --saves 1000

Resident memory of trainer and writer, their descriptors and threads, and the processes below the
trainer are noted after the first hundred saves and at the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
import torch

import instride

NUM_SETTLING = 100
"""Allocators, caches and the writer's pool of threads have their size after so many."""
MOST_GROWTH_BYTES = 8 << 20
NUM_LOOKS, LOOK_S = 100, 0.02
WIDTH = 64


class Usage(NamedTuple):
    rss_bytes: int
    num_fds: int
    num_threads: int
    num_processes: int


def usage() -> Usage:
    """What this process and those below it have, together, at rest: the least of many looks, since
    a save is read back when it is committed already."""
    gc.collect()
    looks = []
    for _ in range(NUM_LOOKS):
        looks.append(look())
        time.sleep(LOOK_S)
    return Usage(*(min(values) for values in zip(*looks, strict=True)))


def look() -> Usage:
    this = psutil.Process()
    processes = [this, *this.children(recursive=True)]
    return Usage(
        sum(process.memory_info().rss for process in processes),
        sum(process.num_fds() for process in processes),
        sum(process.num_threads() for process in processes),
        len(processes),
    )


def train_and_save(directory: Path, num_saves: int) -> tuple[Usage, Usage]:
    """Usage after settling, and at the end; each taken when nothing is in flight."""
    model = torch.nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.AdamW(model.parameters())
    settled = usage()
    with instride.Saver(
        directory, model=model, optimizer=optimizer, keep=instride.Keep(last=2)
    ) as saver:
        for step in range(num_saves):
            model(torch.ones(1, WIDTH)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            saver.due(step, every=1)
            saver.save(step, extra={"step": step}).wait()
            if step == NUM_SETTLING:
                settled = usage()
        return settled, usage()


def problems(before: Usage, settled: Usage, end: Usage, after: Usage) -> list[str]:
    found = [
        f"{name} grew from {getattr(settled, name)} to {getattr(end, name)}"
        for name in ("num_fds", "num_threads", "num_processes")
        if getattr(end, name) > getattr(settled, name)
    ]
    if end.rss_bytes > settled.rss_bytes + MOST_GROWTH_BYTES:
        found.append(f"memory grew from {settled.rss_bytes:,} to {end.rss_bytes:,} bytes")
    found += [
        f"{name} was {getattr(before, name)} before, and is {getattr(after, name)} once closed"
        for name in ("num_fds", "num_threads", "num_processes")
        if getattr(after, name) > getattr(before, name)
    ]
    return found


def run(num_saves: int) -> int:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="instride-soak-") as directory:
        before = usage()
        settled, end = train_and_save(Path(directory), num_saves)
        after = usage()
        left = sorted(os.listdir(directory))  # noqa: PTH208 - names only
    print(f"{num_saves:,} saves; {settled} after {NUM_SETTLING}, {end} at the end, {after} closed")
    found = problems(before, settled, end, after)
    files = [name for name in left if name.endswith(".pt") and name != "latest"]
    if len(files) != 2:
        found.append(f"two checkpoints should be left, not {files}")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--saves", type=int, default=1000)
    sys.exit(run(max(parser.parse_args().saves, NUM_SETTLING + 2)))
