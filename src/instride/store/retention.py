"""Which checkpoints to keep: a rule without side effects; the writer carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from instride.store.directory import Checkpoint


class Keep(msgspec.Struct, frozen=True, kw_only=True):
    """What outlives the next save. `Keep()` keeps everything."""

    last: int | None = None
    """The so many that were saved last."""
    every: int | None = None
    """Those whose step is a multiple of it, for ever."""
    best: int | None = None
    """The so many with the best `metric`."""
    best_is: Literal["lowest", "highest"] = "lowest"

    def __post_init__(self) -> None:
        for name in ("last", "every", "best"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(
                    f"Keep({name}={value!r}): must be a whole number from 1 on, or None"
                )
        if self.best_is not in ("lowest", "highest"):
            raise ValueError(f"Keep(best_is={self.best_is!r}): must be 'lowest' or 'highest'")


def doomed(checkpoints: Sequence[Checkpoint], keep: Keep) -> list[Checkpoint]:
    """What may go, oldest first, a base behind what needs it; never the newest, never a file that
    is not ours, never the base of a pack that stays.

    The newest is the last that was committed: after a return to an earlier step, higher ones are
    older."""
    kept = wanted(checkpoints, keep)
    if kept is None:
        return []
    bases = {c.base for c in checkpoints if c.base and (c.path in kept or not c.is_ours)}
    going = [
        c for c in checkpoints if c.is_ours and c.path not in kept and c.path.name not in bases
    ]
    needed_until = {c.base: c.serial for c in sorted(going, key=lambda c: c.serial) if c.base}
    return sorted(
        going, key=lambda c: (max(c.serial, needed_until.get(c.path.name, 0)), c.base is None)
    )


def wanted(checkpoints: Sequence[Checkpoint], keep: Keep) -> set[Path] | None:
    """What a rule asks to be kept for its own sake; None: everything."""
    ours = [checkpoint for checkpoint in checkpoints if checkpoint.is_ours]
    if keep.last is None and keep.best is None:
        return None  # `every` alone names what stays for ever, not what may go
    # A checkpoint and its pack are one save, with one serial.
    serials = set(sorted({checkpoint.serial for checkpoint in ours})[-(keep.last or 1) :])
    if keep.best:
        serials.update(_best(ours, keep))
    kept = {checkpoint.path for checkpoint in ours if checkpoint.serial in serials}
    if keep.every:
        kept.update(c.path for c in ours if c.step % keep.every == 0)
    return kept


def _best(ours: Sequence[Checkpoint], keep: Keep) -> list[int]:
    """The serials of those with the best metric."""
    measured = {
        c.serial: (c.manifest.metric, c.step)
        for c in ours
        if c.manifest is not None and c.manifest.metric is not None
    }
    sign = 1 if keep.best_is == "lowest" else -1
    numbers = [
        (sign * metric, -step, serial)
        for serial, (metric, step) in measured.items()
        if metric == metric
    ]
    return [serial for *_, serial in sorted(numbers)[: keep.best]]
