"""A file that is stored in blocks, read like the file: any bytes of it, some blocks ahead."""

from __future__ import annotations

import io
import os
from array import array
from bisect import bisect_right
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from instride.errors import DamagedError
from instride.lifetimes import Closing
from instride.system.cores import usable_cores

MOST_THREADS = 6
"""More would need more memory than 256 MB: a block in work takes 16 to 32."""
NUM_AHEAD = 2
"""Blocks that are decoded before they are asked for, beyond one for each thread."""


class Blocks(Protocol):
    """Blocks of a file, in order."""

    @property
    def starts(self) -> array[int]:
        """Where each block starts in the file; the last one is its end."""

    def block(self, number: int) -> Any:
        """The bytes of one block, as a buffer; threads may call it at the same time."""

    def close(self) -> None: ...


def num_threads() -> int:
    return min(MOST_THREADS, usable_cores())


class Ahead(Closing):
    """Blocks of a file that is read from front to back, decoded before they are asked for."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._num_blocks = len(blocks.starts) - 1
        self._pool = ThreadPoolExecutor(num_threads(), thread_name_prefix="ahead")
        self._num_ahead = num_threads() + NUM_AHEAD
        self._waiting: OrderedDict[int, Future[Any]] = OrderedDict()

    def block(self, number: int) -> Any:
        """One block; the ones behind it are begun."""
        for following in range(number, min(number + self._num_ahead, self._num_blocks)):
            if following not in self._waiting:
                self._waiting[following] = self._pool.submit(self._blocks.block, following)
        data = self._waiting[number].result()
        while len(self._waiting) > self._num_ahead:
            self._waiting.popitem(last=False)[1].cancel()
        return data

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class BlockFile(io.RawIOBase):
    """The original as a file that can be read from any place, for `torch.load` and the like."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self._blocks = blocks
        self._ahead = Ahead(blocks)
        self._at = 0
        self.damage: DamagedError | None = None
        """What a read failed with: torch's reader in C++ swallows it and raises something else."""

    @property
    def _end(self) -> int:
        return self._blocks.starts[-1]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        if origin + offset < 0:
            raise ValueError("there is nothing before the start of a file")
        self._at = origin + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the file goes."""
        try:
            return self._fill(buffer)
        except DamagedError as error:
            self.damage = error
            raise

    def _fill(self, buffer: Any) -> int:
        with memoryview(buffer).cast("B") as target:
            done = 0
            while done < len(target) and self._at < self._end:
                number = bisect_right(self._blocks.starts, self._at) - 1
                first = self._at - self._blocks.starts[number]
                with memoryview(self._ahead.block(number)) as block:
                    num_bytes = min(len(block) - first, len(target) - done)
                    target[done : done + num_bytes] = block[first : first + num_bytes]
                done += num_bytes
                self._at += num_bytes
            return done

    def close(self) -> None:
        if not self.closed:
            self._ahead.close()
            self._blocks.close()
        super().close()
