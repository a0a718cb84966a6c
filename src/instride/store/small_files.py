"""Reading the small files of a store, which anybody may have put there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from instride.store.atomic import NOT_INHERITED

MOST_BYTES = 256 << 20
"""A manifest of this size would be that of a checkpoint of sixteen terabytes."""


def read_small(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of an ordinary file. Raises OSError for anything else: a pipe would wait for ever,
    a link may lead to a device that never ends."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # Windows has neither
    fd = os.open(path, os.O_RDONLY | NOT_INHERITED | flags)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", str(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read(most_bytes)
