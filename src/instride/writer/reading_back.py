"""A file on its way back: what lies on the disk, compared with what should."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from isal.isal_zlib import crc32, crc32_combine

from instride.errors import DamagedError
from instride.lifetimes import PerThread
from instride.reasons import other_bytes
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import (
    drop_from_cache,
    memory_to_read_into,
    open_for_reading,
    read_piece,
)
from instride.writer.page import SharedPage


class Sum(Protocol):
    """What sums up a piece: a hash, or a checksum."""

    def update(self, data: memoryview, /) -> object: ...

    def hexdigest(self) -> str: ...


class Checksum:
    """CRC-32, used like a hash: an eighth of its work, and enough against a disk, which errs
    without intent."""

    def __init__(self, data: memoryview | bytes = b"") -> None:
        self._crc = crc32(data)

    def update(self, data: memoryview) -> None:
        self._crc = crc32(data, self._crc)

    def append(self, crc: int, num_bytes: int) -> None:
        """Count in bytes of which only the checksum is given."""
        self._crc = crc32_combine(self._crc, crc, num_bytes)

    def hexdigest(self) -> str:
        return f"{self._crc:08x}"


class ReadBack:
    """A committed file, read from the disk and compared with what should be there."""

    def __init__(
        self, path: Path, expected: Sequence[str], new_sum: Callable[[], Sum], page: SharedPage
    ) -> None:
        self._path = path
        self._expected = expected
        self._new_sum = new_sum
        self._page = page
        self._indices = iter(range(len(expected)))
        self._order = threading.Lock()
        self._memory = PerThread(lambda: memoryview(memory_to_read_into()))
        self._fd = open_for_reading(path)

    def do_one(self) -> bool:
        with self._order:
            index = next(self._indices, None)
        if index is None:
            return False
        offset = index * PIECE_BYTES
        if self._sum(offset) != self._expected[index]:
            num_bytes = min(PIECE_BYTES, os.fstat(self._fd).st_size - offset)
            raise DamagedError(self._path, other_bytes(offset, num_bytes))
        self._page.count_progress()
        return True

    def _sum(self, offset: int) -> str:
        total, view = self._new_sum(), self._memory.get()
        total.update(view[: read_piece(self._fd, view, offset)])
        return total.hexdigest()

    def close(self) -> None:
        drop_from_cache(self._fd)
        os.close(self._fd)
