"""Rules on what was measured: how fast the disk is, beside another one and by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from instride.doctor.machine.alternatives import elsewhere, moving
from instride.doctor.machine.landings import Landing
from instride.doctor.machine.probing import Probed
from instride.doctor.machine.readings import speed
from instride.doctor.model import Bytes, Certainty, Factor, Finding, Reading, Seconds, Speed

FAST_ENOUGH_BYTES_PER_S = 1e9
"""From here on, nobody looks for another disk."""
SLOW_BYTES_PER_S = 100e6
MUCH_FASTER = 2.5
"""Times; on a busy machine of two cores, two directories of one disk came out up to 1.5 apart."""
SURELY_FASTER = 5.0
EXAMPLE_BYTES = 10_000_000_000
"""What a save of this size takes is said where no checkpoint is there yet."""


def check_speed(
    landing: Landing, probed: Probed, other: tuple[Landing, Probed] | None
) -> Iterator[Finding]:
    """faster-disk-nearby if there is one; else slow-checkpoint-disk if it is."""
    own = probed.synced_bytes_per_s
    if own is None or own >= FAST_ENOUGH_BYTES_PER_S:
        return
    size_bytes = landing.checkpoint_bytes or EXAMPLE_BYTES
    evidence = tuple(_readings(landing.path, probed))
    if other is not None and (nearby := _much_faster(own, other[1])) is not None:
        yield Finding(
            "faster-disk-nearby",
            {
                "path": str(landing.path),
                "filesystem": landing.filesystem,
                "speed": Speed(own),
                "other": str(other[0].path),
                "other_speed": Speed(nearby),
                "times": Factor(nearby / own),
                "size": Bytes(size_bytes),
                "seconds": Seconds(size_bytes / own),
                "other_seconds": Seconds(size_bytes / nearby),
            },
            (*evidence, *_readings(other[0].path, other[1])),
            Certainty.SURE if nearby >= SURELY_FASTER * own else Certainty.LIKELY,
            fixes=(moving(landing, other[0]),),
        )
    elif own < SLOW_BYTES_PER_S:
        yield Finding(
            "slow-checkpoint-disk",
            {
                "path": str(landing.path),
                "filesystem": landing.filesystem,
                "speed": Speed(own),
                "size": Bytes(size_bytes),
                "seconds": Seconds(size_bytes / own),
            },
            evidence,
            fixes=(elsewhere(landing, None),),
        )


def _much_faster(own: float, other: Probed) -> float | None:
    nearby = other.synced_bytes_per_s
    return nearby if nearby is not None and nearby >= MUCH_FASTER * own else None


def _readings(path: Path, probed: Probed) -> Iterator[Reading]:
    if probed.synced_bytes_per_s is not None:
        yield Reading(f"write and sync in {path}", speed(probed.synced_bytes_per_s))
    if probed.direct_bytes_per_s is not None:
        yield Reading(f"direct write in {path}", speed(probed.direct_bytes_per_s))
