"""Reading a checkpoint into tensors: parallel, verified on the way, never twice in memory.

Piece by piece, straight to where the bytes belong. Reading begins while some of that is still being
made up: a GPU that is asked for gigabytes takes its time, in which the disk would be idle.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import torch
from blake3 import blake3

from instride.errors import DamagedError
from instride.saver.pieces import memory_for_piece
from instride.snapshot.views import view_of
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.staggering import Staggered, most_threads
from instride.store.verifying import (
    check_size,
    differing,
    drop_from_cache,
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
    """All that a file is read into. A piece of it is read once there is memory for all that it
    holds: who reads never waits for who makes that up."""

    def __init__(
        self, spans: Mapping[int, int], size: int, read: Callable[[int, list[Target]], None]
    ) -> None:
        """`spans`: where in the file the bytes of each of them begin, and how many these are;
        `read` has a piece read, and brought to those that it belongs to."""
        self._read = read
        self._awaited = set(spans)
        self._new: list[Target] = []
        self._num_new_bytes = 0
        self._found: list[list[Target]] = [[] for _ in _pieces(0, size)]
        self._num_missing = [0] * len(self._found)
        for offset, num_bytes in spans.items():
            for index in _pieces(offset, offset + num_bytes):
                self._num_missing[index] += 1
        for index, num in enumerate(self._num_missing):
            if not num:
                read(index, [])

    def add(self, target: Target) -> None:
        if target.offset in self._awaited:  # else it is there: two tensors have one storage
            self._awaited.discard(target.offset)
            self._new.append(target)
            self._num_new_bytes += target.memory.numel()
            if self._num_new_bytes >= PIECE_BYTES:
                self._publish()

    def end(self) -> None:
        """There will be no others. What was to be read into them is looked at all the same."""
        self._publish()
        for index, num in enumerate(self._num_missing):
            if num:
                self._read(index, self._found[index])

    def _publish(self) -> None:
        """What was to be done with memory on a GPU is done first: whoever reads copies on another
        stream, and what still waits on this one, such as the first values of a model, would be
        written over what was copied."""
        for device in {each.memory.device for each in self._new if each.memory.is_cuda}:
            torch.cuda.current_stream(device).synchronize()
        for target in self._new:
            for index in _pieces(target.offset, target.end):
                self._found[index].append(target)
                self._num_missing[index] -= 1
                if not self._num_missing[index]:
                    self._read(index, self._found[index])
        self._new, self._num_new_bytes = [], 0


def _pieces(start: int, end: int) -> range:
    """Those that a part of a file lies in."""
    return range(start // PIECE_BYTES, -(-end // PIECE_BYTES))


@contextmanager
def filling(
    path: Path, manifest: Manifest | None, spans: Mapping[int, int], gpu: torch.device | None
) -> Iterator[Targets]:
    """Read a file into what is handed over meanwhile; at the end all of it is there. Raises
    DamagedError if it is not what was written; what was filled by then is lost.

    `gpu`: one of those that some of it goes to.
    """
    if manifest is not None:
        check_size(path, manifest)
    size = path.stat().st_size
    num_threads = most_threads()
    reading = Staggered(num_threads)
    local = threading.local()
    is_wanted = True

    def read(index: int, targets: list[Target]) -> None:
        if not is_wanted:
            return
        if not hasattr(local, "bytes"):
            local.bytes = memory_for_piece(gpu)
            local.view = view_of(local.bytes)
        start = index * PIECE_BYTES
        with reading.turn():
            num_bytes = read_piece(fd, local.view, start)
        piece = local.view[:num_bytes]
        if manifest is not None and blake3(piece).hexdigest() != manifest.pieces[index]:
            raise DamagedError(path, differing(index, manifest))
        for target in targets:
            _copy(local.bytes[:num_bytes], start, target)

    futures: list[Future[None]] = []
    pool = ThreadPoolExecutor(num_threads, initializer=leave_core_of_parent)
    fd = open_for_reading(path)
    try:
        targets = Targets(
            spans, size, lambda index, found: futures.append(pool.submit(read, index, found))
        )
        yield targets
        targets.end()
        for _ in map(Future.result, futures):  # none has a name here that it would keep, see below
            pass
        drop_from_cache(fd)
    finally:
        is_wanted = False  # also where a second Ctrl-C ends what follows
        # An error holds the frames that it came through: that of its thread, with memory that is
        # locked, and this one, which must not hold it. Garbage is collected in any thread.
        futures.clear()
        pool.shutdown(cancel_futures=True)
        os.close(fd)


def _copy(piece: torch.Tensor, offset: int, target: Target) -> None:
    """What of a piece, which begins there, belongs to a target."""
    first, last = max(target.offset, offset), min(target.end, offset + piece.numel())
    with torch.no_grad():
        target.memory[first - target.offset : last - target.offset].copy_(
            piece[first - offset : last - offset]
        )
