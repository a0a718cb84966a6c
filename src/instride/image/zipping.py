"""The structures of a zip archive, as `torch.save` uses them: stored records, 64-bit where needed.

A record is a local header, padding, the bytes, and a descriptor with their checksum, so that a
header is known before the bytes are, and everything can be written in one go. Tables with the
offsets: docs/internals/image.md.
"""

from __future__ import annotations

import struct

LOCAL = struct.Struct("<IHHHHHIIIHH")
DESCRIPTOR = struct.Struct("<IIII")
DESCRIPTOR_64 = struct.Struct("<IIQQ")
CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
END = struct.Struct("<IHHHHIIH")
END_64 = struct.Struct("<IQHHIIQQQQ")
LOCATOR_64 = struct.Struct("<IIQI")
EXTRA = struct.Struct("<HH")

FLAGS = 0x0808  # a descriptor follows; names are UTF-8
LIMIT = 0xFFFFFFFF
PADDING_ID = 0x4246  # what torch calls its own padding
SIZES_ID = 0x0001
DOS_DATE = 0x21  # 1 January 1980: a file does not depend on the clock


def is_large(num_bytes: int) -> bool:
    return num_bytes >= LIMIT


def local_header(name: str, num_bytes: int, total_bytes: int) -> bytes:
    """A header that is exactly so long: what is left over is padding, in an extra field."""
    raw = name.encode()
    sizes = EXTRA.pack(SIZES_ID, 16) + bytes(16) if is_large(num_bytes) else b""
    padding = total_bytes - LOCAL.size - len(raw) - len(sizes) - EXTRA.size
    extra = sizes + EXTRA.pack(PADDING_ID, padding) + b"Z" * padding
    size = LIMIT if is_large(num_bytes) else 0
    version = 45 if is_large(num_bytes) else 20
    return (
        LOCAL.pack(0x04034B50, version, FLAGS, 0, 0, DOS_DATE, 0, size, size, len(raw), len(extra))
        + raw
        + extra
    )


def least_header_bytes(name: str, num_bytes: int) -> int:
    """What a header needs before any padding."""
    sizes = EXTRA.size + 16 if is_large(num_bytes) else 0
    return LOCAL.size + len(name.encode()) + sizes + EXTRA.size


def descriptor(crc: int, num_bytes: int) -> bytes:
    kind = DESCRIPTOR_64 if is_large(num_bytes) else DESCRIPTOR
    return kind.pack(0x08074B50, crc, num_bytes, num_bytes)


def descriptor_bytes(num_bytes: int) -> int:
    return DESCRIPTOR_64.size if is_large(num_bytes) else DESCRIPTOR.size


def central_header(name: str, crc: int, num_bytes: int, header_offset: int) -> bytes:
    raw = name.encode()
    large = b""
    size, offset = num_bytes, header_offset
    if is_large(num_bytes):
        large += struct.pack("<QQ", num_bytes, num_bytes)
        size = LIMIT
    if is_large(header_offset):
        large += struct.pack("<Q", header_offset)
        offset = LIMIT
    extra = EXTRA.pack(SIZES_ID, len(large)) + large if large else b""
    version = 45 if large else 20
    return (
        CENTRAL.pack(
            0x02014B50, version, version, FLAGS, 0, 0, DOS_DATE, crc, size, size,
            len(raw), len(extra), 0, 0, 0, 0, offset,
        )
        + raw
        + extra
    )  # fmt: skip


def end_of_archive(num_records: int, offset: int, num_bytes: int) -> bytes:
    """What closes an archive: always with the 64-bit record, as torch writes it."""
    end = END_64.pack(
        0x06064B50, END_64.size - 12, 45, 45, 0, 0, num_records, num_records, num_bytes, offset
    )
    end += LOCATOR_64.pack(0x07064B50, 0, offset + num_bytes, 1)
    count = min(num_records, 0xFFFF)
    return end + END.pack(
        0x06054B50, 0, 0, count, count, min(num_bytes, LIMIT), min(offset, LIMIT), 0
    )
