"""All that a decision is made from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from instride.governor.effect import Pair
from instride.governor.model import Training

HIGH_IO, HIGH_MEMORY, HIGH_CPU = 0.05, 0.02, 0.3
"""Shares of time in which somebody waits for a resource while we pause."""
SPARE_SHARE = 0.75
"""Of the cores that are idle without us."""
FIRST_BYTES_PER_S = 64e6
"""Until the speed of a thread is known."""


class Strain(msgspec.Struct, frozen=True):
    """What others wait for, as seen while we pause: shares of time, None where nobody says."""

    io: float | None = None
    memory: float | None = None
    idle_cores: float | None = None
    is_idle: bool = False
    """Nearly all cores are: whatever lives, it does not compute here."""
    cpu: float | None = None

    @property
    def is_high(self) -> bool:
        """Somebody waits for something already."""
        looks = ((self.io, HIGH_IO), (self.memory, HIGH_MEMORY), (self.cpu, HIGH_CPU))
        return any((share or 0.0) >= limit for share, limit in looks)

    @property
    def spare_cores(self) -> float:
        """So many may be used, and others still find one that idles."""
        return SPARE_SHARE * (self.idle_cores or 0.0)


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

    @property
    def speed_of_a_thread(self) -> float:
        """In bytes per second, known or not."""
        return self.thread_bytes_per_s or FIRST_BYTES_PER_S
