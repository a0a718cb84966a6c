"""The blocks of a file, compressed by several threads, in order and in bounded memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple

from blake3 import blake3

from instride.errors import PackError
from instride.pack.arrays import Bytes, np
from instride.pack.container import Base, Method
from instride.pack.cutting import Cut, cut
from instride.pack.delta import Mapping
from instride.pack.dtypes import regions_of
from instride.pack.encoding import Encoded, encode
from instride.pack.planes import Codec
from instride.pack.reading import Pack, PackFile, num_threads
from instride.reasons import Reason

NUM_WAITING = 2
"""Blocks that are compressed before they can be written, beyond one for each thread."""


class Block(NamedTuple):
    data: Bytes
    encoded: Encoded
    base_offset: int
    digest: bytes


class Blocks:
    """The blocks of a file, compressed by several threads, in order."""

    def __init__(self, source: BinaryIO, base: Path | None) -> None:
        self._fd = source.fileno()
        self._path = Path(source.name)
        regions = regions_of(source)
        self._size = source.seek(0, os.SEEK_END)
        self._cuts = cut(regions, self._size)
        self._base = Pack(base, has_base=False) if base else None
        self._mapping: Mapping | None = None
        if base is not None and self._base is not None:
            if self._base.index.meta.base is not None:
                self._base.close()
                reason = Reason("base-delta", {"base": str(base)})
                raise PackError(str(self._path), reason, hint="hint.base")
            with PackFile(base) as original:
                self._mapping = Mapping(regions, regions_of(original), self._base.size_bytes)
        self._local = threading.local()
        self._pool = ThreadPoolExecutor(num_threads(), thread_name_prefix="pack")

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._base is not None:
            self._base.close()

    def __iter__(self) -> Iterator[Block]:
        waiting: deque[Future[Block]] = deque()
        for each in self._cuts:
            waiting.append(self._pool.submit(self._compress, each))
            if len(waiting) > num_threads() + NUM_WAITING:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def base_in_meta(self) -> Base | None:
        if self._base is None:
            return None
        index = self._base.index
        return Base(self._base.path.name, index.digest.hex(), index.size_bytes)

    def _compress(self, each: Cut) -> Block:
        if not hasattr(self._local, "codec"):
            self._local.codec = Codec()
        data = np.empty(each.end - each.start, np.uint8)
        if os.preadv(self._fd, [data.data], each.start) != len(data):
            raise PackError(str(self._path), Reason("changed"))
        digest = blake3(data.data).digest()
        offset = self._mapping.offset_of(each.start, each.end) if self._mapping else None
        base = None
        if self._base is not None and offset is not None:
            if self._base.has_block(offset, len(data), digest):
                return Block(data, Encoded(Method.SAME, 0, []), offset, digest)
            base = np.frombuffer(self._base.read_at(offset, len(data)), np.uint8)
        encoded = encode(self._local.codec, data, each.width, base)
        return Block(data, encoded, offset or 0, digest)
