"""A pack on its way to the disk: blocks by several threads, written in order, durable at the end.

Memory is bounded by the number of threads, whatever the size of the file. The work can be left off
after any block and taken up again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from blake3 import blake3

from instride.errors import DamagedError
from instride.faults import reached
from instride.lifetimes import Closing, OpenFile
from instride.pack.compressing import Block, Compression
from instride.pack.container import Entry, Meta, Method, closing, header
from instride.pack.cutting import Cut
from instride.pack.reading import Pack
from instride.store.atomic import sync_file
from instride.store.manifest import Manifest
from instride.store.verifying import PieceDigests, differing, drop_from_cache

Progress = Callable[[int], None]
"""Is told how many more bytes of the original are done."""
MOST_UNDER_WAY = 10
"""Blocks that are taken and not yet written: whoever is further ahead waits for those before."""


class Written(msgspec.Struct, frozen=True):
    """A pack that is whole and durable, and has no name yet."""

    original_bytes: int
    pack_bytes: int
    same_bytes: int
    """Of the original, that the base has as they are."""
    pieces: list[str]
    """BLAKE3 of each 4 MiB of the pack, if the original has a manifest."""


class PackWriter(OpenFile):
    """A file that is being packed under a name that nobody takes for a pack."""

    def __init__(
        self,
        compression: Compression,
        temporary: Path,
        *,
        manifest: Manifest | None = None,
        progress: Progress | None = None,
        spares_cache: bool = False,
    ) -> None:
        """With a manifest, what is packed must be what it says."""
        self._manifest = manifest
        self._progress = progress
        self._spares_cache = spares_cache
        self._compression = compression
        self._cuts = compression.cuts
        self._end = compression.size_bytes
        self._whole = blake3()
        self._original = PieceDigests()
        self._packed = PieceDigests()
        self._entries: list[Entry] = []
        self._order = threading.Condition()
        self._num_taken = 0
        self._ready: dict[int, Block] = {}
        self._is_writing = False
        self._has_failed = False
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        super().__init__(os.open(temporary, flags, 0o644))
        reached("pack.opened")
        self._put([header()])

    @property
    def bytes_left(self) -> int:
        """Of the original, that are not written."""
        num_written = len(self._entries)
        start = self._cuts[num_written].start if num_written < len(self._cuts) else self._end
        return self._end - start

    def do_one(self) -> bool:
        """Compress a block, and write what can be written; False if none is left."""
        number = self._take()
        if number is None:
            return False
        try:
            block = self._compression.compress(self._cuts[number])
            self._hand_in(number, block)
        except BaseException:
            with self._order:
                self._has_failed = True  # those ahead would wait for this one for ever
                self._order.notify_all()
            raise
        return True

    def finish(self) -> Written:
        """Close the pack and wait until it is on the disk. Raises DamagedError if the original is
        not what its manifest says."""
        manifest = self._manifest
        if manifest is not None and self._original.all() != manifest.pieces:
            raise _damaged(self._compression.path, manifest, self._original.all())
        # A name that is no text cannot stand in JSON.
        name = self._compression.path.name.encode("utf-8", "replace").decode()
        meta = Meta(name, self._compression.base_in_meta())
        self._put([closing(meta, self._entries, self._end, self._whole.digest())])
        reached("pack.written")
        sync_file(self._fd)
        drop_from_cache(self._fd)  # what is read back now comes from the disk
        reached("pack.synced")
        return Written(
            self._end,
            os.fstat(self._fd).st_size,
            sum(entry.num_bytes for entry in self._entries if entry.stored_bytes == 0),
            self._packed.all() if manifest is not None else [],
        )

    def _take(self) -> int | None:
        with self._order:
            while self._num_taken - len(self._entries) >= MOST_UNDER_WAY and not self._has_failed:
                self._order.wait()
            if self._has_failed or self._num_taken == len(self._cuts):
                return None
            self._num_taken += 1
            return self._num_taken - 1

    def _hand_in(self, number: int, block: Block) -> None:
        """Write blocks as long as the next one is there; only one thread does, others go on."""
        with self._order:
            self._ready[number] = block
            if self._is_writing:
                return
            self._is_writing = True
        try:
            while (following := self._following()) is not None:
                self._write(self._cuts[len(self._entries)], following)
        except BaseException:
            self._is_writing = False
            raise

    def _following(self) -> Block | None:
        with self._order:
            block = self._ready.pop(len(self._entries), None)
            self._is_writing = block is not None
            return block

    def _write(self, cut: Cut, block: Block) -> None:
        self._whole.update(block.data.data)
        if self._manifest is not None:
            self._original.update(block.data.data)
        self._put(block.encoded.parts)
        reached("pack.write")
        if self._spares_cache:
            self._compression.forget(cut)
        if self._progress is not None:
            self._progress(len(block.data))
        with self._order:
            self._entries.append(_entry(block))
            self._order.notify_all()
        self._compression.take_back(block)

    def _put(self, parts: Sequence[Any]) -> None:
        views = [memoryview(part) for part in parts if len(part)]
        if self._manifest is not None:
            for view in views:
                self._packed.update(view)
        while views:
            num_bytes = os.writev(self._fd, views)
            while views and num_bytes >= len(views[0]):
                num_bytes -= len(views.pop(0))
            if num_bytes:
                views[0] = views[0][num_bytes:]


def _entry(block: Block) -> Entry:
    encoded = block.encoded
    return Entry(
        len(block.data),
        encoded.num_bytes,
        block.base_offset if encoded.method in (Method.SAME, Method.XOR) else 0,
        encoded.method,
        encoded.width,
        block.digest,
    )


def _damaged(path: Path, manifest: Manifest, pieces: list[str]) -> DamagedError:
    pairs = zip(manifest.pieces, pieces, strict=False)
    number = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
    return DamagedError(path, differing(number, manifest))


class PackCheck(Closing):
    """A pack that is read back, before it is the only copy: each block must have the hash of the
    original's."""

    def __init__(self, path: Path) -> None:
        self._pack = Pack(path)
        self._lock = threading.Lock()
        self._num_taken = 0
        self.bytes_left = self._pack.size_bytes
        """Of the original, that were not compared."""

    def do_one(self) -> bool:
        with self._lock:
            if self._num_taken == len(self._pack.index):
                return False
            number = self._num_taken
            self._num_taken += 1
        num_bytes = len(self._pack.block(number))
        with self._lock:
            self.bytes_left -= num_bytes
        return True

    def close(self) -> None:
        self._pack.close()
