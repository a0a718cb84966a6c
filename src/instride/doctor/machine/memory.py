"""Readings of memory: swap, shared memory, dirty pages."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from instride.system.mounts import MOUNTINFO, mount_of

PROC = Path("/proc")
SHM = Path("/dev/shm")


class Swapped(msgspec.Struct, frozen=True):
    """Bytes moved between memory and swap since the start."""

    in_bytes: int
    out_bytes: int


class Swap(msgspec.Struct, frozen=True):
    total_bytes: int
    used_bytes: int


class DirtyLimits(msgspec.Struct, frozen=True):
    """How much written data may wait in memory before whoever writes has to wait."""

    limit_bytes: int
    reading: str
    """The setting it comes from."""


def read_swapped(proc: Path = PROC) -> Swapped | None:
    """None where the system does not count it."""
    counters = _pairs(proc / "vmstat")
    page_bytes = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    if "pswpin" not in counters or "pswpout" not in counters:
        return None
    return Swapped(counters["pswpin"] * page_bytes, counters["pswpout"] * page_bytes)


def read_swap(proc: Path = PROC) -> Swap:
    """Swap on disks; compressed memory that is used as swap is left out."""
    total = used = 0
    for line in _lines(proc / "swaps")[1:]:
        fields = line.split()
        if len(fields) >= 5 and not fields[-5].startswith("/dev/zram"):
            total += int(fields[-3]) * 1024
            used += int(fields[-2]) * 1024
    return Swap(total, used)


def read_shm_bytes(shm: Path = SHM, mountinfo: Path = MOUNTINFO) -> int | None:
    """How much fits into shared memory; None where it is no filesystem of its own."""
    mount = mount_of(shm, mountinfo)
    if mount is None or mount.type != "tmpfs":
        return None
    stats = os.statvfs(shm)
    return stats.f_blocks * stats.f_frsize


def read_dirty_limits(available_bytes: int, proc: Path = PROC) -> DirtyLimits | None:
    """A setting in bytes counts if there is one; else it is a part of what is available."""
    fixed = _number(proc / "sys/vm/dirty_bytes")
    if fixed:
        return DirtyLimits(fixed, f"vm.dirty_bytes = {fixed}")
    percent = _number(proc / "sys/vm/dirty_ratio")
    if percent is None:
        return None
    return DirtyLimits(available_bytes * percent // 100, f"vm.dirty_ratio = {percent}")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _pairs(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _lines(path))
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
