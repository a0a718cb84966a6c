"""Reading a checkpoint back and comparing it with its manifest, past the page cache."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from blake3 import blake3

from instride.errors import DamagedError
from instride.reasons import Reason
from instride.store.manifest import (
    Manifest,
    manifest_path,
    manifests_of,
    read_manifest,
    read_token,
)

Progress = Callable[[int], None]
"""Is told how many more bytes were read."""


def verify(
    path: Path, manifest: Manifest | None = None, progress: Progress | None = None
) -> Manifest:
    """Compare every byte with the manifest. Raises DamagedError, or OSError for the disk's own."""
    manifest = manifest or read_manifest(path)
    if manifest is None:
        raise _without_manifest(path)
    size = path.stat().st_size
    if size != manifest.size_bytes:
        raise wrong_size(path, size, manifest)
    for index in differing_pieces(path, manifest, progress):
        offset = index * manifest.piece_bytes
        raise DamagedError(path, Reason("other-bytes", {"offset": offset}))
    return manifest


def wrong_size(path: Path, size: int, manifest: Manifest) -> DamagedError:
    return DamagedError(path, Reason("other-size", {"size": size, "written": manifest.size_bytes}))


def differing_pieces(
    path: Path, manifest: Manifest, progress: Progress | None = None
) -> Iterator[int]:
    """The pieces of a file that are not what the manifest says, by their index."""
    for index, piece in enumerate(pieces_of(path, manifest.piece_bytes)):
        if blake3(piece).hexdigest() != manifest.pieces[index]:
            yield index
        if progress is not None:
            progress(len(piece))


def _without_manifest(path: Path) -> DamagedError:
    if manifest_path(path, read_token(path)).exists():
        return DamagedError(path, Reason("other-manifest"))
    if manifests_of(path):
        return DamagedError(path, Reason("other-end"))
    return DamagedError(path, Reason("no-manifest"))


def pieces_of(path: Path, piece_bytes: int) -> Iterator[memoryview]:
    """The bytes of a file, read from the disk where it can be asked for that."""
    fd = open_for_reading(path)
    try:
        with mmap.mmap(-1, piece_bytes) as buffer, memoryview(buffer) as view:
            offset = 0
            while num_bytes := read_piece(fd, view, offset):
                with view[:num_bytes] as piece:
                    yield piece
                offset += num_bytes
        drop_from_cache(fd)
    finally:
        os.close(fd)


def open_for_reading(path: Path) -> int:
    """A descriptor that reads past the page cache where the filesystem knows how."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECT", 0))
    except OSError:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def read_piece(fd: int, view: memoryview, offset: int) -> int:
    """Fill a view from an offset on; less than all of it at the end of the file only."""
    done = 0
    while done < len(view):
        try:
            num_bytes = os.preadv(fd, [view[done:]], offset + done)
        except OSError:
            if done % mmap.PAGESIZE == 0:
                raise
            return done  # past an unaligned end, a direct read is refused instead of empty
        if num_bytes == 0:
            break
        done += num_bytes
        if num_bytes % mmap.PAGESIZE:
            break
    return done


def drop_from_cache(fd: int) -> None:
    """Leave no trace of a file in memory that others need."""
    if hasattr(os, "posix_fadvise"):  # a copy of a store may be looked at anywhere
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
