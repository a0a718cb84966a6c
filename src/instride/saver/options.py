"""What an engine is asked for, as it goes from whoever saves to the writer."""

from __future__ import annotations

from typing import Literal

import msgspec

from instride.store.retention import Keep


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What it is for each of them if nobody says anything."""

    keep: Keep = Keep()
    memory_bytes: int | None = None
    """How large the arena may become; None: as large as a snapshot."""
    when_busy: Literal["wait", "skip"] = "wait"
    """What a save does while the one before is still being written."""
    stall_s: float = 60.0
    """How long storage may get nothing done before nobody waits for it any more."""
    packs: bool = False
    """What is committed is packed."""
    budget: float | None = None
    """Share of step time that the work may cost; None: nobody governs it."""
