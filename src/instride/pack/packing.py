"""A file to a pack beside it: durable and read back before it has its name, and before the file
goes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from instride.errors import OverwriteError, PackError
from instride.faults import reached
from instride.pack.compressing import Compression
from instride.pack.container import is_pack
from instride.pack.keeping import carry_manifest, is_pointed_to, name_with_manifest
from instride.pack.refusing import naming_what_failed, not_to_pack
from instride.pack.threads import Runner, in_threads
from instride.pack.writing import PackCheck, PackWriter, Progress, Written
from instride.places import PACK
from instride.reasons import Reason
from instride.store.atomic import removed_on_failure, temporary_beside
from instride.store.manifest import read_manifest
from instride.store.refusing import naming_what_cannot_be_written
from instride.store.removing import remove
from instride.store.verifying import known_manifest

SCHEMA = 1
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
    """What `instride pack --json` prints: all that is done, also if a later file failed."""

    packs: list[Packed]
    schema: int = SCHEMA


def pack(
    path: Path,
    base: Path | None = None,
    *,
    keep_original: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    run: Runner = in_threads,
) -> Packed:
    """Pack a file beside itself. The original goes when its pack was read back, to the last byte.

    Raises PackError for what cannot be packed, OverwriteError where there is a pack already,
    UnwritableError where none can be written, DamagedError if what was read back differs. An
    original that `latest` points to is kept. Where the original is kept, its pack is not read back.
    """
    with naming_what_failed(path, path):
        path = path.resolve() if path.is_symlink() else path  # a link would go, and its target stay
        if not path.is_file():
            raise not_to_pack(path)
    final = path.with_name(path.name + PACK)
    with naming_what_failed(path, final):
        _check(path, base, final, force=force)
        before = _identity(path)
        is_latest = is_pointed_to(path)
        keeps = keep_original or is_latest
        written = _commit(path, final, _How(base, before, run, progress, is_checked=not keeps))
    keeps = keeps or _identity(path) != before
    if not keeps:
        with naming_what_cannot_be_written(path):
            remove(path)
        reached("pack.removed")
    return Packed(
        path=str(final),
        original=str(path),
        original_bytes=written.original_bytes,
        pack_bytes=written.pack_bytes,
        base=base.name if base else None,
        same_bytes=written.same_bytes,
        is_original_kept=keeps,
        is_pointed_to=is_latest,
    )


class _How(NamedTuple):
    base: Path | None
    before: _Identity
    run: Runner
    progress: Progress | None
    is_checked: bool


def _check(path: Path, base: Path | None, final: Path, *, force: bool) -> None:
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


def _commit(path: Path, final: Path, how: _How) -> Written:
    """Write, read back, and give the pack its name."""
    temporary = temporary_beside(final)
    known = known_manifest(path)
    with removed_on_failure(temporary):
        with (
            Compression(path, how.base) as compression,
            PackWriter(compression, temporary, manifest=known, progress=how.progress) as writer,
        ):
            how.run(writer.do_one)
            written = writer.finish()
        if how.is_checked:
            with PackCheck(temporary) as check:
                how.run(check.do_one)
        reached("pack.checked")
        _check_unchanged(path, how.before)
        size, name = written.original_bytes, how.base.name if how.base else None
        manifest = carry_manifest(
            known, temporary, final, written.pieces, original_bytes=size, base=name
        )
        reached("pack.manifest")
        name_with_manifest(temporary, final, manifest)
        reached("pack.renamed")
    return written


def _identity(path: Path) -> _Identity:
    """What was packed must still be what is there, or another file would be deleted for it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _check_unchanged(path: Path, before: _Identity) -> None:
    if _identity(path) != before:
        raise PackError(str(path), Reason("changed"))
