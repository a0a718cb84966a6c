"""Reading a checkpoint into tensors: parallel, verified on the way, never twice in memory.

Piece by piece, straight to where the bytes belong. Reading begins while that is still being made
up: a GPU that is asked for gigabytes takes its time, in which the disk would have nothing to do.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import torch
from blake3 import blake3

from instride.errors import DamagedError
from instride.snapshot.views import view_of
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.staggering import Staggered, most_threads
from instride.store.verifying import (
    check_size,
    differing,
    drop_from_cache,
    memory_to_read_into,
    open_for_reading,
    read_piece,
)
from instride.system.cores import leave_core_of_parent


class Target:
    """Bytes of a file that belong into a tensor's memory."""

    def __init__(self, offset: int, memory: torch.Tensor) -> None:
        self.offset = offset
        self.memory = memory
        self.end = offset + memory.numel()


class Targets:
    """All that a file is read into: known by where it begins, and there one after the other."""

    def __init__(self, expected: Iterable[int]) -> None:
        self._offsets = sorted(expected)
        self._there: dict[int, Target | None] = dict.fromkeys(self._offsets)
        self._num_untold_bytes = 0
        self._is_over = False
        self._is_given_up = False
        self._changed = threading.Condition()

    def add(self, target: Target) -> None:
        """Hand memory over. What was to be done with it on a GPU is done first: whoever reads
        copies on another stream, and what still waits on this one, such as the first values of a
        model, would be written over what was copied."""
        if target.memory.is_cuda:
            torch.cuda.current_stream(target.memory.device).synchronize()
        assert target.offset in self._there, "only what is expected is read"
        self._there[target.offset] = target
        self._num_untold_bytes += target.memory.numel()
        if self._num_untold_bytes >= PIECE_BYTES:  # not for each of a thousand small ones
            self._num_untold_bytes = 0
            with self._changed:
                self._changed.notify_all()

    def end(self, *, is_given_up: bool = False) -> None:
        """There will be no others; what is read is not wanted any more if they are given up."""
        with self._changed:
            self._is_over = True
            self._is_given_up |= is_given_up
            self._changed.notify_all()

    def within(self, start: int, end: int) -> list[Target]:
        """Those that a part of the file belongs to, once they are there."""
        first = max(0, bisect_right(self._offsets, start) - 1)
        last = bisect_left(self._offsets, end)
        offsets = self._offsets[first:last]
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._are_there(offsets))
            if self._is_given_up:
                return []
        found = map(self._there.get, offsets)
        return [each for each in found if each is not None and each.end > start]

    def _are_there(self, offsets: list[int]) -> bool:
        return all(self._there[offset] is not None for offset in offsets)


@contextmanager
def filling(
    path: Path, manifest: Manifest | None, expected: Iterable[int], *, is_for_gpu: bool
) -> Iterator[Targets]:
    """Read a file into what is handed over meanwhile; at the end all of it is there. Raises
    DamagedError as soon as a piece is not what was written."""
    if manifest is not None:
        check_size(path, manifest)
    size = path.stat().st_size
    targets = Targets(expected)
    fd = open_for_reading(path)
    num_threads = most_threads()
    reading = Staggered(num_threads)
    local = threading.local()

    def read(index: int) -> None:
        if not hasattr(local, "bytes"):
            local.bytes = _buffer(is_for_gpu=is_for_gpu)
            local.view = view_of(local.bytes)
        start = index * PIECE_BYTES
        with reading.turn():
            num_bytes = read_piece(fd, local.view, start)
        piece = local.view[:num_bytes]
        if manifest is not None and blake3(piece).hexdigest() != manifest.pieces[index]:
            raise DamagedError(path, differing(index, manifest))
        for target in targets.within(start, start + num_bytes):
            _copy(local.bytes[:num_bytes], start, target)

    pool = ThreadPoolExecutor(num_threads, initializer=leave_core_of_parent)
    try:
        pieces = pool.map(read, range(-(-size // PIECE_BYTES)))
        yield targets
        targets.end()
        for _ in pieces:
            pass
        drop_from_cache(fd)
    finally:
        targets.end(is_given_up=True)
        pool.shutdown(cancel_futures=True)
        os.close(fd)


def _buffer(*, is_for_gpu: bool) -> torch.Tensor:
    """Memory for a piece: aligned for direct reads, locked where a GPU copies from it."""
    if is_for_gpu:
        return torch.empty(PIECE_BYTES, dtype=torch.uint8, pin_memory=True)
    return torch.frombuffer(memory_to_read_into(), dtype=torch.uint8)


def _copy(piece: torch.Tensor, offset: int, target: Target) -> None:
    """What of a piece, which begins there, belongs to a target."""
    first, last = max(target.offset, offset), min(target.end, offset + piece.numel())
    with torch.no_grad():
        target.memory[first - target.offset : last - target.offset].copy_(
            piece[first - offset : last - offset]
        )
