"""The disks below a filesystem, and which scheduler orders what is asked of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from instride.system.mounts import Mount

SYS = Path("/sys")
OBEY_PRIORITIES = frozenset({"bfq", "mq-deadline", "cfq"})
"""Schedulers that let an idle I/O class wait; `none` and `kyber` know no classes."""
_ACTIVE = re.compile(r"\[([^\]]+)\]")
_DEEPEST = 8
"""Encryption on volumes on RAID: more layers than that are a loop."""


class Disk(msgspec.Struct, frozen=True):
    name: str
    """As in /sys/block."""
    scheduler: str
    """The active one."""
    offered: tuple[str, ...]

    @property
    def scheduler_file(self) -> str:
        return f"/sys/block/{self.name}/queue/scheduler"

    @property
    def obeys_priorities(self) -> bool:
        return self.scheduler in OBEY_PRIORITIES


def disks_of(mount: Mount, sys: Path = SYS) -> list[Disk]:
    """The disks that a filesystem is on; empty if it is on none, or the system does not say."""
    number = _number_of(mount)
    if number is None:
        return []
    folder = (sys / "dev/block" / number).resolve()
    return list({disk.name: disk for disk in _below(folder)}.values())


def _number_of(mount: Mount) -> str | None:
    """`major:minor`; a filesystem of several disks makes one up, and names a disk as its source."""
    if mount.device and not mount.device.startswith("0:"):
        return mount.device
    try:
        number = Path(mount.source).stat().st_rdev if mount.source.startswith("/dev/") else 0
    except OSError:
        return None
    return f"{os.major(number)}:{os.minor(number)}" if number else None


def _below(folder: Path, depth: int = 0) -> Iterator[Disk]:
    if depth == _DEEPEST or not folder.is_dir():
        return
    if (folder / "partition").exists():
        folder = folder.parent
    lower = sorted((folder / "slaves").glob("*"))
    for each in lower:
        yield from _below(each.resolve(), depth + 1)
    if not lower:
        yield from _read(folder)


def _read(folder: Path) -> Iterator[Disk]:
    path = folder / "queue/scheduler"
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return
    active = _ACTIVE.search(text)
    offered = tuple(text.replace("[", "").replace("]", "").split())
    if offered:
        yield Disk(folder.name, active[1] if active else offered[0], offered)
