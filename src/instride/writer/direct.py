"""Writing large files without filling the page cache: directly, or dropped as soon as clean."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from pathlib import Path

BLOCK_BYTES = 4096
NO_DIRECT = {errno.EINVAL, errno.ENOTSUP}
NO_FALLOCATE = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


class PieceFile:
    """A file that is written in pieces, from several threads, each once."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        """Create the file and reserve its space; `size_bytes` may grow by the tail."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self.is_direct = True
        try:
            self.fd = os.open(path, flags | os.O_DIRECT, 0o666)
        except OSError as error:
            if error.errno not in NO_DIRECT:
                raise
            path.unlink(missing_ok=True)  # some create the file and refuse to open it
            self.fd = os.open(path, flags, 0o666)
            self.is_direct = False
        try:
            reserve(self.fd, size_bytes)
        except OSError:
            os.close(self.fd)
            raise

    def write(self, piece: memoryview, offset: int) -> None:
        """Write a piece whose memory, length and offset are multiples of a block."""
        done = 0
        while done < len(piece):
            was_direct = self.is_direct  # other threads may find out at the same time
            try:
                num_bytes = os.pwrite(self.fd, piece[done:], offset + done)
            except OSError as error:
                if not (was_direct and error.errno in NO_DIRECT):
                    raise
                self._go_through_cache()
                continue
            done += num_bytes
            if was_direct and num_bytes % BLOCK_BYTES and done < len(piece):
                done -= num_bytes % BLOCK_BYTES
        if not self.is_direct:
            # Pages can only be dropped once they are clean: start that, drop those before.
            drop_written(self.fd, offset, len(piece))

    def _go_through_cache(self) -> None:
        import fcntl

        flags = fcntl.fcntl(self.fd, fcntl.F_GETFL)
        fcntl.fcntl(self.fd, fcntl.F_SETFL, flags & ~os.O_DIRECT)
        self.is_direct = False

    def cut(self, size_bytes: int) -> None:
        os.ftruncate(self.fd, size_bytes)

    def close(self) -> None:
        os.close(self.fd)


_libc = ctypes.CDLL(None, use_errno=True)
SYNC_FILE_RANGE_WRITE = 2


def reserve(fd: int, size_bytes: int) -> None:
    """Ask for the space at once, so that a full disk is known before anything is written.

    The C library's own replacement, where a filesystem cannot, would write every block.
    """
    if size_bytes == 0:
        return
    failed = _libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(size_bytes))
    if failed:
        code = ctypes.get_errno()
        if code not in NO_FALLOCATE:
            raise OSError(code, os.strerror(code))


def drop_written(fd: int, offset: int, num_bytes: int) -> None:
    _libc.sync_file_range(
        fd, ctypes.c_long(offset), ctypes.c_long(num_bytes), SYNC_FILE_RANGE_WRITE
    )
    os.posix_fadvise(fd, 0, offset, os.POSIX_FADV_DONTNEED)


def aligned_copy(data: bytes | memoryview, *more: bytes) -> mmap.mmap:
    """The bytes in memory that may be written directly, filled up to a whole block."""
    total = len(data) + sum(map(len, more))
    buffer = mmap.mmap(-1, max(BLOCK_BYTES, -(-total // BLOCK_BYTES) * BLOCK_BYTES))
    buffer.write(data)
    for part in more:
        buffer.write(part)
    return buffer
