"""The only place that renames and fsyncs: a name is either the old file or the whole new one."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

UNSYNCABLE = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}
"""The answer of filesystems that cannot fsync a directory (network, FUSE): no more can be done."""


def temporary_beside(path: Path) -> Path:
    """A name in the same directory that no reader takes for a checkpoint."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def sync_file(fd: int) -> None:
    """Wait until the bytes are on the disk."""
    os.fsync(fd)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in UNSYNCABLE:
            raise
    finally:
        os.close(fd)


def give_name(temporary: Path, final: Path) -> None:
    """Give a durable file its name, durably."""
    temporary.replace(final)
    sync_directory(final.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Put a small file in place: all of it or nothing, durable on return."""
    temporary = temporary_beside(path)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            sync_file(file.fileno())
        give_name(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def point_link(link: Path, target: str) -> None:
    """Let a symbolic link point somewhere else; at no moment is it missing."""
    temporary = temporary_beside(link)
    try:
        temporary.symlink_to(target)
        give_name(temporary, link)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
