"""Which bytes of a file are numbers of which width, for `.pt` and `.safetensors`.

Nothing is unpickled: of a pickle only the opcodes are looked at. What is found is a hint, by which
blocks are cut and compressed; a file that lies about itself is packed worse, never wrong. All that
is read here is bounded, whatever sizes a file claims.
"""

from __future__ import annotations

import pickletools
import struct
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

import msgspec

MOST_DIRECTORY_BYTES = 16 << 20
MOST_PICKLE_BYTES = 16 << 20
MOST_HEADER_BYTES = 16 << 20
MOST_REGIONS = 1 << 17
MOST_OPCODES = 2_000_000
"""A hundred thousand tensors have less of all this. With more, a small file could ask for gigabytes
of memory and minutes of time; it is packed without a hint."""

END = struct.Struct("<IHHHHIIH")
END_SIGNATURE = b"PK\x05\x06"
LOCATOR_64 = struct.Struct("<IIQI")
END_64 = struct.Struct("<IQHHIIQQQQ")
CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
LOCAL = struct.Struct("<IHHHHHIIIHH")
LIMIT = 0xFFFFFFFF
LONGEST_COMMENT = 0xFFFF
PAGE_BYTES = 4096

MOST_RECENT = 16
"""Values behind a mark that may be those of a storage."""
STORAGE_WIDTHS = {
    "torch DoubleStorage": 8,
    "torch FloatStorage": 4,
    "torch HalfStorage": 2,
    "torch BFloat16Storage": 2,
    "torch Float8_e4m3fnStorage": 1,
    "torch Float8_e5m2Storage": 1,
    "torch ComplexFloatStorage": 4,
    "torch ComplexDoubleStorage": 8,
}
SAFETENSORS_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "C64": 4}


class Readable(Protocol):
    """A file, or what can be read like one."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def read(self, size: int, /) -> bytes | None: ...


class Region(msgspec.Struct, frozen=True):
    """The bytes of one tensor or record."""

    start: int
    end: int
    name: str
    """The same in two checkpoints of one training."""
    width: int | None
    """Bytes of a float; None where only trying tells."""
    header_bytes: int = 0
    """Of the header in front of it, in an archive."""
    is_tensor: bool = False
    """Also of integers, which have no width here."""


class _Record(msgspec.Struct, frozen=True):
    name: str
    num_bytes: int
    header_offset: int
    is_stored: bool


class _Tensor(msgspec.Struct, frozen=True):
    dtype: str
    data_offsets: tuple[int, int]


def regions_of(file: Readable, like: Sequence[Region] = ()) -> list[Region]:
    """What is known of a file, in order and without overlaps; nothing, if nothing is.

    `like` are those of a file by the same hand, so that most headers need not be read: each of them
    may mean that another block of a pack is decoded.
    """
    size = file.seek(0, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # strange escapes in a pickle are nobody's business
            found = list(_in_archive(file, size, like)) or list(_in_safetensors(file, size))
    except (struct.error, ValueError, OverflowError, msgspec.MsgspecError):
        return []
    kept: list[Region] = []
    for region in sorted(found, key=lambda each: each.start):
        behind = kept[-1].end if kept else 0
        if behind <= region.start < region.end <= size:
            kept.append(region)
    return kept


def _in_safetensors(file: Readable, size: int) -> Iterator[Region]:
    (header_bytes,) = struct.unpack("<Q", _read(file, 0, 8))
    if not 2 <= header_bytes <= min(MOST_HEADER_BYTES, size - 8):
        return
    header = msgspec.json.decode(_read(file, 8, header_bytes), type=dict[str, msgspec.Raw])
    first = 8 + header_bytes
    for name, raw in header.items():
        if name != "__metadata__":
            tensor = msgspec.json.decode(raw, type=_Tensor)
            start, end = tensor.data_offsets
            width = 1 if "F8" in tensor.dtype else SAFETENSORS_WIDTHS.get(tensor.dtype)
            yield Region(first + start, first + end, name, width, is_tensor=True)


def _in_archive(file: Readable, size: int, like: Sequence[Region]) -> Iterator[Region]:
    """The records of a zip as `torch.save` writes it."""
    known = {region.name: region for region in like}
    records = {record.name: record for record in _records(file, size) if record.is_stored}
    widths: dict[str, int | None] = {}
    for name in [name for name in records if name.endswith("/data.pkl")]:
        root = name[: -len("data.pkl")]
        start, end = _place(file, records[name])
        if end - start <= MOST_PICKLE_BYTES:
            widths |= {
                f"{root}data/{key}": STORAGE_WIDTHS.get(kind)
                for key, kind in storages_in(_read(file, start, end - start))
            }
    for name, record in records.items():
        bare = name.partition("/")[2] or name
        start = _guessed(record, known.get(bare)) or _place(file, record)[0]
        header_bytes = start - record.header_offset
        width, is_tensor = widths.get(name), name in widths
        yield Region(start, start + record.num_bytes, bare, width, header_bytes, is_tensor)


def _records(file: Readable, size: int) -> Iterator[_Record]:
    place = _directory(file, size)
    if place is None:
        return
    directory = _read(file, *place)
    at = num_records = 0
    while at + CENTRAL.size <= len(directory):
        if (num_records := num_records + 1) > MOST_REGIONS:
            raise ValueError("more records than anybody has")
        values = CENTRAL.unpack_from(directory, at)
        signature, method, squeezed, num_bytes = values[0], values[4], values[8], values[9]
        name_bytes, extra_bytes, comment_bytes, offset = *values[10:13], values[16]
        if signature != 0x02014B50:
            return
        name_end = at + CENTRAL.size + name_bytes
        name = directory[at + CENTRAL.size : name_end].decode("utf-8", "replace")
        extra = directory[name_end : name_end + extra_bytes]
        at = name_end + extra_bytes + comment_bytes
        is_stored = method == 0 and squeezed == num_bytes
        num_bytes, offset = _widened(extra, num_bytes, squeezed, offset)
        yield _Record(name, num_bytes, offset, is_stored)


def _directory(file: Readable, size: int) -> tuple[int, int] | None:
    """Where the directory of a zip lies, and its bytes."""
    tail_bytes = min(size, END.size + LONGEST_COMMENT)
    tail = _read(file, size - tail_bytes, tail_bytes)
    at = tail.rfind(END_SIGNATURE)
    if at < 0:
        return None
    *_, num_bytes, offset, _ = END.unpack_from(tail, at)
    locator = at - LOCATOR_64.size
    if locator >= 0 and tail[locator : locator + 4] == b"PK\x06\x07":
        _, _, where, _ = LOCATOR_64.unpack_from(tail, locator)
        *_, num_bytes, offset = END_64.unpack(_read(file, where, END_64.size))
    return (offset, num_bytes) if num_bytes <= MOST_DIRECTORY_BYTES else None


def _widened(extra: bytes, num_bytes: int, squeezed: int, offset: int) -> tuple[int, int]:
    """Sizes and offsets that do not fit into 32 bits stand in an extra field, in this order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            num_bytes = next(values, 0) if num_bytes == LIMIT else num_bytes
            squeezed = next(values, 0) if squeezed == LIMIT else squeezed
            offset = next(values, 0) if offset == LIMIT else offset
        at += 4 + length
    return num_bytes, offset


