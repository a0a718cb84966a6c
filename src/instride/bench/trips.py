"""One checkpoint, there and back, by each way: packed by us, in pieces by a rival, by DCP."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from instride.bench.codecs import RIVALS
from instride.framed.blocks import num_threads
from instride.lifetimes import PerThread
from instride.pack.packing import pack
from instride.pack.unpacking import unpack
from instride.store.atomic import sync_file

PIECE_BYTES = 4 << 20
LENGTH_BYTES = 4
Place = tuple[int, int]
"""Offset and length."""


class Trip(Protocol):
    def there(self) -> int:
        """Make it smaller; the bytes that are left."""

    def back(self) -> None:
        """Make it what it was."""

    def check(self) -> None:
        """Raise AssertionError if that is something else."""


class Ours:
    def __init__(self, source: Path, base: Path | None, folder: Path) -> None:
        self._source, self._base = source, base
        self._packed, self._back = source.with_name(f"{source.name}.pack"), folder / "back"

    def there(self) -> int:
        return pack(self._source, self._base, keep_original=True, force=True).pack_bytes

    def back(self) -> None:
        unpack(self._packed, self._back)

    def check(self) -> None:
        check_same(self._source, self._back)
        self._packed.unlink()


class InPieces:
    """A file in 4 MiB pieces, on as many threads as we take, and as durable."""

    def __init__(self, name: str, width: int, source: Path, folder: Path) -> None:
        self._rival = RIVALS[name](width)
        self._source, self._packed, self._back = source, folder / "packed", folder / "back"

    def there(self) -> int:
        size = self._source.stat().st_size
        places = [(at, min(PIECE_BYTES, size - at)) for at in range(0, size, PIECE_BYTES)]
        with self._source.open("rb") as file:
            work = _on_pieces_of(file.fileno(), self._rival.compress)
            write_all(self._packed, in_parallel(work, places), LENGTH_BYTES)
        return self._packed.stat().st_size

    def back(self) -> None:
        with self._packed.open("rb") as file:
            work = _on_pieces_of(file.fileno(), self._rival.decompress)
            write_all(self._back, in_parallel(work, list(_places(file))), 0)

    def check(self) -> None:
        check_same(self._source, self._back)


def _places(file: BinaryIO) -> Iterator[Place]:
    """Where the pieces of a file lie that have their length before them."""
    at = 0
    while head := os.pread(file.fileno(), LENGTH_BYTES, at):
        length = int.from_bytes(head, "little")
        yield at + LENGTH_BYTES, length
        at += LENGTH_BYTES + length


def _on_pieces_of(fd: int, work: Callable[[memoryview], bytes]) -> Callable[[Place], bytes]:
    """Reads pieces into memory that each thread has of its own, and uses again."""
    memory = PerThread(lambda: memoryview(bytearray(2 * PIECE_BYTES)))

    def on_piece(place: Place) -> bytes:
        offset, length = place
        view = memory.get()[:length]
        os.preadv(fd, [view], offset)
        return work(view)

    return on_piece


class Dcp:
    """`torch.distributed.checkpoint` with its extension for zstd: from memory, and back to it."""

    def __init__(self, source: Path, folder: Path) -> None:
        import torch
        from torch.distributed import checkpoint
        from torch.distributed.checkpoint._extension import ZStandard

        from instride.bench.trained import tensors_in

        self._dcp: Any = checkpoint
        self._writer = checkpoint.FileSystemWriter(folder / "dcp", _extensions=[ZStandard()])
        self._folder = folder / "dcp"
        self._state = dict(tensors_in(source))
        self._empty = {name: torch.empty_like(each) for name, each in self._state.items()}

    def there(self) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is one process only
            self._dcp.save(self._state, storage_writer=self._writer, no_dist=True)
        return sum(path.stat().st_size for path in self._folder.iterdir())

    def back(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = self._dcp.FileSystemReader(self._folder)
            self._dcp.load(self._empty, storage_reader=reader, no_dist=True)

    def check(self) -> None:
        for name, each in self._state.items():
            if not bool((each == self._empty[name]).all()):
                raise AssertionError(f"{name} is not what it was")


def in_parallel(work: Callable[[Place], bytes], places: Iterable[Place]) -> Iterable[bytes]:
    """Results in order, a few pieces at a time."""
    rest = iter(places)
    with ThreadPoolExecutor(num_threads()) as pool:
        while batch := list(islice(rest, 2 * num_threads())):
            yield from pool.map(work, batch)


def write_all(target: Path, pieces: Iterable[bytes], length_bytes: int) -> None:
    """Each piece with its length before it, where that is needed."""
    with target.open("xb") as file:
        for piece in pieces:
            file.write(len(piece).to_bytes(length_bytes, "little") if length_bytes else b"")
            file.write(piece)
        file.flush()
        sync_file(file.fileno())


def check_same(one: Path, other: Path) -> None:
    with one.open("rb") as first, other.open("rb") as second:
        while True:
            piece = first.read(PIECE_BYTES)
            if piece != second.read(PIECE_BYTES):
                raise AssertionError(f"{other} is not what {one} was")
            if not piece:
                return
