"""What a checkpoint is made of, without its data: the tree, and where in the file its storages lie.

The structure comes from `torch.load` of a file that has the same directory and holes for data. Code
that is not torch's must not run on the way: it would see holes.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from instride.image.layout import DATA, Layout, lay_out
from instride.system.descriptors import above_standard

LOCAL_HEADER_BYTES = 30
AROUND_A_HEADER = 4096
"""What is asked for of the file before and behind the start of one: the end of the storage before
it, its name, and what fills it up."""


class Skeleton:
    """A checkpoint without its data: the tree, and where in the file each storage lies."""

    def __init__(self, path: Path) -> None:
        with _open_for_bits(path) as file, zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            layout = _layout_of(infos)
            headers: dict[int, bytes] = {}
            size = file.seek(0, os.SEEK_END)
            if layout is None:
                _ask_for_headers(infos, file.fileno())
                self.ranges = _apart(_ranges(infos, file))
                others = _between(self.ranges, size)
            else:
                self.ranges = {each.data_offset: each.num_bytes for each in layout.records}
                headers = {each.header_offset: each.header() for each in layout.records}
                others = iter([(layout.num_bytes, size)])
            pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
            if _is_in(archive.read(pickled), torch.serialization.get_safe_globals()):
                raise ValueError("others may run code in it")
            hollow = _hollow_copy(file, headers, others)
        self.locations: dict[int, str] = {}
        """Where each storage was when it was saved, by its address in the tree."""
        try:
            self.tree: Any = torch.load(
                f"/proc/self/fd/{hollow}", map_location=self._note, mmap=True, weights_only=True
            )
        finally:
            os.close(hollow)

    def _note(self, storage: torch.UntypedStorage, location: str) -> torch.UntypedStorage:
        self.locations[int(storage.data_ptr())] = location
        return storage

    def offsets(self, tensors: list[torch.Tensor]) -> dict[int, int] | None:
        """Where the storage at each address lies in the file; None if that cannot be told.

        All storages are parts of one mapping: they are as far apart as in the file.
        """
        pointers = {
            tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
            for tensor in tensors
            if tensor.untyped_storage().nbytes()
        }
        filled = {offset: size for offset, size in self.ranges.items() if size}
        if not pointers or len(pointers) != len(filled):
            return {} if not pointers and not filled else None
        base = min(pointers) - min(filled)
        found = {pointer: pointer - base for pointer in pointers}
        if any(filled.get(found[pointer]) != size for pointer, size in pointers.items()):
            return None
        return found


def skeleton_of(path: Path) -> Skeleton | None:
    """The structure of a checkpoint; None if it must be read as a whole, or cannot be."""
    with path.open("rb"):
        pass  # raises if it is not there: everything else is a reason to try the other way
    try:
        return Skeleton(path)
    except Exception:  # torch has many, for what it cannot do and for what it refuses
        return None


def _open_for_bits(path: Path) -> BinaryIO:
    """For what lies between gigabytes: of these, nothing is read ahead."""
    file = path.open("rb")
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    return file


def _layout_of(infos: list[zipfile.ZipInfo]) -> Layout | None:
    """Of a file that was laid out by us, which follows from its directory alone: a thousand headers
    between gigabytes need not be looked at. None of any other file. Where all else is as we lay it
    out, a header that is not is as damaged as any byte: the hashes of a manifest tell."""
    sizes = [info.file_size for info in infos if info.filename.startswith(DATA)]
    if not sizes:
        return None
    layout = lay_out(sizes)
    storages, others = infos[: len(sizes)], infos[len(sizes) :]
    is_ours = (
        [(each.name, each.header_offset) for each in layout.records]
        == [(info.filename, info.header_offset) for info in storages]
        and all(info.compress_type == zipfile.ZIP_STORED for info in storages)
        and min((info.header_offset for info in others), default=None) == layout.num_bytes
    )
    return layout if is_ours else None


def _apart(ranges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Nobody writes storages that overlap: which of them was to have which bytes cannot be told."""
    found: dict[int, int] = {}
    at = 0
    for start, num_bytes in sorted(ranges):
        if start < at or start in found:
            raise ValueError("storages overlap")
        found[start] = num_bytes
        at = start + num_bytes
    return found


def _ask_for_headers(infos: list[zipfile.ZipInfo], fd: int) -> None:
    """All at once: read one after the other, each of a thousand would be waited for."""
    if hasattr(os, "posix_fadvise"):
        for info in infos:
            start = max(0, info.header_offset - AROUND_A_HEADER)
            length = info.header_offset + AROUND_A_HEADER - start
            os.posix_fadvise(fd, start, length, os.POSIX_FADV_WILLNEED)


def _ranges(infos: list[zipfile.ZipInfo], file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Offset and size of every storage."""
    for info in infos:
        parts = info.filename.split("/")
        if len(parts) >= 3 and parts[-2] == "data" and not parts[-1].startswith("."):
            file.seek(info.header_offset + 26)
            name_bytes = int.from_bytes(file.read(2), "little")
            extra_bytes = int.from_bytes(file.read(2), "little")
            start = info.header_offset + LOCAL_HEADER_BYTES + name_bytes + extra_bytes
            yield start, info.file_size


def _is_in(pickled: bytes, safe: list[Callable[..., Any] | tuple[Callable[..., Any], str]]) -> bool:
    """Whether a pickle may name something that was declared safe, besides torch's own."""
    for each in safe:
        name = each[1] if isinstance(each, tuple) else f"{each.__module__}.{each.__qualname__}"
        words = name.split(".")
        for number in range(1, len(words)):
            module, within = ".".join(words[:number]), ".".join(words[number:])
            if f"c{module}\n{within}\n".encode() in pickled:
                return True
    return False


def _hollow_copy(
    file: BinaryIO, headers: Mapping[int, bytes], others: Iterable[tuple[int, int]]
) -> int:
    """The file with holes where the storages are, in memory: a descriptor. Of the headers it is
    known what they are; everything else is read."""
    with above_standard():
        hollow = os.memfd_create("instride-skeleton", os.MFD_CLOEXEC)
    try:
        os.ftruncate(hollow, file.seek(0, os.SEEK_END))
        for start, header in headers.items():
            os.pwrite(hollow, header, start)
        for start, end in others:
            file.seek(start)
            os.pwrite(hollow, file.read(end - start), start)
    except BaseException:
        os.close(hollow)
        raise
    return hollow


def _between(ranges: dict[int, int], size: int) -> Iterator[tuple[int, int]]:
    """Where a file of this size begins and ends to be something else than storages."""
    at = 0
    for offset, num_bytes in [*sorted(ranges.items()), (size, 0)]:
        if offset > at:
            yield at, offset
        at = max(at, offset + num_bytes)
