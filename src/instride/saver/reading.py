"""Reading a checkpoint into tensors that exist: parallel, verified on the way, never twice in
memory.

The structure comes from `torch.load` of a file that has the same directory and holes for data;
then the bytes are read, piece by piece, to where they belong. Code that is not torch's must not run
on the way: it would see holes.
"""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import torch
from blake3 import blake3

from instride.errors import DamagedError
from instride.snapshot.views import view_of
from instride.store.manifest import PIECE_BYTES, Manifest
from instride.store.staggering import Staggered, most_threads
from instride.store.verifying import (
    check_size,
    differing,
    drop_from_cache,
    memory_to_read_into,
    open_for_reading,
    read_piece,
)
from instride.system.cores import leave_core_of_parent
from instride.system.descriptors import above_standard

LOCAL_HEADER_BYTES = 30
AROUND_A_HEADER = 4096
"""What is asked for of the file before and behind the start of one: the end of the storage before
it, its name, and what fills it up."""


class Target:
    """Bytes of a file that belong into a tensor's memory."""

    def __init__(self, offset: int, memory: torch.Tensor) -> None:
        self.offset = offset
        self.memory = memory
        self.end = offset + memory.numel()


class Skeleton:
    """A checkpoint without its data: the tree, and where in the file each storage lies."""

    def __init__(self, path: Path) -> None:
        self.ranges, pickled = _contents(path)
        if _is_in(pickled, torch.serialization.get_safe_globals()):
            raise ValueError("others may run code in it")
        self.locations: dict[int, str] = {}
        """Where each storage was when it was saved, by its address in the tree."""
        hollow = _hollow_copy(path, self.ranges)
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


def _contents(path: Path) -> tuple[dict[int, int], bytes]:
    """Offset and size of every storage record, and the pickle."""
    with zipfile.ZipFile(path) as archive, _open_for_bits(path) as file:
        _ask_for_headers(archive, file.fileno())
        pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        return dict(_storages(archive, file)), archive.read(pickled)


def _open_for_bits(path: Path) -> BinaryIO:
    """For what lies between gigabytes: of these, nothing is read ahead."""
    file = path.open("rb")
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    return file


def _ask_for_headers(archive: zipfile.ZipFile, fd: int) -> None:
    """All at once: read one after the other, each of a thousand would be waited for."""
    if hasattr(os, "posix_fadvise"):
        for info in archive.infolist():
            start = max(0, info.header_offset - AROUND_A_HEADER)
            length = info.header_offset + AROUND_A_HEADER - start
            os.posix_fadvise(fd, start, length, os.POSIX_FADV_WILLNEED)


def _storages(archive: zipfile.ZipFile, file: BinaryIO) -> Iterator[tuple[int, int]]:
    for info in archive.infolist():
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


def _hollow_copy(path: Path, ranges: dict[int, int]) -> int:
    """The file with holes where the storages are, in memory: a descriptor."""
    with above_standard():
        hollow = os.memfd_create("instride-skeleton", os.MFD_CLOEXEC)
    with _open_for_bits(path) as file:
        size = file.seek(0, os.SEEK_END)
        os.ftruncate(hollow, size)
        at = 0
        for offset, num_bytes in [*sorted(ranges.items()), (size, 0)]:
            if offset > at:
                file.seek(at)
                os.pwrite(hollow, file.read(offset - at), at)
            at = max(at, offset + num_bytes)
    return hollow


def fill(path: Path, manifest: Manifest | None, targets: list[Target]) -> None:
    """Read a file into memory. Raises DamagedError as soon as a piece is not what was written."""
    targets = sorted(targets, key=lambda target: target.offset)
    if manifest is not None:
        check_size(path, manifest)
    size = path.stat().st_size
    gpus = {target.memory.device for target in targets if target.memory.is_cuda}
    _await_queues(gpus)
    fd = open_for_reading(path)
    num_threads = most_threads()
    reading = Staggered(num_threads)
    local = threading.local()

    def read(index: int) -> None:
        if not hasattr(local, "bytes"):
            local.bytes = _buffer(is_for_gpu=bool(gpus))
            local.view = view_of(local.bytes)
        with reading.turn():
            num_bytes = read_piece(fd, local.view, index * PIECE_BYTES)
        piece = local.view[:num_bytes]
        if manifest is not None and blake3(piece).hexdigest() != manifest.pieces[index]:
            raise DamagedError(path, differing(index, manifest))
        _scatter(local.bytes[:num_bytes], index * PIECE_BYTES, targets)

    try:
        with ThreadPoolExecutor(num_threads, initializer=leave_core_of_parent) as pool:
            for _ in pool.map(read, range(-(-size // PIECE_BYTES))):
                pass
        drop_from_cache(fd)
    finally:
        os.close(fd)


def _await_queues(gpus: set[torch.device]) -> None:
    """Let the caller's stream come to its end: threads copy on another one, and what still waits
    there, such as the first values of a model, would be written over what they copied."""
    for gpu in gpus:
        torch.cuda.current_stream(gpu).synchronize()


def _buffer(*, is_for_gpu: bool) -> torch.Tensor:
    """Memory for a piece: aligned for direct reads, locked where a GPU copies from it."""
    if is_for_gpu:
        return torch.empty(PIECE_BYTES, dtype=torch.uint8, pin_memory=True)
    return torch.frombuffer(memory_to_read_into(), dtype=torch.uint8)


def _scatter(piece: torch.Tensor, offset: int, targets: list[Target]) -> None:
    """Copy what of a piece belongs somewhere."""
    end = offset + piece.numel()
    low, high = 0, len(targets)
    while low < high:  # the first target that ends behind the start of the piece
        middle = (low + high) // 2
        if targets[middle].end <= offset:
            low = middle + 1
        else:
            high = middle
    for target in targets[low:]:
        if target.offset >= end:
            return
        first, last = max(target.offset, offset), min(target.end, end)
        with torch.no_grad():
            target.memory[first - target.offset : last - target.offset].copy_(
                piece[first - offset : last - offset]
            )
