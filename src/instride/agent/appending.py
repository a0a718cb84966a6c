"""Writing a file that grows by odd lengths, in whole pieces past the page cache."""

from __future__ import annotations

import mmap
from pathlib import Path

from instride.faults import reached
from instride.store.atomic import sync_file
from instride.store.manifest import PIECE_BYTES
from instride.writer.direct import PieceFile, aligned_copy


class Appended:
    """A new file, for one thread."""

    def __init__(self, path: Path) -> None:
        self._file = PieceFile(path, 0)
        self._buffer = mmap.mmap(-1, PIECE_BYTES)
        self._num_written = 0
        self._num_buffered = 0

    def add(self, data: bytes) -> None:
        done = 0
        while done < len(data):
            taken = data[done : done + PIECE_BYTES - self._num_buffered]
            self._buffer[self._num_buffered : self._num_buffered + len(taken)] = taken
            self._num_buffered += len(taken)
            done += len(taken)
            if self._num_buffered == PIECE_BYTES:
                with memoryview(self._buffer) as view:
                    self._file.write(view, self._num_written)
                self._num_written += PIECE_BYTES
                self._num_buffered = 0

    def finish(self) -> None:
        """Write what is left, cut the file to its length, and wait for the disk."""
        size = self._num_written + self._num_buffered
        if self._num_buffered:
            with memoryview(self._buffer) as view, view[: self._num_buffered] as rest:
                last = aligned_copy(rest)
            with last, memoryview(last) as view:
                self._file.write(view, self._num_written)
        self._file.cut(size)
        reached("agent.written")
        sync_file(self._file.fd)
        reached("agent.synced")

    def close(self) -> None:
        self._file.close()
        self._buffer.close()
