"""The link `latest`: it leads to the newest checkpoint, and takes the place of nobody's file.

In a copy of a store it may be a file: `cp -L` makes one, and so do filesystems without links. A
file that is a copy of a checkpoint becomes a link again; any other is somebody's, and is told of.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from instride.store.atomic import point_link
from instride.store.directory import LATEST, Checkpoint, newest_first
from instride.store.manifest import read_token
from instride.store.presence import is_gone

NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""The answer of filesystems that know no links: a copy stays one there."""
if os.name == "nt":
    NO_LINKS.add(errno.EINVAL)  # what Python makes of answers that only Windows has
FULL = {errno.ENOSPC, errno.EDQUOT}


def point_latest(path: Path) -> None:
    """Let it lead to a checkpoint beside it, unless it is somebody's file. Raises OSError."""
    link = path.with_name(LATEST)
    if is_gone(link) or link.is_symlink() or _is_copy(link, newest_first(path.parent)):
        point_link(link, path.name)


def mend_latest(directory: Path) -> None:
    """Let it lead to the newest checkpoint again, after a crash, a deletion or a copy. Only for the
    owner of a store; one that leads to somebody's own file, or to what is out of reach, is left
    alone. Raises OSError."""
    link = directory / LATEST
    newest = newest_first(directory)
    if newest and (_is_misled(link, newest) or _is_copy(link, newest)):
        point_link(link, newest[0].path.name)


@contextmanager
def latest_mended(directory: Path) -> Iterator[None]:
    """Let it lead to the newest checkpoint while others are deleted. Before that: a copy of what
    goes would count as somebody's file afterwards, for ever. Once more behind it, where the disk
    was too full until then. Raises OSError, unless the filesystem knows no links."""
    link = directory / LATEST
    was_copy = _is_copy(link, newest_first(directory))
    with _answered_by(NO_LINKS | FULL):
        mend_latest(directory)
    yield
    with _answered_by(NO_LINKS):
        if was_copy and not link.is_symlink():
            point_link(link, newest_first(directory)[0].path.name)
        else:
            mend_latest(directory)


def is_stale(directory: Path) -> bool:
    """Whether `latest` is a file, and another one than the newest checkpoint: whoever opens it gets
    that, and no word of it."""
    link = directory / LATEST
    if not _is_file(link):
        return False
    newest = newest_first(directory)[:1]
    return bool(newest) and not _is_copy(link, newest)


def how_stale(directory: Path) -> tuple[str, str]:
    """What to tell of it, and the hint."""
    link = directory / LATEST
    quoted = shlex.quote(str(link))
    return (
        f"`{link}` is a file and no link to the newest checkpoint: it is left alone, and whoever "
        "loads it does not get what was saved last",
        f"give it another name, and the next save makes the link: `mv -n {quoted} {quoted}.other`",
    )


@contextmanager
def _answered_by(codes: set[int]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in codes:
            raise


def _is_misled(link: Path, newest: Sequence[Checkpoint]) -> bool:
    """Whether it leads to a checkpoint that is not the newest, or to one that is gone."""
    if not link.is_symlink():
        return False
    target = link.parent / link.readlink()
    is_ours = any(target == checkpoint.path for checkpoint in newest)
    is_dead = target.parent == link.parent and is_gone(target)
    return (is_ours or is_dead) and target != newest[0].path


def _is_copy(link: Path, checkpoints: Sequence[Checkpoint]) -> bool:
    """Whether a file is what one of these is, by its size and its end, where all checksums are."""
    if not _is_file(link):
        return False
    written = [each.manifest for each in checkpoints if each.manifest is not None]
    with suppress(OSError):
        is_of = (link.stat().st_size, read_token(link))
        return any(is_of == (each.size_bytes, each.token) for each in written)
    return False


def _is_file(link: Path) -> bool:
    """Itself, not what it leads to: opening a pipe would wait for ever."""
    try:
        return stat.S_ISREG(link.lstat().st_mode)
    except OSError:
        return False
