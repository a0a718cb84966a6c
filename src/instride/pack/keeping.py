"""What a store knows of a checkpoint, carried over to its other form."""

from __future__ import annotations

from pathlib import Path

import msgspec

from instride.store.atomic import give_name
from instride.store.directory import LATEST
from instride.store.manifest import (
    PIECE_BYTES,
    Manifest,
    read_manifest,
    read_token,
    write_manifest,
)


def manifest_of(path: Path) -> Manifest | None:
    """The manifest of a file that is as long as it says."""
    manifest = read_manifest(path)
    return manifest if manifest and manifest.size_bytes == path.stat().st_size else None


def carry_manifest(
    known: Manifest | None,
    temporary: Path,
    final: Path,
    pieces: list[str],
    *,
    original_bytes: int | None = None,
    base: str | None = None,
) -> Manifest | None:
    """Write the manifest of a file that is about to get its name, if the one it was made from has
    one: step, metric and serial stay those of the checkpoint."""
    if known is None:
        return None
    manifest: Manifest = msgspec.structs.replace(
        known,
        original_bytes=original_bytes,
        base=base,
        name=final.name,
        token=read_token(temporary),
        size_bytes=temporary.stat().st_size,
        pieces=pieces,
        piece_bytes=PIECE_BYTES,
    )
    write_manifest(final, manifest)
    return manifest


def name_with_manifest(temporary: Path, final: Path, manifest: Manifest | None) -> None:
    """Give a file its name. A writer that starts just then takes a manifest without its file for a
    leftover, and deletes it: then it is written again."""
    give_name(temporary, final)
    if manifest is not None and read_manifest(final) is None:
        write_manifest(final, manifest)


def is_pointed_to(path: Path) -> bool:
    """Whether the link `latest` beside a file points to it."""
    try:
        return (path.parent / LATEST).readlink().name == path.name
    except OSError:
        return False
