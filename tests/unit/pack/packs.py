"""Files to pack, made the same every time, and containers that nobody sane would write."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
from blake3 import blake3

from instride.pack.container import (
    BLOCK_BYTES,
    END_MAGIC,
    FOOTER,
    HEADER,
    MAGIC,
    SEALED,
    VERSION,
    Entry,
    Meta,
    Method,
)
from instride.pack.packing import pack


def numbers(count: int, seed: int = 1) -> Iterator[int]:
    """Whole numbers that look random, the same with every Python and numpy."""
    state = seed
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def weights(count: int, seed: int = 1) -> bytes:
    """Floats as training leaves them: few exponents, mantissas without any order."""
    parts = np.fromiter(numbers(4 * count, seed), np.uint64, 4 * count).reshape(4, count)
    bells = parts.astype(np.float64).sum(axis=0) / 2**31 - 2.0
    floats: bytes = (bells * 0.02).astype("<f4").tobytes()
    return floats


def nudged(data: bytes, seed: int = 2) -> bytes:
    """The same floats some steps later."""
    floats = np.frombuffer(data, "<f4")
    moves = np.frombuffer(weights(len(floats), seed), "<f4")
    return (floats + moves * np.float32(0.01)).astype("<f4").tobytes()


def safetensors(**tensors: tuple[str, bytes]) -> bytes:
    """A file with these tensors, by name, dtype and bytes."""
    header, at = {}, 0
    for name, (dtype, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": [], "data_offsets": [at, at + len(data)]}
        at += len(data)
    raw = msgspec.json.encode(header)
    raw += b" " * (-len(raw) % 8)
    return struct.pack("<Q", len(raw)) + raw + b"".join(data for _, data in tensors.values())


def packed(path: Path, data: bytes, base: Path | None = None) -> Path:
    """A pack of these bytes; the original is gone."""
    path.write_bytes(data)
    return Path(pack(path, base).path)


def container(
    blocks: list[bytes],
    entries: list[Entry],
    *,
    meta: bytes | None = None,
    size_bytes: int | None = None,
    version: int = VERSION,
    block_bytes: int = BLOCK_BYTES,
    num_blocks: int | None = None,
    offset: int | None = None,
) -> bytes:
    """A pack with whatever in it, its seal in order."""
    raw_meta = msgspec.json.encode(Meta("x.bin")) if meta is None else meta
    raw_index = b"".join(entry.pack() for entry in entries)
    head = HEADER.pack(MAGIC, version, block_bytes)
    place = HEADER.size + sum(map(len, blocks)) if offset is None else offset
    size = sum(entry.num_bytes for entry in entries) if size_bytes is None else size_bytes
    count = len(entries) if num_blocks is None else num_blocks
    values = (place, len(raw_meta), count, size, bytes(32))
    seal = blake3(head + raw_meta + raw_index + FOOTER.pack(*values, bytes(32), END_MAGIC)[:SEALED])
    footer = FOOTER.pack(*values, seal.digest(), END_MAGIC)
    return head + b"".join(blocks) + raw_meta + raw_index + footer


def entry(
    data: bytes,
    stored_bytes: int | None = None,
    method: Method = Method.RAW,
    width: int = 0,
    base_offset: int = 0,
) -> Entry:
    """The entry of a block with these original bytes."""
    size = len(data) if stored_bytes is None else stored_bytes
    return Entry(len(data), size, base_offset, method, width, blake3(data).digest())
