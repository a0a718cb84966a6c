"""The seek table at the end of a compressed file: where each of its frames lies.

It is that of zstd's seekable format, inside a frame that `zstd -d` and `lz4 -d` skip: whoever does
not know the table still reads the file from front to back. Tables with the offsets:
docs/internals/framed.md. Whoever reads a table here can trust its numbers: they add up to the file.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from instride.errors import DamagedError
from instride.reasons import Reason

SKIPPABLE = 0x184D2A5E
SEEKABLE = 0x8F92EAB1
HEAD = struct.Struct("<II")
ENTRY = struct.Struct("<II")
CHECKED_ENTRY = struct.Struct("<III")
FOOTER = struct.Struct("<IBI")
HAS_CHECKSUMS = 0x80
RESERVED = 0x7C
"""Bits of the footer that must be zero."""
FRAME_BYTES = 4 << 20
"""Of the original in each frame but the last."""
MOST_FRAME_BYTES = 64 << 20
MOST_FRAMES = 1 << 22


class Frame(NamedTuple):
    stored_bytes: int
    num_bytes: int
    """Of the original."""
    checksum: int | None
    """The low half of the XXH64 of the original, where the table has them."""


class Table:
    """The frames of a file, and where each starts."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = frames
        self.starts = array("Q", accumulate((f.num_bytes for f in frames), initial=0))
        """Where each frame starts in the original; the last one is the end."""
        self.places = array("Q", accumulate((f.stored_bytes for f in frames), initial=0))
        """Where each frame starts in the file."""

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def size_bytes(self) -> int:
        """Of the original."""
        return self.starts[-1]


def closing(frames: Sequence[Frame]) -> bytes:
    """Everything behind the frames: without its last byte, a file has no table."""
    has_checksums = all(frame.checksum is not None for frame in frames)
    entry = CHECKED_ENTRY if has_checksums else ENTRY
    num_bytes = len(frames) * entry.size + FOOTER.size
    width = 3 if has_checksums else 2
    entries = b"".join(entry.pack(*frame[:width]) for frame in frames)
    footer = FOOTER.pack(len(frames), HAS_CHECKSUMS if has_checksums else 0, SEEKABLE)
    return HEAD.pack(SKIPPABLE, num_bytes) + entries + footer


def read_table(fd: int, path: Path) -> Table:
    """The table of an open file. Raises DamagedError where there is none, or none that fits."""
    size = os.fstat(fd).st_size
    footer = os.pread(fd, FOOTER.size, max(0, size - FOOTER.size))
    if len(footer) < FOOTER.size or FOOTER.unpack(footer)[2] != SEEKABLE:
        raise DamagedError(path, Reason("no-seek-table"))
    num_frames, flags, _ = FOOTER.unpack(footer)
    entry = CHECKED_ENTRY if flags & HAS_CHECKSUMS else ENTRY
    num_bytes = num_frames * entry.size + FOOTER.size
    start = size - HEAD.size - num_bytes
    if flags & RESERVED or num_frames > MOST_FRAMES or start < 0:
        raise DamagedError(path, Reason("seek-table"))
    raw = os.pread(fd, HEAD.size + num_bytes, start)
    if raw[: HEAD.size] != HEAD.pack(SKIPPABLE, num_bytes):
        raise DamagedError(path, Reason("seek-table"))
    listed = entry.iter_unpack(raw[HEAD.size : -FOOTER.size])
    table = Table([Frame(each[0], each[1], each[2] if each[2:] else None) for each in listed])
    is_possible = all(0 <= frame.num_bytes <= MOST_FRAME_BYTES for frame in table.frames)
    if table.places[-1] != start or not is_possible:
        raise DamagedError(path, Reason("seek-table"))
    return table
