"""Reading a compressed file as if it were the original, and proving that it could be."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

from instride.errors import DamagedError
from instride.framed.blocks import Ahead, BlockFile
from instride.framed.codecs import Codec, CorruptError, codec_of
from instride.framed.container import Frame, read_table
from instride.lifetimes import OpenFile, PerThread
from instride.reasons import Reason, other_bytes
from instride.store.listing import PackEntry


class Framed(OpenFile):
    """An open file of frames. Every frame that it hands out fits the checksum it was written
    with."""

    def __init__(self, path: Path) -> None:
        """Raises DamagedError for what has no seek table that fits it."""
        self.path = path
        codec = codec_of(path)
        if codec is None:
            raise DamagedError(path, Reason("no-frames"))
        self._codec: PerThread[Codec] = PerThread(type(codec))
        super().__init__(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        try:
            self.table = read_table(self._fd, path)
        except BaseException:
            self.close()
            raise

    @property
    def starts(self) -> array[int]:
        return self.table.starts

    def block(self, number: int) -> bytes:
        """The bytes of one frame. Raises DamagedError if they are not what they were; threads may
        call it at the same time."""
        frame, place = self.table.frames[number], self.table.places[number]
        stored = os.pread(self._fd, frame.stored_bytes, place)
        if frame.num_bytes == 0:
            return b""
        try:
            return self._expanded(stored, frame)
        except CorruptError as error:
            raise DamagedError(self.path, other_bytes(place, frame.stored_bytes)) from error

    def _expanded(self, stored: bytes, frame: Frame) -> bytes:
        codec = self._codec.get()
        said = codec.checksum(stored) if frame.checksum is not None else None
        if len(stored) < frame.stored_bytes or said not in (None, frame.checksum):
            raise CorruptError
        return codec.expand(stored, frame.num_bytes)


def is_framed(path: Path) -> bool:
    """Whether a file starts as one that zstd or lz4 compressed."""
    return codec_of(path) is not None


def open_framed(path: Path) -> BlockFile:
    """The original, to be read from any place; nothing is written for it."""
    return BlockFile(Framed(path))


def verify_framed(path: Path) -> None:
    """Decode every frame. Raises DamagedError."""
    with Framed(path) as source, Ahead(source) as ahead:
        for number in range(len(source.table)):
            ahead.block(number)


def entry_of(path: Path) -> PackEntry | None:
    """A compressed file as `instride list` shows it; None for what is not ours to tell of."""
    try:
        size = path.stat().st_size
        with Framed(path) as source:
            original_bytes = source.table.size_bytes
    except (OSError, DamagedError):
        return None
    return PackEntry(path.name, size, size / max(1, original_bytes), None, is_damaged=False)
