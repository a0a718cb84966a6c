"""Reading a checkpoint back and comparing it with its manifest, past the page cache."""

from __future__ import annotations

import errno
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path

from blake3 import blake3

from instride.errors import DamagedError
from instride.reasons import Reason, other_bytes
from instride.store.atomic import NOT_INHERITED
from instride.store.manifest import (
    PIECE_BYTES,
    Manifest,
    manifest_path,
    manifests_of,
    read_manifest,
    read_token,
)
from instride.store.small_files import read_small

Progress = Callable[[int], None]
"""Is told how many more bytes were read."""


def verify(
    path: Path, manifest: Manifest | None = None, progress: Progress | None = None
) -> Manifest:
    """Compare every byte with the manifest. Raises DamagedError, or OSError for the disk's own."""
    manifest = manifest or read_manifest(path)
    if manifest is None:
        raise _without_manifest(path)
    check_size(path, manifest)
    for index in differing_pieces(path, manifest, progress):
        raise DamagedError(path, differing(index, manifest))
    return manifest


def known_manifest(path: Path) -> Manifest | None:
    """The manifest of a file; None for one that was never committed here. Raises DamagedError where
    one of that name was, and the end or the size of this one is another, or OSError."""
    manifest = read_manifest(path)
    if manifest is None:
        if manifests_of(path):
            raise _without_manifest(path)
        return None
    check_size(path, manifest)
    return manifest


def check_size(path: Path, manifest: Manifest) -> None:
    """Raises DamagedError where the size of a file is not what was written, or OSError."""
    if (size := path.stat().st_size) != manifest.size_bytes:
        raise wrong_size(path, size, manifest)


def differing(index: int, manifest: Manifest) -> Reason:
    """That one of the pieces differs; the last one is shorter than the others."""
    offset = index * manifest.piece_bytes
    return other_bytes(offset, min(manifest.piece_bytes, manifest.size_bytes - offset))


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
    """Raises OSError for what may not be read: it may be whole."""
    token = read_token(path)
    try:
        read_small(manifest_path(path, token))
    except (FileNotFoundError, NotADirectoryError):
        return DamagedError(path, Reason("other-end" if manifests_of(path) else "no-manifest"))
    except PermissionError:
        raise
    except OSError:  # a link, a pipe: nobody wrote such a manifest
        pass
    return DamagedError(path, Reason("other-manifest"))


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


class PieceDigests:
    """The hashes of a manifest, of bytes that come one after the other."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._piece = blake3()
        self._num_bytes = 0

    def update(self, data: memoryview) -> None:
        while len(data):
            part = data[: PIECE_BYTES - self._num_bytes]
            self._piece.update(part)
            self._num_bytes += len(part)
            data = data[len(part) :]
            if self._num_bytes == PIECE_BYTES:
                self._done.append(self._piece.hexdigest())
                self._piece, self._num_bytes = blake3(), 0

    def all(self) -> list[str]:
        """Of everything so far; the last piece may be shorter than the others."""
        return [*self._done, self._piece.hexdigest()] if self._num_bytes else self._done


def open_for_reading(path: Path) -> int:
    """A descriptor that reads past the page cache where the filesystem knows how."""
    try:
        return os.open(path, os.O_RDONLY | NOT_INHERITED | getattr(os, "O_DIRECT", 0))
    except OSError:
        fd = os.open(path, os.O_RDONLY | NOT_INHERITED)
    # What was written a moment ago is in memory, and would be compared with itself.
    drop_from_cache(fd)
    return fd


def memory_to_read_into() -> mmap.mmap:
    """For a piece, in huge pages: a direct read would look for a thousand small ones one by one."""
    memory = mmap.mmap(-1, PIECE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel without huge pages
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def read_piece(fd: int, view: memoryview, offset: int) -> int:
    """Fill a view from an offset on; less than all of it at the end of the file only."""
    done = 0
    has_stopped = False
    while done < len(view):
        try:
            with view[done:] as rest:  # let go of, or an error would keep the memory from closing
                num_bytes = _read_at(fd, rest, offset + done)
        except OSError as error:
            if done % mmap.PAGESIZE:
                return done  # past an unaligned end, a direct read is refused instead of empty
            if error.errno != errno.EINVAL or has_stopped:
                raise
            _stop_reading_directly(fd)
            has_stopped = True
            continue
        if num_bytes == 0:
            break
        done += num_bytes
        if num_bytes % mmap.PAGESIZE:
            break
    return done


def _stop_reading_directly(fd: int) -> None:
    """For filesystems that open a file so and then refuse to read it. Another thread may find out
    in the same moment: it does no harm twice."""
    if hasattr(os, "O_DIRECT"):
        import fcntl

        flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        fcntl.fcntl(fd, fcntl.F_SETFL, flags & ~os.O_DIRECT)
    drop_from_cache(fd)


def _read_at(fd: int, view: memoryview, offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(fd, [view], offset)
    with _reading:  # Windows: where a file is read is one for all threads
        os.lseek(fd, offset, os.SEEK_SET)
        return FileIO(fd, closefd=False).readinto(view)


_reading = threading.Lock()


def drop_from_cache(fd: int) -> None:
    """Leave no trace of a file in memory that others need."""
    if hasattr(os, "posix_fadvise"):  # a copy of a store may be looked at anywhere
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
