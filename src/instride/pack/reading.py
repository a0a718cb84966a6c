"""Reading a pack as if it were the file: any bytes of it, blocks decoded when they are needed."""

from __future__ import annotations

import io
import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from blake3 import blake3

from instride.errors import DamagedError
from instride.pack.arrays import np
from instride.pack.container import Base, Entry, Index, Method, read_index
from instride.pack.planes import Codec, CorruptError
from instride.reasons import Reason
from instride.system.cores import usable_cores

MOST_THREADS = 6
"""More would need more memory than 256 MB: a block in work takes 16 to 32."""
NUM_AHEAD = 2
"""Blocks that are decoded before they are asked for, beyond one for each thread."""


class Pack:
    """An open pack. Every block that it hands out has the hash that was written for it."""

    def __init__(self, path: Path, *, has_base: bool = True) -> None:
        """Raises DamagedError for what is no whole pack, or whose base is not there.

        `has_base=False` leaves the base closed: a base itself must have none."""
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.base: Pack | None = None
        self._local = threading.local()
        try:
            self.index: Index = read_index(self._fd, path)
            if has_base and self.index.meta.base is not None:
                self.base = _open_base(path, self.index.meta.base)
        except BaseException:
            os.close(self._fd)
            raise

    @property
    def size_bytes(self) -> int:
        """Of the original."""
        return self.index.size_bytes

    @property
    def stored_bytes(self) -> int:
        """Of the pack."""
        return os.fstat(self._fd).st_size

    def block(self, number: int) -> Any:
        """The bytes of one block, as a buffer. Raises DamagedError if they are not what they were;
        threads may call it at the same time."""
        entry = self.index[number]
        try:
            data = self._decode(number, entry)
        except CorruptError as error:
            raise self._damaged(number) from error
        if blake3(data).digest() != entry.digest:
            raise self._damaged(number)
        return data

    def read_at(self, offset: int, num_bytes: int) -> bytes:
        """Some bytes of the original; fewer at its end only."""
        end = min(offset + num_bytes, self.size_bytes)
        parts = []
        number = bisect_right(self.index.starts, offset) - 1
        while offset < end:
            start, stop = self.index.starts[number], self.index.starts[number + 1]
            with memoryview(self.block(number)) as view:
                parts.append(bytes(view[offset - start : min(end, stop) - start]))
            offset = stop
            number += 1
        return b"".join(parts)

    def has_block(self, offset: int, num_bytes: int, digest: bytes) -> bool:
        """Whether there is a block at that place with that hash; nothing is decoded to tell."""
        number = bisect_right(self.index.starts, offset) - 1
        if number >= len(self.index) or self.index.starts[number] != offset:
            return False
        entry = self.index[number]
        return (entry.num_bytes, entry.digest) == (num_bytes, digest)

    def blocks(self) -> Iterator[Any]:
        """All blocks in order, several of them decoded at a time."""
        with Ahead(self) as ahead:
            for number in range(len(self.index)):
                yield ahead.block(number)

    def close(self) -> None:
        if self.base is not None:
            self.base.close()
            self.base = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Pack:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _decode(self, number: int, entry: Entry) -> Any:
        if entry.method is Method.SAME:
            return self._of_base(entry)
        stored = os.pread(self._fd, entry.stored_bytes, self.index.places[number])
        if len(stored) != entry.stored_bytes:
            raise CorruptError
        codec = self._codec()
        if entry.method is Method.RAW:
            return stored
        if entry.method is Method.ZSTD:
            return codec.expand(stored, entry.num_bytes)
        data = codec.join(memoryview(stored), entry.num_bytes, entry.width)
        if entry.method is Method.XOR:
            data ^= np.frombuffer(self._of_base(entry), np.uint8)
        return data

    def _of_base(self, entry: Entry) -> bytes:
        assert self.base is not None  # an index that needs a base has one: it was checked
        return self.base.read_at(entry.base_offset, entry.num_bytes)

    def _codec(self) -> Codec:
        if not hasattr(self._local, "codec"):
            self._local.codec = Codec()
        codec: Codec = self._local.codec
        return codec

    def _damaged(self, number: int) -> DamagedError:
        return DamagedError(self.path, Reason("other-bytes", {"offset": self.index.places[number]}))


def _open_base(path: Path, base: Base) -> Pack:
    """The base of a delta: a full pack in the same directory, of that very original."""
    place = path.with_name(base.name)
    try:
        pack = Pack(place, has_base=False)
    except OSError as error:
        raise DamagedError(path, Reason("no-base", {"base": base.name})) from error
    index = pack.index
    is_it = index.digest.hex() == base.blake3 and index.size_bytes == base.size_bytes
    if not is_it or index.meta.base is not None:
        pack.close()
        raise DamagedError(path, Reason("other-base", {"base": base.name}))
    return pack


def num_threads() -> int:
    return min(MOST_THREADS, usable_cores())


class Ahead:
    """Blocks of a pack that is read from front to back, decoded before they are asked for."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._pool = ThreadPoolExecutor(num_threads(), thread_name_prefix="unpack")
        self._num_ahead = num_threads() + NUM_AHEAD
        self._waiting: OrderedDict[int, Future[Any]] = OrderedDict()

    def block(self, number: int) -> Any:
        """One block; the ones behind it are begun."""
        last = min(number + self._num_ahead, len(self._pack.index))
        for following in range(number, last):
            if following not in self._waiting:
                self._waiting[following] = self._pool.submit(self._pack.block, following)
        data = self._waiting[number].result()
        while len(self._waiting) > self._num_ahead:
            self._waiting.popitem(last=False)[1].cancel()
        return data

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)


class PackFile(io.RawIOBase):
    """The original as a file that can be read from any place, for `torch.load` and the like."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._pack = Pack(path)
        self._ahead = Ahead(self._pack)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._pack.size_bytes}[whence]
        if origin + offset < 0:
            raise ValueError("there is nothing before the start of a file")
        self._at = origin + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the file goes."""
        with memoryview(buffer).cast("B") as target:
            done = 0
            while done < len(target) and self._at < self._pack.size_bytes:
                starts = self._pack.index.starts
                number = bisect_right(starts, self._at) - 1
                first = self._at - starts[number]
                with memoryview(self._ahead.block(number)) as block:
                    num_bytes = min(len(block) - first, len(target) - done)
                    target[done : done + num_bytes] = block[first : first + num_bytes]
                done += num_bytes
                self._at += num_bytes
            return done

    def close(self) -> None:
        if not self.closed:
            self._ahead.__exit__(None, None, None)
            self._pack.close()
        super().close()
