"""Where each storage lies in the file, known from the sizes alone.

Storages come first and the pickle last, so that copying can start before anything is pickled. A
reader of zips, torch's among them, goes by the directory at the end and does not mind the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from instride.image.zipping import (
    central_header,
    descriptor,
    descriptor_bytes,
    end_of_archive,
    least_header_bytes,
    local_header,
)

ROOT = "archive"
DATA = f"{ROOT}/data/"
"""What the names of storages begin with."""
ALIGNMENT = 64
"""As torch aligns, so that mapped tensors can be used by vector instructions."""
LARGE_ALIGNMENT = 4096
LARGE_BYTES = 64 << 10
"""Storages from here on start at a page: they can be read from the disk straight to their place."""


class Record(msgspec.Struct, frozen=True):
    name: str
    header_offset: int
    data_offset: int
    num_bytes: int

    @property
    def data_end(self) -> int:
        return self.data_offset + self.num_bytes

    @property
    def end(self) -> int:
        return self.data_end + descriptor_bytes(self.num_bytes)

    def header(self) -> bytes:
        return local_header(self.name, self.num_bytes, self.data_offset - self.header_offset)


class Layout(msgspec.Struct, frozen=True):
    """The storages of an image, in order, from the first byte of the file on."""

    records: list[Record]

    @property
    def num_bytes(self) -> int:
        """Up to the end of the last storage; the tail follows."""
        return self.records[-1].end if self.records else 0


def lay_out(sizes: Sequence[int]) -> Layout:
    """The layout of storages with these sizes; the same for the same sizes, whoever asks."""
    records = []
    offset = 0
    for key, num_bytes in enumerate(sizes):
        record = _place(f"{DATA}{key}", num_bytes, offset)
        records.append(record)
        offset = record.end
    return Layout(records)


def _place(name: str, num_bytes: int, offset: int) -> Record:
    alignment = LARGE_ALIGNMENT if num_bytes >= LARGE_BYTES else ALIGNMENT
    earliest = offset + least_header_bytes(name, num_bytes)
    data_offset = -(-earliest // alignment) * alignment
    return Record(name, offset, data_offset, num_bytes)


def tail_of(
    layout: Layout, crcs: Sequence[int], small: Mapping[str, bytes], crc_of_small: Sequence[int]
) -> bytes:
    """Everything behind the storages: the pickle and other small records, then the directory."""
    parts = []
    directory = [
        central_header(record.name, crc, record.num_bytes, record.header_offset)
        for record, crc in zip(layout.records, crcs, strict=True)
    ]
    offset = layout.num_bytes
    for (name, data), crc in zip(small.items(), crc_of_small, strict=True):
        record = _place(f"{ROOT}/{name}", len(data), offset)
        parts += [record.header(), data, descriptor(crc, len(data))]
        directory.append(central_header(record.name, crc, len(data), record.header_offset))
        offset = record.end
    num_bytes = sum(map(len, directory))
    return b"".join([*parts, *directory, end_of_archive(len(directory), offset, num_bytes)])
