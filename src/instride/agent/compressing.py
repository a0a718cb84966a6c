"""From a script's file to a committed smaller one: frames, read back and compared, then a name.

Memory is bounded by the number of threads, whatever the size of the file; the page cache is left
to the training. Every piece of work is done in a turn, which the governor gives.
"""

from __future__ import annotations

import mmap
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from blake3 import blake3

from instride.agent.appending import Appended
from instride.agent.wholeness import Identity
from instride.errors import DamagedError
from instride.faults import reached
from instride.framed.codecs import Codec, CorruptError
from instride.framed.container import FRAME_BYTES, Frame, closing
from instride.governor.pace import Pace
from instride.governor.yielding import yield_thread
from instride.lifetimes import Closing, PerThread
from instride.reasons import other_bytes
from instride.store.atomic import give_name, removed_on_failure, temporary_beside
from instride.store.manifest import PIECE_BYTES, Manifest, read_token, write_manifest
from instride.store.verifying import drop_from_cache, open_for_reading, pieces_of, read_piece

NUM_WAITING = 2
"""Frames that are done before they can be written, beyond one for each thread."""
PASSES = 2
"""How often every byte of an original is worked on: compressed, and compared."""
T = TypeVar("T")


class ChangedError(Exception):
    """The file is another one than when the work began."""


class Order(msgspec.Struct, frozen=True):
    """One file to compress."""

    source: Path
    final: Path
    identity: Identity
    describe: Callable[[Manifest], Manifest]
    """Adds what the store knows of the checkpoint to what follows from its bytes."""


class Means(msgspec.Struct, frozen=True):
    """What to do it with."""

    make_codec: Callable[[], Codec]
    pace: Pace
    num_threads: int
    advance: Callable[[int], None]
    """Is told how many more bytes are done, of twice the size of the original."""


class _Piece(msgspec.Struct, frozen=True):
    frame: Frame
    stored: bytes
    digest: bytes
    """BLAKE3 of the original."""


def compress(order: Order, means: Means) -> int:
    """Make the file, compare it with the original, and give it its name; its size.

    Raises ChangedError if the original is not the one that was looked at, DamagedError if what was
    read back differs, and OSError.
    """
    temporary = temporary_beside(order.final)
    with _Work(means) as work, removed_on_failure(temporary):
        frames, digests = work.write(order.source, temporary)
        pieces = work.read_back(temporary, frames, digests)
        return commit(order, temporary, pieces)


def commit(order: Order, temporary: Path, pieces: list[str]) -> int:
    """Give what was made and read back its name, if the original is still the same; its size."""
    reached("agent.checked")
    _check_unchanged(order)
    manifest = order.describe(
        Manifest(
            name=order.final.name,
            token=read_token(temporary),
            size_bytes=temporary.stat().st_size,
            pieces=pieces,
            created_s=order.identity.mtime_ns / 1e9,
            original_bytes=order.identity.size_bytes,
        )
    )
    os.utime(temporary, ns=(order.identity.mtime_ns, order.identity.mtime_ns))
    write_manifest(order.final, manifest)  # first: a final name always has one
    reached("agent.manifest")
    give_name(temporary, order.final)
    reached("agent.renamed")
    return manifest.size_bytes


def _check_unchanged(order: Order) -> None:
    try:
        now = Identity.of(order.source.stat())
    except FileNotFoundError:
        raise ChangedError from None
    if now != order.identity:
        raise ChangedError


class _Work(Closing):
    def __init__(self, means: Means) -> None:
        self._means = means
        self._codec = PerThread(means.make_codec)
        self._buffer = PerThread(lambda: mmap.mmap(-1, FRAME_BYTES))  # for direct reads
        self._pool = ThreadPoolExecutor(means.num_threads, "frames", initializer=yield_thread)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def write(self, source: Path, temporary: Path) -> tuple[list[Frame], list[bytes]]:
        """Write the frames and their table, durably; the hashes of what they hold."""
        frames, digests = [], []
        fd = open_for_reading(source)
        try:
            size = os.fstat(fd).st_size
            target = Appended(temporary)
            try:
                reached("agent.opened")
                starts = range(0, size, FRAME_BYTES)
                for piece in self._in_order(self._squeeze, [(fd, start) for start in starts]):
                    target.add(piece.stored)
                    frames.append(piece.frame)
                    digests.append(piece.digest)
                    reached("agent.write")
                target.add(closing(frames))
                target.finish()
            finally:
                target.close()
            drop_from_cache(fd)
        finally:
            os.close(fd)
        return frames, digests

    def read_back(self, path: Path, frames: list[Frame], digests: list[bytes]) -> list[str]:
        """Compare all of a file, as it lies on the disk, with its original; the hashes of its
        pieces. Raises DamagedError."""
        pieces: list[str] = []
        table = bytearray()

        def stored() -> Iterator[tuple[int, bytes]]:
            number = 0
            for piece in pieces_of(path, PIECE_BYTES):
                pieces.append(blake3(piece).hexdigest())
                table.extend(piece)
                while number < len(frames) and len(table) >= frames[number].stored_bytes:
                    num_bytes = frames[number].stored_bytes
                    yield number, bytes(table[:num_bytes])
                    del table[:num_bytes]
                    number += 1

        def compare(number: int, frame: bytes) -> bool:
            num_bytes = frames[number].num_bytes
            with self._means.pace.turn(num_bytes):
                try:
                    data = self._codec.get().expand(frame, num_bytes)
                except CorruptError:
                    return False
                is_same = blake3(data).digest() == digests[number]
            self._means.advance(num_bytes)
            return is_same

        num_same = 0
        for is_same in self._in_order(compare, stored()):
            if not is_same:
                break
            num_same += 1
        if num_same != len(frames) or bytes(table) != closing(frames):
            sizes = [*(frame.stored_bytes for frame in frames), len(closing(frames))]
            raise DamagedError(path, other_bytes(sum(sizes[:num_same]), sizes[num_same]))
        return pieces

    def _in_order(self, do: Callable[..., T], each: Any) -> Iterator[T]:
        """Do something for each, by several threads, a few ahead of what is asked for."""
        waiting: deque[Future[T]] = deque()
        for args in each:
            waiting.append(self._pool.submit(do, *args))
            if len(waiting) >= self._means.num_threads + NUM_WAITING:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _squeeze(self, fd: int, start: int) -> _Piece:
        pace = self._means.pace
        with pace.turn(FRAME_BYTES), memoryview(self._buffer.get()) as view:
            num_bytes = read_piece(fd, view, start)
            codec = self._codec.get()
            with view[:num_bytes] as data:
                digest = blake3(data).digest()
                stored = codec.compress(data, pace.codec_step)
        if not num_bytes:
            raise ChangedError
        self._means.advance(num_bytes)
        return _Piece(Frame(len(stored), num_bytes, codec.checksum(stored)), stored, digest)
