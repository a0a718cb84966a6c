"""The only place that renames and fsyncs: a name is either the old file or the whole new one."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NOT_INHERITED = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""For files that are opened by descriptor: no child gets them, no system changes their bytes."""
FULL_SYNC = 51
"""What macOS calls an fsync that reaches the disk itself."""
UNSYNCABLE = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES}
"""The answer of filesystems that cannot fsync a directory (network, FUSE): no more can be done."""


def temporary_beside(path: Path) -> Path:
    """A name in the same directory that no reader takes for a checkpoint."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def sync_file(fd: int) -> None:
    """Wait until the bytes are on the disk."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(fd, FULL_SYNC)
    else:
        os.fsync(fd)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk. Windows has no such thing."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in UNSYNCABLE:
            raise
    finally:
        os.close(fd)


def make_directory(path: Path) -> None:
    """Make a directory and those above it, durably: a file is lost with the name of its folder."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir()
    except FileExistsError as error:
        if not path.is_dir():
            what = os.strerror(errno.ENOTDIR)
            raise NotADirectoryError(errno.ENOTDIR, what, str(path)) from error
    sync_directory(path.parent)


def give_name(temporary: Path, final: Path) -> None:
    """Give a durable file its name, durably."""
    temporary.replace(final)
    sync_directory(final.parent)


@contextmanager
def removed_on_failure(temporary: Path) -> Iterator[None]:
    """What fails on the way to its name leaves nothing behind, and is raised as it is."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_whole(
    path: Path, data: bytes, *, is_durable: bool = True, temporary: Path | None = None
) -> None:
    """Put a small file in place: all of it or nothing, durable on return unless that is not
    needed."""
    temporary = temporary or temporary_beside(path)
    with removed_on_failure(temporary):
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            if is_durable:
                sync_file(file.fileno())
        if is_durable:
            give_name(temporary, path)
        else:
            temporary.replace(path)


def point_link(link: Path, target: str) -> None:
    """Let a symbolic link point somewhere else; at no moment is it missing."""
    temporary = temporary_beside(link)
    with removed_on_failure(temporary):
        temporary.symlink_to(target)
        give_name(temporary, link)
