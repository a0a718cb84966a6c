"""The bytes of a pack around its blocks: header, index and footer, written last and read first.

Tables with the offsets: docs/internals/pack.md. Whoever reads an index here can trust its numbers:
they add up to the file, whoever wrote it.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import accumulate
from pathlib import Path

import msgspec
from blake3 import blake3

from instride.errors import DamagedError
from instride.reasons import Reason

VERSION = 1
MAGIC = b"\x89IPACK\r\n"
END_MAGIC = b"\x89IPEND\r\n"
HEADER = struct.Struct("<8sII")
ENTRY = struct.Struct("<IIQBB6x32s")
FOOTER = struct.Struct("<QIIQ32s32s8s")
SEALED = 56
"""So many bytes of the footer are sealed by what follows them."""
BLOCK_BYTES = 4 << 20
MOST_BLOCK_BYTES = 16 << 20
MOST_BLOCKS = 1 << 20
MOST_META_BYTES = 64 << 10
WIDTHS = (1, 2, 4, 8)


class Method(IntEnum):
    """How a block is stored."""

    RAW = 0
    ZSTD = 1
    PLANES = 2
    SAME = 3
    """As the base has it."""
    XOR = 4
    """The planes of what differs from the base."""


class Base(msgspec.Struct, frozen=True):
    """The full pack that a delta was made against."""

    name: str
    """Of the file, in the same directory."""
    blake3: str
    """Of its original."""
    size_bytes: int
    """Of its original."""


class Meta(msgspec.Struct, frozen=True):
    name: str
    """Of the original."""
    base: Base | None = None


class Entry(msgspec.Struct, frozen=True):
    """One block."""

    num_bytes: int
    """Of the original."""
    stored_bytes: int
    base_offset: int
    method: Method
    width: int
    """Bytes of an element where there are planes, else 0."""
    digest: bytes

    def pack(self) -> bytes:
        return ENTRY.pack(
            self.num_bytes,
            self.stored_bytes,
            self.base_offset,
            self.method,
            self.width,
            self.digest,
        )


class Index:
    """What a pack says of itself, and where each block lies."""

    def __init__(self, meta: Meta, entries: bytes, size_bytes: int, digest: bytes) -> None:
        self.meta = meta
        self.size_bytes = size_bytes
        """Of the original."""
        self.digest = digest
        """BLAKE3 of the original."""
        self._entries = entries
        each = list(self)
        self.starts = array("Q", accumulate((e.num_bytes for e in each), initial=0))
        """Where each block starts in the original; the last one is the end."""
        self.places = array("Q", accumulate((e.stored_bytes for e in each), initial=HEADER.size))
        """Where each block starts in the pack."""

    def __len__(self) -> int:
        return len(self._entries) // ENTRY.size

    def __getitem__(self, number: int) -> Entry:
        num_bytes, stored_bytes, base_offset, method, width, digest = ENTRY.unpack_from(
            self._entries, number * ENTRY.size
        )
        return Entry(num_bytes, stored_bytes, base_offset, Method(method), width, digest)

    def __iter__(self) -> Iterator[Entry]:
        return (self[number] for number in range(len(self)))


def header() -> bytes:
    return HEADER.pack(MAGIC, VERSION, BLOCK_BYTES)


def closing(meta: Meta, entries: Sequence[Entry], size_bytes: int, digest: bytes) -> bytes:
    """Everything behind the blocks: without its last byte, a file is no pack."""
    raw_meta = msgspec.json.encode(meta)
    raw_index = b"".join(entry.pack() for entry in entries)
    offset = HEADER.size + sum(entry.stored_bytes for entry in entries)
    values = (offset, len(raw_meta), len(entries), size_bytes, digest)
    unsealed = FOOTER.pack(*values, bytes(32), END_MAGIC)[:SEALED]
    seal = blake3(header() + raw_meta + raw_index + unsealed).digest()
    return raw_meta + raw_index + FOOTER.pack(*values, seal, END_MAGIC)


def is_pack(path: Path) -> bool:
    """Whether a file starts as a pack does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_index(fd: int, path: Path) -> Index:
    """What lies in a pack. Raises DamagedError for one that is cut off, or was tampered with."""
    size = os.fstat(fd).st_size
    head = os.pread(fd, HEADER.size, 0)
    if head[: len(MAGIC)] != MAGIC:
        raise DamagedError(path, Reason("no-pack"))
    end = os.pread(fd, FOOTER.size, max(0, size - FOOTER.size))
    if size < HEADER.size + FOOTER.size or not end.endswith(END_MAGIC):
        raise DamagedError(path, Reason("pack-cut"))
    _, version, block_bytes = HEADER.unpack(head)
    if version != VERSION:
        raise DamagedError(path, Reason("pack-version", {"version": version}))
    offset, meta_bytes, num_blocks, size_bytes, digest, seal, _ = FOOTER.unpack(end)
    closing_bytes = meta_bytes + num_blocks * ENTRY.size + FOOTER.size
    is_plausible = (
        meta_bytes <= MOST_META_BYTES
        and num_blocks <= MOST_BLOCKS
        and block_bytes <= MOST_BLOCK_BYTES
        and offset + closing_bytes == size
    )
    if not is_plausible:
        raise DamagedError(path, Reason("pack-index"))
    raw = os.pread(fd, closing_bytes - FOOTER.size, offset)
    if blake3(head + raw + end[:SEALED]).digest() != seal:
        raise DamagedError(path, Reason("pack-index"))
    try:
        meta = msgspec.json.decode(raw[:meta_bytes], type=Meta)
        index = Index(meta, raw[meta_bytes:], size_bytes, digest)
        _check(index, offset, block_bytes)
    except (msgspec.DecodeError, ValueError) as error:
        raise DamagedError(path, Reason("pack-index")) from error
    return index


def _check(index: Index, end: int, block_bytes: int) -> None:
    """Raise ValueError where the numbers of an index do not add up, seal or no seal."""
    meta = index.meta
    names = [meta.name] + ([meta.base.name] if meta.base else [])
    if any(not _is_bare(name) for name in names):
        raise ValueError("a name leads out of the directory")
    if index.starts[-1] != index.size_bytes or index.places[-1] != end:
        raise ValueError("the blocks are not all of the file")
    base_bytes = meta.base.size_bytes if meta.base else 0
    for entry in index:
        if not _is_possible(entry, block_bytes, base_bytes):
            raise ValueError("a block that cannot be")


def _is_bare(name: str) -> bool:
    return name not in ("", ".", "..") and not {"/", "\0"} & set(name)


def _is_possible(entry: Entry, block_bytes: int, base_bytes: int) -> bool:
    has_planes = entry.method in (Method.PLANES, Method.XOR)
    needs_base = entry.method in (Method.SAME, Method.XOR)
    stored = {Method.RAW: entry.num_bytes, Method.SAME: 0}.get(entry.method)
    return (
        0 < entry.num_bytes <= block_bytes
        and (entry.stored_bytes == stored if stored is not None else entry.stored_bytes > 0)
        and entry.stored_bytes <= entry.num_bytes
        and (entry.width in WIDTHS if has_planes else entry.width == 0)
        and (entry.base_offset + entry.num_bytes <= base_bytes if needs_base else True)
        and (needs_base or entry.base_offset == 0)
    )
