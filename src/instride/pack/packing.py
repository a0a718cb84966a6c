"""A file to a pack: blocks compressed by several threads, written in order, durable before it has
its name.

Memory is bounded by the number of threads, whatever the size of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec
from blake3 import blake3

from instride.errors import OverwriteError, PackError
from instride.faults import reached
from instride.pack.compressing import Block, Blocks
from instride.pack.container import SUFFIX, Entry, Meta, Method, closing, header, is_pack
from instride.pack.keeping import carry_manifest, is_pointed_to, name_with_manifest
from instride.pack.reading import Pack
from instride.reasons import Reason
from instride.store.atomic import sync_file, temporary_beside
from instride.store.manifest import read_manifest
from instride.store.removing import remove

SCHEMA = 1
Progress = Callable[[int], None]
"""Is told how many more bytes of the original are done."""
_Identity = tuple[int, int, int] | None


class Packed(msgspec.Struct, frozen=True):
    """What became of a file."""

    path: str
    original: str
    original_bytes: int
    pack_bytes: int
    base: str | None
    same_bytes: int
    """Of the original, that the base has as they are."""
    is_original_kept: bool
    is_pointed_to: bool
    """The link `latest` points to the original, which is why it was kept."""


class PackReport(msgspec.Struct, frozen=True):
    """What `instride pack --json` prints."""

    packs: list[Packed]
    schema: int = SCHEMA


def pack(
    path: Path,
    base: Path | None = None,
    *,
    keep_original: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Packed:
    """Pack a file beside itself. The original goes when its pack was read back, to the last byte.

    Raises PackError for what cannot be packed, OverwriteError where there is a pack already,
    DamagedError if what was read back differs. An original that `latest` points to is kept. Where
    the original is kept, its pack is not read back.
    """
    path = path.resolve() if path.is_symlink() else path  # a link would go, and its target stay
    final = path.with_name(path.name + SUFFIX)
    _check(path, base, final, force=force)
    before = _identity(path)
    is_latest = is_pointed_to(path)
    keeps = keep_original or is_latest
    entries = _commit(path, final, base, progress, before, is_checked=not keeps)
    keeps = keeps or _identity(path) != before
    if not keeps:
        remove(path)
        reached("pack.removed")
    return Packed(
        path=str(final),
        original=str(path),
        original_bytes=sum(entry.num_bytes for entry in entries),
        pack_bytes=final.stat().st_size,
        base=base.name if base else None,
        same_bytes=sum(entry.num_bytes for entry in entries if entry.stored_bytes == 0),
        is_original_kept=keeps,
        is_pointed_to=is_latest,
    )


def _check(path: Path, base: Path | None, final: Path, *, force: bool) -> None:
    if not path.is_file():
        raise PackError(str(path), Reason("no-file" if path.exists() else "os.ENOENT"))
    if is_pack(path):
        raise PackError(str(path), Reason("is-pack"))
    if final.exists() and not force:
        raise OverwriteError(str(final))
    if base is None:
        return
    if not is_pack(base):
        raise PackError(str(path), Reason("base-no-pack", {"base": str(base)}), hint="hint.base")
    if base.resolve().parent != final.resolve().parent or base.name == final.name:
        raise PackError(str(path), Reason("base-elsewhere", {"base": str(base)}), hint="hint.base")
    if read_manifest(base) is not None and read_manifest(path) is None:
        # Retention would not know that the base is needed.
        raise PackError(str(path), Reason("base-of-store", {"base": str(base)}))


def _commit(
    path: Path,
    final: Path,
    base: Path | None,
    progress: Progress | None,
    before: _Identity,
    *,
    is_checked: bool,
) -> list[Entry]:
    """Write, read back, and give the pack its name."""
    temporary = temporary_beside(final)
    try:
        with path.open("rb") as source:
            entries = _write(source, temporary, base, progress)
        if is_checked:
            _read_back(temporary)
        reached("pack.checked")
        if _identity(path) != before:
            _refuse_changed(path)
        size = sum(entry.num_bytes for entry in entries)
        name = base.name if base else None
        manifest = carry_manifest(path, temporary, final, original_bytes=size, base=name)
        reached("pack.manifest")
        name_with_manifest(temporary, final, manifest)
        reached("pack.renamed")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return entries


def _identity(path: Path) -> _Identity:
    """What was packed must still be what is there, or another file would be deleted for it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _refuse_changed(path: Path) -> None:
    raise PackError(str(path), Reason("changed"))


def _write(
    source: BinaryIO, temporary: Path, base: Path | None, progress: Progress | None
) -> list[Entry]:
    """Write the pack, durably, under a name that nobody takes for one."""
    size = source.seek(0, os.SEEK_END)
    path = Path(source.name)
    whole = blake3()
    entries = []
    with Blocks(source, base) as blocks, temporary.open("xb") as target:
        reached("pack.opened")
        target.write(header())
        for block in blocks:
            whole.update(block.data.data)
            for part in block.encoded.parts:
                target.write(part)
            entries.append(_entry(block))
            reached("pack.write")
            if progress is not None:
                progress(len(block.data))
        # A name that is no text cannot stand in JSON.
        name = path.name.encode("utf-8", "replace").decode()
        meta = Meta(name, blocks.base_in_meta())
        target.write(closing(meta, entries, size, whole.digest()))
        target.flush()
        reached("pack.written")
        sync_file(target.fileno())
        reached("pack.synced")
    return entries


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


def _read_back(temporary: Path) -> None:
    """Decode all of a pack as it lies there, before it is the only copy."""
    with Pack(temporary) as written:
        for _ in written.blocks():
            pass  # each is compared with the hash of the original's
