"""Floats cut into planes of bytes, so that the exponents come to lie together.

The sign is rotated to the low end of each number: the byte at the top is the exponent then, and
nothing else. Exponents are few and compress; bytes of a mantissa are noise and are stored. All is
done in slices that stay in the processor's cache, and every call works on many bytes: no lock of
Python's is held meanwhile.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from instride.framed.codecs import CorruptError, expand_zstd
from instride.pack.arrays import Bytes, np

if sys.version_info >= (3, 14):
    from compression import zstd
    from compression.zstd import CompressionParameter, Strategy
else:
    from backports import zstd
    from backports.zstd import CompressionParameter, Strategy

SLICE_ELEMENTS = 1 << 17
LEVEL = 3
"""For what is no float: text, pickles, whole numbers."""
FOR_SYMBOLS: dict[int, int] = {
    CompressionParameter.strategy: Strategy.fast,
    CompressionParameter.min_match: 7,
    CompressionParameter.hash_log: 6,
    CompressionParameter.window_log: 17,
}
"""Hardly any search for repeats: exponents repeat by chance, and what such a match costs is more
than the entropy code of its bytes (level 1: 0.359 of the exponents at 300 MB/s, so: 0.326 at
800 MB/s; `instride bench pack` measures it). Runs are still found."""
LARGEST_WINDOW = 24
LENGTH = struct.Struct("<I")


Planes = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
Scratch = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
"""Two slices of numbers of any width, used again and again: new memory costs more than the work."""


class Codec:
    """Compresses and decompresses blocks; for one thread, whose memory is used again."""

    def __init__(self) -> None:
        self._for_symbols = zstd.ZstdCompressor(options=FOR_SYMBOLS)
        self._general = zstd.ZstdCompressor(level=LEVEL)
        self._scratch = np.empty((2, SLICE_ELEMENTS), np.uint64)

    def squeeze(self, data: Any) -> bytes:
        """One frame of zstd."""
        return self._general.compress(data, self._general.FLUSH_FRAME)

    def expand(self, stored: Any, num_bytes: int) -> bytes:
        """The bytes of one frame, which must be as many as that and no more."""
        return expand_zstd(stored, num_bytes, LARGEST_WINDOW, sizes=(num_bytes,))

    def split(self, data: Bytes, width: int, room: Bytes | None = None) -> list[Any]:
        """A block as the parts that are stored: lengths, planes, and what is left over.

        Planes are laid out in `room`, which must be as large as the block. Those of a mantissa are
        tried too: it costs a tenth, and what has rows of zeros is found.
        """
        num_elements = len(data) // width
        planes = np.empty(len(data), np.uint8) if room is None else room
        planes = planes[: num_elements * width].reshape(width, num_elements)
        _planes(data[: num_elements * width], planes, self._scratch)
        parts: list[Any] = []
        for plane in planes:
            squeezed = self._for_symbols.compress(plane.data, self._for_symbols.FLUSH_FRAME)
            parts.append(squeezed if len(squeezed) < num_elements else plane.data)
        lengths = struct.pack(f"<{width}I", *map(len, parts))
        return [lengths, *parts, data[num_elements * width :].data]

    def join(
        self, stored: memoryview, num_bytes: int, width: int, room: Bytes | None = None
    ) -> Bytes:
        """The block that was split, in `room` if that is large enough."""
        num_elements, num_left = divmod(num_bytes, width)
        at = LENGTH.size * width
        if len(stored) < at:
            raise CorruptError
        planes = []
        for number in range(width):
            (length,) = LENGTH.unpack_from(stored, LENGTH.size * number)
            part = stored[at : at + length]
            if len(part) != length or length > num_elements:
                raise CorruptError
            plain = part if length == num_elements else self.expand(part, num_elements)
            planes.append(np.frombuffer(plain, np.uint8))
            at += length
        if len(stored) - at != num_left:
            raise CorruptError
        if room is None or len(room) < num_bytes:
            room = np.empty(num_bytes, np.uint8)
        data = room[:num_bytes]
        _merge(planes, data[: num_elements * width], self._scratch)
        data[num_elements * width :] = np.frombuffer(stored[at:], np.uint8)
        return data


def _planes(data: Bytes, planes: Planes, scratch: Scratch) -> None:
    """Fill the planes of a block, that of the exponents last.

    Rotated left by one bit, a number has in byte k what it has one bit below byte k: one shift for
    each plane, and the sign goes to the lowest bit of the first.
    """
    width = len(planes)
    if width == 1:
        planes[0] = data
        return
    numbers = data.view(f"<u{width}")
    first, second = (row.view(numbers.dtype) for row in scratch)
    for start in range(0, len(numbers), SLICE_ELEMENTS):
        piece = numbers[start : start + SLICE_ELEMENTS]
        end = start + len(piece)
        shifted, low = first[: len(piece)], second[: len(piece)]
        np.right_shift(piece, 8 * width - 1, out=shifted)
        np.left_shift(piece, 1, out=low)
        low |= shifted
        planes[0, start:end] = low
        for number in range(1, width):
            np.right_shift(piece, 8 * number - 1, out=shifted)
            planes[number, start:end] = shifted


def _merge(planes: list[Bytes], data: Bytes, scratch: Scratch) -> None:
    """Fill a block from its planes."""
    width = len(planes)
    if width == 1:
        data[:] = planes[0]
        return
    numbers = data.view(f"<u{width}")
    room = scratch[0].view(numbers.dtype)
    for start in range(0, len(numbers), SLICE_ELEMENTS):
        piece = numbers[start : start + SLICE_ELEMENTS]
        shifted = room[: len(piece)]
        shifted[:] = planes[0][start : start + len(piece)]
        np.right_shift(shifted, 1, out=piece)
        shifted <<= 8 * width - 1
        piece |= shifted
        for number in range(1, width):
            shifted[:] = planes[number][start : start + len(piece)]
            shifted <<= 8 * number - 1
            piece |= shifted
