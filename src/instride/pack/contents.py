"""What a pack says of itself, without decoding anything; numpy is not needed for it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from instride.errors import DamagedError
from instride.pack.container import read_index
from instride.store.listing import PackEntry


class Contents(msgspec.Struct, frozen=True):
    original: str
    original_bytes: int
    pack_bytes: int
    base: str | None
    blake3: str
    """Of the original."""

    @property
    def ratio(self) -> float:
        return self.pack_bytes / self.original_bytes if self.original_bytes else 1.0


def contents_of(path: Path) -> Contents:
    """What stands in the index of a pack; its blocks are not looked at, nor its base."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        index = read_index(fd, path)
        stored_bytes = os.fstat(fd).st_size
    finally:
        os.close(fd)
    base = index.meta.base
    return Contents(
        original=index.meta.name,
        original_bytes=index.size_bytes,
        pack_bytes=stored_bytes,
        base=base.name if base else None,
        blake3=index.digest.hex(),
    )


def entry_of(path: Path) -> PackEntry | None:
    """A pack as `instride list` shows it; None for what is gone, or may not be read."""
    try:
        contents = contents_of(path)
    except DamagedError:
        return PackEntry(path.name, path.stat().st_size, None, None, is_damaged=True)
    except OSError:
        return None
    is_damaged = contents.base is not None and not path.with_name(contents.base).exists()
    return PackEntry(path.name, contents.pack_bytes, contents.ratio, contents.base, is_damaged)
