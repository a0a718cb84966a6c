"""An image on its way out of the arena, and a file on its way back: piece by piece."""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from blake3 import blake3

from instride.errors import DamagedError
from instride.faults import reached
from instride.image.finishing import Finisher
from instride.lifetimes import PerThread
from instride.reasons import Reason
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.verifying import drop_from_cache, open_for_reading, read_piece, wrong_size
from instride.writer.direct import PieceFile
from instride.writer.page import COPIED, PROGRESS, WRITTEN, SharedPage

POLL_S = 0.0005
READ_BYTES = 1 << 20
"""What a thread reads back at a time: as fast as whole pieces, in a quarter of the memory."""


class StreamEndedError(Exception):
    """The trainer is gone, or gave up, before all of the snapshot came through."""


class ImagePieces:
    """The whole pieces of one image: each is completed, hashed and written."""

    def __init__(
        self,
        arena: memoryview,
        num_pieces: int,
        finisher: Finisher,
        file: PieceFile,
        page: SharedPage,
        is_over: Callable[[], bool],
        streams: bool,
    ) -> None:
        self._arena = arena
        self._num_pieces = num_pieces
        self._num_slots = len(arena) // PIECE_BYTES
        self._finisher = finisher
        self._file = file
        self._page = page
        self._is_over = is_over
        self._streams = streams
        self._order = threading.Lock()
        self._next = 0
        self._tally = threading.Lock()
        self._done: set[int] = set()
        self._num_written = 0
        self.digests: dict[int, str] = {}

    def slot(self, index: int) -> memoryview:
        """Where a piece lies in the arena."""
        start = (index % self._num_slots if self._streams else index) * PIECE_BYTES
        return self._arena[start : start + PIECE_BYTES]

    def do_one(self) -> bool:
        index = self._take()
        if index is None:
            return False
        piece = self.slot(index)
        self.digests[index] = blake3(piece).hexdigest()
        reached("write")
        self._file.write(piece, index * PIECE_BYTES)
        self._tell(index)
        return True

    def _take(self) -> int | None:
        """The next piece, completed. Checksums run over pieces, so that this is done in order."""
        with self._order:
            if self._next >= self._num_pieces:
                return None
            index = self._next
            if self._is_over():
                raise StreamEndedError
            if self._streams:
                self.await_copy(index)
            self._finisher.finish(self.slot(index), index * PIECE_BYTES)
            self._next += 1
            return index

    def await_copy(self, index: int) -> None:
        """Wait until the trainer has put a piece of a stream into its slot."""
        while self._page[COPIED] <= index:
            if self._is_over():
                raise StreamEndedError
            time.sleep(POLL_S)

    def _tell(self, index: int) -> None:
        with self._tally:
            self._page[PROGRESS] += 1
            self._done.add(index)
            while self._num_written in self._done:
                self._done.discard(self._num_written)
                self._num_written += 1
            if self._streams:
                self._page[WRITTEN] = self._num_written


class ReadBack:
    """A committed file, read from the disk and compared with its manifest."""

    def __init__(self, path: Path, manifest: Manifest, page: SharedPage) -> None:
        self._path = path
        self._manifest = manifest
        self._page = page
        self._indices = iter(range(len(manifest.pieces)))
        self._order = threading.Lock()
        self._memory = PerThread(lambda: memoryview(mmap.mmap(-1, READ_BYTES)))
        size = path.stat().st_size
        if size != manifest.size_bytes:
            raise wrong_size(path, size, manifest)
        self._fd = open_for_reading(path)

    def do_one(self) -> bool:
        with self._order:
            index = next(self._indices, None)
        if index is None:
            return False
        offset = index * PIECE_BYTES
        if self._digest(offset) != self._manifest.pieces[index]:
            raise DamagedError(self._path, Reason("other-bytes", {"offset": offset}))
        self._page[PROGRESS] += 1
        return True

    def _digest(self, offset: int) -> str:
        digest, view = blake3(), self._memory.get()
        for start in range(offset, offset + PIECE_BYTES, READ_BYTES):
            num_bytes = read_piece(self._fd, view, start)
            digest.update(view[:num_bytes])
            if num_bytes < READ_BYTES:
                break  # the end of the file
        return digest.hexdigest()

    def close(self) -> None:
        drop_from_cache(self._fd)
        os.close(self._fd)
