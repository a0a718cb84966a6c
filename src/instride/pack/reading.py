"""Reading a pack as if it were the file: any bytes of it, blocks decoded when they are needed."""

from __future__ import annotations

import os
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blake3 import blake3

from instride.errors import DamagedError
from instride.framed.blocks import Ahead, BlockFile
from instride.framed.codecs import CorruptError
from instride.lifetimes import OpenFile, PerThread
from instride.pack.arrays import Bytes, np
from instride.pack.container import Base, Entry, Index, Method, read_index
from instride.pack.planes import Codec
from instride.reasons import Reason, other_bytes


class Pack(OpenFile):
    """An open pack. Every block that it hands out has the hash that was written for it."""

    def __init__(self, path: Path, *, has_base: bool = True) -> None:
        """Raises DamagedError for what is no whole pack, or whose base is not there.

        `has_base=False` leaves the base closed: a base itself must have none."""
        super().__init__(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        self.path = path
        self.base: Pack | None = None
        self._codec = PerThread(Codec)
        self._local = threading.local()
        try:
            self.index: Index = read_index(self._fd, path)
            if has_base and self.index.meta.base is not None:
                self.base = _open_base(path, self.index.meta.base)
        except BaseException:
            self.close()
            raise

    @property
    def size_bytes(self) -> int:
        """Of the original."""
        return self.index.size_bytes

    @property
    def starts(self) -> array[int]:
        """Where each block starts in the original; the last one is its end."""
        return self.index.starts

    @property
    def stored_bytes(self) -> int:
        """Of the pack."""
        return os.fstat(self._fd).st_size

    def block(self, number: int, room: Bytes | None = None) -> Any:
        """The bytes of one block, as a buffer, which may lie in `room`. Raises DamagedError if they
        are not what they were; threads may call it at the same time."""
        entry = self.index[number]
        try:
            data = self._decode(number, entry, room)
        except CorruptError as error:
            raise self._damaged(number) from error
        if blake3(data).digest() != entry.digest:
            raise self._damaged(number)
        return data

    def stretch(self, offset: int, num_bytes: int) -> Any:
        """As `read_at`, as a buffer: a whole block is not copied."""
        number = bisect_right(self.starts, offset) - 1
        is_block = (
            number + 1 < len(self.starts)
            and self.starts[number] == offset
            and self.starts[number + 1] == offset + num_bytes
        )
        return self.block(number) if is_block else self.read_at(offset, num_bytes)

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
        super().close()

    def _decode(self, number: int, entry: Entry, room: Bytes | None) -> Any:
        if entry.method is Method.SAME:
            return self._of_base(entry)
        stored = self._stored(number, entry)
        codec = self._codec.get()
        if entry.method is Method.RAW:
            return bytes(stored)
        if entry.method is Method.ZSTD:
            return codec.expand(stored, entry.num_bytes)
        data = codec.join(stored, entry.num_bytes, entry.width, room)
        if entry.method is Method.XOR:
            data ^= np.frombuffer(self._of_base(entry), np.uint8)
        return data

    def _stored(self, number: int, entry: Entry) -> memoryview:
        """The bytes of a block as they lie there, in memory that the next block of this thread will
        use too: new pages cost as much as the work."""
        memory: memoryview | None = getattr(self._local, "memory", None)
        if memory is None or len(memory) < entry.stored_bytes:
            memory = self._local.memory = memoryview(bytearray(entry.stored_bytes))
        stored = memory[: entry.stored_bytes]
        if os.preadv(self._fd, [stored], self.index.places[number]) != entry.stored_bytes:
            raise CorruptError
        return stored

    def _of_base(self, entry: Entry) -> Any:
        assert self.base is not None  # an index that needs a base has one: it was checked
        return self.base.stretch(entry.base_offset, entry.num_bytes)

    def _damaged(self, number: int) -> DamagedError:
        place, num_bytes = self.index.places[number], self.index[number].stored_bytes
        return DamagedError(self.path, other_bytes(place, num_bytes))


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


class PackFile(BlockFile):
    """The original as a file that can be read from any place, for `torch.load` and the like."""

    def __init__(self, path: Path) -> None:
        super().__init__(Pack(path))
