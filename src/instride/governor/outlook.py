"""All that a decision is made from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from instride.governor.effect import Pair
from instride.governor.model import Training


class Strain(msgspec.Struct, frozen=True):
    """What others wait for, as seen while we pause: shares of time, None where nobody says."""

    io: float | None = None
    memory: float | None = None
    idle_cores: float | None = None
    is_idle: bool = False
    """Nearly all cores are: whatever lives, it does not compute here."""
    cpu: float | None = None


class Outlook(msgspec.Struct, frozen=True):
    """All that a decision is made from."""

    now_s: float
    training: Training | None = None
    """None: there is no telling."""
    has_steps: bool = False
    pairs: Sequence[Pair] = ()
    strain: Strain = Strain()
    thread_bytes_per_s: float | None = None
    """What one thread does while it may."""
    bytes_per_s: float | None = None
    """What gets done over all, pauses included; None while that is not known yet."""
    left_bytes: int = 0
    deadline_s: float | None = None
