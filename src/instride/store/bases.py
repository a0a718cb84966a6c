"""Which checkpoint to pack next, and against which: rules without side effects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from instride.places import PACK
from instride.store.directory import Checkpoint
from instride.store.retention import Keep, wanted

PLAIN = ".pt"


def next_to_pack(checkpoints: Sequence[Checkpoint], skipped: Collection[Path]) -> Checkpoint | None:
    """The newest that is no pack yet: what is older may be deleted before its turn comes.

    One whose pack would take the place of a base that is needed has to wait until it is not: two
    saves of one step, of which the first was packed.
    """
    packs = {c.path.name: c for c in checkpoints if c.path.suffix == PACK}
    bases = {c.base for c in checkpoints}
    plain = [
        checkpoint
        for checkpoint in checkpoints
        if checkpoint.is_ours and checkpoint.path.suffix == PLAIN and checkpoint.path not in skipped
        if (name := checkpoint.path.name + PACK) not in bases
        or packs.get(name, checkpoint).serial == checkpoint.serial
    ]
    return max(plain, key=lambda checkpoint: checkpoint.serial, default=None)


def base_for(
    checkpoint: Checkpoint, checkpoints: Sequence[Checkpoint], keep: Keep
) -> Checkpoint | None:
    """The newest full pack that is kept for its own sake: one that is about to go would have to
    stay for this one alone. None where a base of others is to be packed once more."""
    own = checkpoint.path.name + PACK
    if any(each.base == own for each in checkpoints):
        return None
    kept = wanted(checkpoints, keep)
    full = [
        each
        for each in checkpoints
        if each.is_ours and each.path.suffix == PACK and each.base is None
        if each.path.name != own and (kept is None or each.path in kept)
    ]
    return max(full, key=lambda each: each.serial, default=None)
