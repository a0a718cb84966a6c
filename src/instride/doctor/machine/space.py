"""Rules on what is left: bytes in number of checkpoints, inodes, quotas."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator

from instride.doctor.machine.alternatives import moving
from instride.doctor.machine.landing_rules import mount_reading, quoted
from instride.doctor.machine.landings import Landing
from instride.doctor.machine.quotas import Quota, tightest_quota
from instride.doctor.machine.readings import size
from instride.doctor.model import Bytes, Certainty, Count, Finding, Fix, FixKind, Reading, Unknown
from instride.system.filesystems import Kind

FEW = 3
"""Room for fewer checkpoints than that is too close."""
NEARLY_FULL_BYTES = 2_000_000_000
NEARLY_FULL_SHARE = 0.05
"""Both together: a large disk has room at 96 %, a small one is not full at 1.9 GB of 4."""
FEW_INODES = 1000
NEAR_QUOTA_SHARE = 0.1
_HAVE_INODES = frozenset({Kind.LOCAL, Kind.MEMORY, Kind.LAYER, Kind.NETWORK})
"""Other filesystems make the number up."""


def check_space(landing: Landing, alternative: Landing | None) -> Iterator[Finding]:
    """little-space where the size of a checkpoint is known, else disk-nearly-full."""
    if not landing.total_bytes:  # a program's filesystem that does not count
        return
    fixes = (_what_is_there(landing), *((moving(landing, alternative),) if alternative else ()))
    free = Reading(f"free on {landing.mount.point}", size(landing.free_bytes))
    if landing.largest is not None:
        num = landing.free_bytes // landing.largest.size_bytes
        if num < FEW:
            yield Finding(
                "little-space",
                {
                    "path": str(landing.path),
                    "checkpoints": Count(num),
                    "size": Bytes(landing.largest.size_bytes),
                    "free": Bytes(landing.free_bytes),
                },
                (free, Reading(landing.largest.path, size(landing.largest.size_bytes))),
                Certainty.SURE if num == 0 else Certainty.LIKELY,
                fixes,
            )
    elif landing.free_bytes < min(NEARLY_FULL_BYTES, NEARLY_FULL_SHARE * landing.total_bytes):
        yield Finding(
            "disk-nearly-full",
            {"path": str(landing.path), "free": Bytes(landing.free_bytes)},
            (free, mount_reading(landing)),
            fixes=fixes,
        )


def check_inodes(landing: Landing) -> Iterator[Finding]:
    """few-inodes."""
    num = landing.num_free_inodes
    if num is not None and num < FEW_INODES and landing.kind in _HAVE_INODES:
        text = f"du --inodes -x -d 3 {shlex.quote(landing.mount.point)} | sort -n | tail"
        yield Finding(
            "few-inodes",
            {"path": str(landing.path), "files": Count(num)},
            (Reading(f"free inodes on {landing.mount.point}", str(num)),),
            fixes=(Fix(FixKind.COMMAND, text),),
        )


def check_quota(landing: Landing) -> Iterator[Finding | Unknown]:
    """quota-near, where the kernel of this machine keeps the quotas."""
    if landing.kind is Kind.NETWORK:
        yield Unknown("quota", {"path": str(landing.path), "filesystem": landing.filesystem})
    quota = tightest_quota(landing.mount)
    if quota is None:
        return
    enough = max(FEW * landing.checkpoint_bytes, NEAR_QUOTA_SHARE * quota.limit_bytes)
    if quota.left_bytes < enough:
        yield Finding(
            "quota-near",
            {
                "path": str(landing.path),
                "left": Bytes(quota.left_bytes),
                "limit": Bytes(quota.limit_bytes),
            },
            (Reading(f"quota of {quota.whose} on {landing.mount.source}", _used(quota)),),
            fixes=(_what_is_there(landing),),
        )


def _used(quota: Quota) -> str:
    return f"{size(quota.used_bytes)} of {size(quota.limit_bytes)}"


def _what_is_there(landing: Landing) -> Fix:
    """Largest last; deleting is for those who know what they need."""
    if sys.platform == "win32":
        text = f'dir "{landing.folder}" /O:S'
    else:
        text = f"du -sk {quoted(landing.folder)}/* | sort -n | tail"
    return Fix(FixKind.COMMAND, text)
