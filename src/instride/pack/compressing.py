"""The blocks of a file, each read and compressed by whichever thread asks for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from instride.errors import PackError
from instride.lifetimes import Closing, PerThread
from instride.pack.arrays import Bytes, np
from instride.pack.container import BLOCK_BYTES, Base, Method
from instride.pack.cutting import Cut, cut
from instride.pack.delta import Mapping
from instride.pack.dtypes import regions_of
from instride.pack.encoding import Encoded, encode
from instride.pack.planes import Codec
from instride.pack.reading import Pack, PackFile
from instride.reasons import Reason


class Block(NamedTuple):
    data: Bytes
    encoded: Encoded
    base_offset: int
    digest: bytes


class Compression(Closing):
    """A file to be packed, and what it is packed against."""

    def __init__(self, path: Path, base: Path | None) -> None:
        """Raises PackError for a base that has a base, DamagedError for one that is none."""
        self.path = path
        self._file = path.open("rb")
        self._base: Pack | None = None
        self._mapping: Mapping | None = None
        self._codec = PerThread(Codec)
        self._spare: list[Bytes] = []
        self.only_stores = False
        """For whoever is short of time: blocks as they are, which readers know as well."""
        try:
            regions = regions_of(self._file)
            self.size_bytes = self._file.seek(0, os.SEEK_END)
            self.cuts = cut(regions, self.size_bytes)
            if base is not None:
                self._base = _opened(path, base)
                with PackFile(base) as original:
                    self._mapping = Mapping(
                        regions, regions_of(original, regions), self._base.size_bytes
                    )
        except BaseException:
            self.close()
            raise

    def compress(self, each: Cut, *, alone: bool = False) -> Block:
        """One block, not against the base if it is to stand alone. Raises PackError if the file
        has become shorter."""
        memory = self._memory()
        data, room = memory[: each.end - each.start], memory[BLOCK_BYTES:]
        if os.preadv(self._file.fileno(), [data.data], each.start) != len(data):
            raise PackError(str(self.path), Reason("changed"))
        digest = blake3(data.data).digest()
        if self.only_stores:
            return Block(data, Encoded(Method.RAW, 0, [data.data]), 0, digest)
        offset = self._place_in_base(each)
        base = None
        if self._base is not None and offset is not None and not alone:
            if self._base.has_block(offset, len(data), digest):
                return Block(data, Encoded(Method.SAME, 0, []), offset, digest)
            base = np.frombuffer(self._base.stretch(offset, len(data)), np.uint8)
        encoded = encode(self._codec.get(), data, each.width, base, room)
        return Block(data, encoded, offset or 0, digest)

    def _place_in_base(self, each: Cut) -> int | None:
        return self._mapping.offset_of(each.start, each.end) if self._mapping else None

    def drop_base(self) -> None:
        """Pack the file in full after all."""
        if self._base is not None:
            self._base.close()
        self._base = self._mapping = None

    def take_back(self, block: Block) -> None:
        """The memory of a block that nobody needs any more: the next one goes there."""
        whole = block.data.base
        if isinstance(whole, np.ndarray):
            self._spare.append(whole)

    def forget(self, each: Cut) -> None:
        """Leave no trace of a block in the cache of the system."""
        if hasattr(os, "posix_fadvise"):
            length = each.end - each.start
            os.posix_fadvise(self._file.fileno(), each.start, length, os.POSIX_FADV_DONTNEED)

    def base_in_meta(self) -> Base | None:
        if self._base is None:
            return None
        index = self._base.index
        return Base(self._base.path.name, index.digest.hex(), index.size_bytes)

    def close(self) -> None:
        self._file.close()
        self.drop_base()

    def _memory(self) -> Bytes:
        try:
            return self._spare.pop()
        except IndexError:
            return np.empty(2 * BLOCK_BYTES, np.uint8)  # for what is read, and for its planes


def _opened(path: Path, base: Path) -> Pack:
    pack = Pack(base, has_base=False)
    if pack.index.meta.base is not None:
        pack.close()
        raise PackError(str(path), Reason("base-delta", {"base": str(base)}), hint="hint.base")
    return pack
