"""A pack to the file that it was made from, or only to the proof that it could be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from blake3 import blake3

from instride.errors import DamagedError, OverwriteError, UnwritableError
from instride.faults import reached
from instride.framed.blocks import Ahead
from instride.pack.arrays import Bytes, np
from instride.pack.container import BLOCK_BYTES, is_pack
from instride.pack.contents import Contents, contents_of
from instride.pack.keeping import carry_manifest, manifest_of, name_with_manifest
from instride.pack.reading import Pack
from instride.pack.refusing import naming_what_failed, not_to_unpack
from instride.pack.writing import Progress
from instride.reasons import Reason
from instride.store.atomic import removed_on_failure, sync_file, temporary_beside
from instride.store.verifying import PieceDigests

SCHEMA = 1


class Unpacked(msgspec.Struct, frozen=True):
    path: str
    pack: str
    num_bytes: int


class UnpackReport(msgspec.Struct, frozen=True):
    """What `instride unpack --json` prints: all that is done, also if a later pack failed."""

    files: list[Unpacked]
    schema: int = SCHEMA


def unpack(
    path: Path,
    output: Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Unpacked:
    """Write the original, under the name it had, beside its pack; the pack stays.

    Raises PackError for what is no pack, OverwriteError where the file is there already,
    UnwritableError where none can be written, and DamagedError before the file has its name if a
    single byte would differ.
    """
    with naming_what_failed(path, path, "message.unpack"):
        if not path.is_file() or not is_pack(path):  # a pipe would be waited for
            raise not_to_unpack(path)
    with Pack(path) as source:
        final = output or path.with_name(source.index.meta.name)
        if final.is_dir():
            raise UnwritableError(str(final), Reason("os.EISDIR"))
        if final.exists() and not force:
            raise OverwriteError(str(final))
        temporary = temporary_beside(final)
        known = manifest_of(path) if output is None else None
        with naming_what_failed(path, final, "message.unpack"), removed_on_failure(temporary):
            pieces = _write(source, temporary, progress, is_known=known is not None)
            manifest = carry_manifest(known, temporary, final, pieces)
            reached("unpack.manifest")
            name_with_manifest(temporary, final, manifest)
        return Unpacked(str(final), str(path), source.size_bytes)


def _write(
    source: Pack, temporary: Path, progress: Progress | None, *, is_known: bool
) -> list[str]:
    """Write the original durably; the hashes of its pieces, for a manifest."""
    pieces = PieceDigests()
    with temporary.open("xb", buffering=0) as target:
        reached("unpack.opened")
        written = _Written(source, target.fileno())
        with Ahead(written) as ahead:
            for number in range(len(source.index)):
                block = ahead.block(number)
                if is_known:
                    pieces.update(memoryview(block))
                if progress is not None:
                    progress(len(block))
                written.take_back(block)
        sync_file(target.fileno())
        reached("unpack.synced")
    return pieces.all()


class _Written:
    """Blocks that lie in a file when they are handed out: whichever thread decodes one writes it,
    so that nobody waits for the other."""

    def __init__(self, source: Pack, fd: int) -> None:
        self._source = source
        self._fd = fd
        self._spare: list[Bytes] = []
        self.starts = source.starts

    def block(self, number: int) -> Any:
        try:
            room = self._spare.pop()
        except IndexError:
            room = np.empty(BLOCK_BYTES, np.uint8)
        data = self._source.block(number, room)
        with memoryview(data) as view:
            done = 0
            while done < len(view):
                done += os.pwrite(self._fd, view[done:], self.starts[number] + done)
        return data

    def take_back(self, block: Any) -> None:
        """The memory of a block that nobody needs any more: new pages cost as much as the work."""
        whole = getattr(block, "base", None)
        if isinstance(whole, np.ndarray) and len(whole) == BLOCK_BYTES:
            self._spare.append(whole)

    def close(self) -> None:
        """The file and the pack are closed by whoever opened them."""


def verify_pack(path: Path, progress: Progress | None = None) -> Contents:
    """Decode every block, those of the base too where it is needed. Raises DamagedError."""
    whole = blake3()
    with Pack(path) as source:
        for block in source.blocks():
            whole.update(block)
            if progress is not None:
                progress(len(block))
        if whole.digest() != source.index.digest:
            raise DamagedError(path, Reason("pack-index"))
    return contents_of(path)
