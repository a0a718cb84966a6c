"""What frames are compressed with: zstd, or lz4 where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, Protocol

from instride.errors import MissingLibraryError

if sys.version_info >= (3, 14):
    from compression import zstd
    from compression.zstd import CompressionParameter, DecompressionParameter
else:
    from backports import zstd
    from backports.zstd import CompressionParameter, DecompressionParameter

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LARGEST_WINDOW = 26
DESCRIPTOR_AT, HAS_CHECKSUM, CHECKSUM_BYTES = 4, 0x04, 4
"""Where a frame of zstd says that it ends with a checksum, and how long that is."""
LIGHT, LIGHTER, NEXT_TO_NONE = 1, -1, -100
"""Levels of zstd, for work that is late: the last one copies at gigabytes a second."""


class CorruptError(ValueError):
    """Bytes that are no frame of that size."""


def expand_zstd(
    frame: Any, num_bytes: int, largest_window: int, *, sizes: Collection[int | None]
) -> bytes:
    """The bytes of one frame, as many as that and no more; the frame may say one of these sizes of
    itself. Raises CorruptError; what an enemy wrote takes no more memory than the bytes."""
    try:
        if zstd.get_frame_info(frame).decompressed_size not in sizes:
            raise CorruptError
        options: dict[int, int] = {DecompressionParameter.window_log_max: largest_window}
        decompressor = zstd.ZstdDecompressor(options=options)
        data = decompressor.decompress(frame, max_length=num_bytes)
    except (zstd.ZstdError, EOFError) as error:
        raise CorruptError from error
    if len(data) != num_bytes or not decompressor.eof or decompressor.unused_data:
        raise CorruptError
    return data


class Codec(Protocol):
    """Compresses and decompresses frames, for one thread at a time."""

    suffix: str
    """Of the files."""

    def compress(self, data: Any, lighter: int = 0) -> bytes:
        """One frame; `lighter` by one step or two costs less time, and saves less."""

    def checksum(self, frame: bytes) -> int | None:
        """What the table says of a frame, if it can be had from the frame itself."""

    def expand(self, frame: Any, num_bytes: int) -> bytes:
        """The bytes of one frame, which must be as many as that. Raises CorruptError."""


class Zstd:
    suffix = ".zst"

    def __init__(self, level: int = 1) -> None:
        self._levels = (level, LIGHT if level > LIGHT else LIGHTER, NEXT_TO_NONE)
        self._compressors: dict[int, zstd.ZstdCompressor] = {}

    def compress(self, data: Any, lighter: int = 0) -> bytes:
        compressor = self._compressor(self._levels[lighter])
        return compressor.compress(data, compressor.FLUSH_FRAME)

    def _compressor(self, level: int) -> zstd.ZstdCompressor:
        if level not in self._compressors:
            options: dict[int, int] = {
                CompressionParameter.compression_level: level,
                CompressionParameter.checksum_flag: 1,
            }
            self._compressors = {level: zstd.ZstdCompressor(options=options)}  # one, for its memory
        return self._compressors[level]

    def checksum(self, frame: bytes) -> int | None:
        if not frame[DESCRIPTOR_AT] & HAS_CHECKSUM:
            return None
        return int.from_bytes(frame[-CHECKSUM_BYTES:], "little")  # that of the frame, again

    def expand(self, frame: Any, num_bytes: int) -> bytes:
        return expand_zstd(frame, num_bytes, LARGEST_WINDOW, sizes=(num_bytes, None))


class Lz4:
    suffix = ".lz4"

    def __init__(self, level: int = 0) -> None:
        self._frame = _lz4_frame()
        self._level = level

    def compress(self, data: Any, lighter: int = 0) -> bytes:
        level = min(self._level, 0, -9 * lighter * lighter) if lighter else self._level
        frame: bytes = self._frame.compress(
            data,
            compression_level=level,
            block_size=self._frame.BLOCKSIZE_MAX4MB,
            content_checksum=True,
        )
        return frame

    def checksum(self, frame: bytes) -> int | None:
        return None  # lz4 has another one than the table

    def expand(self, frame: Any, num_bytes: int) -> bytes:
        try:
            if self._frame.get_frame_info(frame)["content_size"] not in (num_bytes, 0):
                raise CorruptError
            data, num_read = self._frame.decompress(frame, return_bytes_read=True)
        except (RuntimeError, EOFError) as error:
            raise CorruptError from error
        if len(data) != num_bytes or num_read != len(frame):
            raise CorruptError
        assert isinstance(data, bytes)
        return data


def _lz4_frame() -> Any:
    try:
        import lz4.frame
    except ImportError as error:
        raise MissingLibraryError("agent", "lz4", extra="agent") from error
    return lz4.frame


SUFFIXES = (Zstd.suffix, Lz4.suffix)
_BY_MAGIC: dict[bytes, type[Zstd] | type[Lz4]] = {ZSTD_MAGIC: Zstd, LZ4_MAGIC: Lz4}


def codec_of(path: Path) -> Codec | None:
    """The codec of a file, by how it starts; None for anything else, and what cannot be read."""
    try:
        with path.open("rb") as file:
            found = _BY_MAGIC.get(file.read(len(ZSTD_MAGIC)))
    except OSError:
        return None
    return found() if found else None