def _guessed(record: _Record, like: Region | None) -> int | None:
    """Where a record starts, if one of that name lies like it: what fills up a header follows from
    where it begins, in pages at the most."""
    if like is None or not like.header_bytes:
        return None
    moved = record.header_offset - (like.start - like.header_bytes)
    return None if moved % PAGE_BYTES else like.start + moved


def _place(file: Readable, record: _Record) -> tuple[int, int]:
    values = LOCAL.unpack(_read(file, record.header_offset, LOCAL.size))
    start = record.header_offset + LOCAL.size + values[9] + values[10]
    return start, start + record.num_bytes


def _read(file: Readable, offset: int, num_bytes: int) -> bytes:
    file.seek(offset)
    data = file.read(num_bytes)
    if data is None or len(data) != num_bytes:
        raise ValueError("the file ends too early")
    return data


def storages_in(pickle: bytes) -> Iterator[tuple[str, str]]:
    """Key and class of every storage that a pickle of torch names, by its opcodes alone.

    A storage is a tuple `("storage", class, key, device, size)` as persistent id: between a mark
    and its end there are atoms only, spelt out or remembered.
    """
    memo: dict[int, str] = {}
    recent: list[str | None] = []
    num_memoized = 0
    for opcode, value, _ in islice(pickletools.genops(pickle), MOST_OPCODES):
        name = opcode.name
        del recent[:-MOST_RECENT]
        if name == "MARK":
            recent = []
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            place = num_memoized if name == "MEMOIZE" else int(value or 0)
            num_memoized += 1
            if recent and (latest := recent[-1]) is not None:
                memo[place] = latest
        elif name in ("BINGET", "LONG_BINGET"):
            recent.append(memo.get(int(value or 0)))
        elif name == "STACK_GLOBAL":
            recent.append(" ".join(map(str, recent[-2:])))
            del recent[-3:-1]
        elif name == "BINPERSID":
            match recent:
                case ["storage", str(kind), str(key), *_]:
                    yield key, kind
            recent = []
        else:
            recent.append(value if isinstance(value, str) else None)
