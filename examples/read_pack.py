"""Reads a pack with nothing of instride: python examples/read_pack.py step.pt.pack > step.pt

Only the standard library's zstd (from Python 3.14; below it, backports.zstd) and blake3 are needed.
The format is described in docs/internals/pack.md.
"""

import json
import struct
import sys
from pathlib import Path

from blake3 import blake3

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def join(stored: bytes, size: int, width: int) -> bytes:
    """Planes to numbers: bytes side by side, then the sign from the lowest bit to the highest."""
    count, at, block = size // width, 4 * width, bytearray(size)
    for number, length in enumerate(struct.unpack_from(f"<{width}I", stored)):
        plane = stored[at : at + length]
        plane = plane if length == count else zstd.decompress(plane)
        block[number : count * width : width] = plane
        at += length
    block[count * width :] = stored[at:]
    if width > 1:  # all numbers of a block at once, as the digits of a large one
        signs = int.from_bytes((b"\1" + bytes(width - 1)) * count, "little")
        whole = int.from_bytes(block[: count * width], "little")
        turned = ((whole & ~signs) >> 1) | ((whole & signs) << (8 * width - 1))
        block[: count * width] = turned.to_bytes(count * width, "little")
    return bytes(block)


def read(path: Path) -> bytes:
    pack, original, place = path.read_bytes(), b"", 16
    offset, meta_size, _, _, whole, seal, end = struct.unpack("<QIIQ32s32s8s", pack[-96:])
    assert (pack[:8], end) == (b"\x89IPACK\r\n", b"\x89IPEND\r\n"), "no pack, or cut off"
    assert blake3(pack[:16] + pack[offset:-40]).digest() == seal, "the index is damaged"
    named = json.loads(pack[offset : offset + meta_size])["base"]
    base = read(path.with_name(named["name"])) if named else b""
    for entry in struct.iter_unpack("<IIQBB6x32s", pack[offset + meta_size : -96]):
        size, stored_size, base_at, method, width, digest = entry
        stored = pack[place : place + stored_size]
        block = stored if method == 0 else base[base_at : base_at + size]
        if method == 1:
            block = zstd.decompress(stored)
        elif method in (2, 4):
            plain = join(stored, size, width)
            mixed = int.from_bytes(plain, "little") ^ int.from_bytes(block, "little")
            block = plain if method == 2 else mixed.to_bytes(size, "little")
        assert blake3(block).digest() == digest, f"the block at {place} is damaged"
        original += block
        place += stored_size
    assert blake3(original).digest() == whole, "the original is another one"
    return original


if __name__ == "__main__":
    sys.stdout.buffer.write(read(Path(sys.argv[1])))
