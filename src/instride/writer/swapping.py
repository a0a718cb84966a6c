"""A pack in place of the file that it was made from: at every moment there is one of the two."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from instride.faults import reached
from instride.pack.keeping import carry_manifest, is_pointed_to, name_with_manifest
from instride.places import PACK
from instride.store.atomic import point_link, temporary_beside
from instride.store.directory import LATEST, Checkpoint
from instride.store.manifest import Manifest, manifest_path, manifests_of, read_manifest
from instride.store.removing import remove


class Order(msgspec.Struct, frozen=True):
    """A committed checkpoint that is to become a pack."""

    checkpoint: Checkpoint
    base: Checkpoint | None
    temporary: Path
    """Where the pack is put together."""
    called_s: float

    @property
    def path(self) -> Path:
        return self.checkpoint.path

    @property
    def final(self) -> Path:
        return self.path.with_name(self.path.name + PACK)

    @classmethod
    def of(cls, checkpoint: Checkpoint, base: Checkpoint | None, now_s: float) -> Order:
        final = checkpoint.path.with_name(checkpoint.path.name + PACK)
        return cls(checkpoint, base, temporary_beside(final), now_s)


class Draft(msgspec.Struct, frozen=True):
    """A pack that is durable and was read back, and has no name yet."""

    order: Order
    original_bytes: int
    pack_bytes: int
    same_bytes: int
    pieces: list[str]
    has_base: bool
    """Whether it was made against the base of its order, in the end."""
    trouble: str | None = None
    """Why that base could not be read."""


class Piecewise(Protocol):
    """Work that can be left off behind any piece."""

    @property
    def bytes_left(self) -> int:
        """Of the original; 0 when all is done."""

    def do_one(self) -> bool:
        """Do a piece; False if there is none that nobody does already."""


def put_in_place(draft: Draft) -> bool:
    """Give a pack its name and delete its original, unless that, or the base, is another one by
    now or gone. Raises OSError."""
    order = draft.order
    base = order.base if draft.has_base else None
    if not _is_there(order.checkpoint) or (base is not None and not _is_there(base)):
        return False
    manifest = carry_manifest(
        order.checkpoint.manifest,
        order.temporary,
        order.final,
        draft.pieces,
        original_bytes=draft.original_bytes,
        base=base.path.name if base else None,
    )
    reached("pack.manifest")
    name_with_manifest(order.temporary, order.final, manifest)
    reached("pack.renamed")
    _forget_older(order.final, manifest)
    if is_pointed_to(order.path):
        point_link(order.path.with_name(LATEST), order.final.name)
    reached("pack.linked")
    remove(order.path)
    reached("pack.removed")
    return True


def _is_there(checkpoint: Checkpoint) -> bool:
    return checkpoint.manifest is not None and read_manifest(checkpoint.path) == checkpoint.manifest


def _forget_older(path: Path, manifest: Manifest | None) -> None:
    """A pack of that name may have been there before."""
    current = manifest_path(path, manifest.token) if manifest else None
    for old in manifests_of(path):
        if old != current:
            old.unlink(missing_ok=True)
