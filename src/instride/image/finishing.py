"""Filling in what the trainer leaves out of an image: headers before storages, checksums behind."""

from __future__ import annotations

from isal.isal_zlib import crc32, crc32_combine

from instride.image.layout import Layout, Record
from instride.image.zipping import descriptor

SLICE_BYTES = 1 << 20
"""Checksums are computed in slices: the call holds a lock of Python's for small ones only."""


class Finisher:
    """Goes through an image once, piece by piece and in order, from one of its records on."""

    def __init__(self, layout: Layout, first: int = 0) -> None:
        self._records = layout.records
        self._next = first
        self._crc = 0
        self._header: tuple[int, bytes] | None = None
        self.crcs: list[int] = []
        """Of the storages whose last byte was seen."""

    def look_at(self, data: memoryview) -> None:
        """Count in bytes of the first record that lie before the first piece."""
        self._crc = _crc_of(data, self._crc)

    def finish(self, piece: memoryview, offset: int) -> int | None:
        """Complete the piece that lies at `offset` of the file. Returns the checksum of a piece
        that is nothing but bytes of one storage, as most of them are: it is known by then."""
        end = offset + len(piece)
        if self._next < len(self._records):
            record = self._records[self._next]
            if record.data_offset <= offset and end <= record.data_end:
                crc = _crc_of(piece, 0)
                self._crc = crc32_combine(self._crc, crc, len(piece))
                return crc
        self._finish(piece, offset, end)
        return None

    def _finish(self, piece: memoryview, offset: int, end: int) -> None:
        while self._next < len(self._records):
            record = self._records[self._next]
            if record.header_offset >= end:
                return
            self._put(piece, offset, record.header_offset, self._header_of(record))
            self._sum(piece, offset, record)
            if record.data_end > end:
                return
            self._put(piece, offset, record.data_end, descriptor(self._crc, record.num_bytes))
            if record.end > end:
                return
            self.crcs.append(self._crc)
            self._crc = 0
            self._next += 1

    def _header_of(self, record: Record) -> bytes:
        if self._header is None or self._header[0] != self._next:
            self._header = (self._next, record.header())
        return self._header[1]

    def _sum(self, piece: memoryview, offset: int, record: Record) -> None:
        first = max(record.data_offset, offset) - offset
        last = min(record.data_end, offset + len(piece)) - offset
        if first < last:
            self._crc = _crc_of(piece[first:last], self._crc)

    @staticmethod
    def _put(piece: memoryview, offset: int, where: int, data: bytes) -> None:
        """Write what of `data` falls into the piece."""
        first = max(where, offset)
        last = min(where + len(data), offset + len(piece))
        if first < last:
            piece[first - offset : last - offset] = data[first - where : last - where]


def _crc_of(data: memoryview, crc: int) -> int:
    for start in range(0, len(data), SLICE_BYTES):
        crc = crc32(data[start : start + SLICE_BYTES], crc)
    return crc
