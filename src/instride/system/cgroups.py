"""Control groups, versions 1 and 2: how much memory is left, and who shares a CPU with whom.

A limit may be set on any level above a process (the container, its pod, the slice of the user),
and the tightest one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from instride.system.mounts import Mount, read_mounts

PROC = Path("/proc")
NEVER_MORE_THAN_THERE_IS = 2
"""What `vm.overcommit_memory` is where memory that was promised is always there."""
RESERVED_BYTES, INEXACT = 136 << 20, 256
"""What the kernel keeps of that, for the administrator and for the largest process; and the part
of all memory by which its counters may be wrong."""
UNLIMITED_BYTES = 1 << 62
"""Version 1 writes a number like this one where there is no limit."""


class MemoryLevel(msgspec.Struct, frozen=True):
    """One limit on the memory of a group, and of all groups above this process."""

    limit_file: str
    limit_bytes: int
    used_bytes: int
    reclaimable_bytes: int
    """Cached file contents that the kernel drops before anything is killed."""

    @property
    def room_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes + self.reclaimable_bytes)


class _Limit(msgspec.Struct, frozen=True):
    """Files of a group that belong together."""

    limit: str
    used: str
    inactive: str
    unwritten: tuple[str, ...]


_V1_STAT = ("total_inactive_file", ("total_dirty", "total_writeback"))
_V2_STAT = ("inactive_file", ("file_dirty", "file_writeback"))
_LIMITS = (
    _Limit("memory.limit_in_bytes", "memory.usage_in_bytes", *_V1_STAT),
    _Limit("memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes", *_V1_STAT),
    _Limit("memory.max", "memory.current", *_V2_STAT),
    _Limit("memory.high", "memory.current", *_V2_STAT),  # beyond it the kernel slows us to a crawl
)


def available_memory_bytes(proc: Path = PROC) -> int:
    """What can be taken without swapping or being killed, by the machine and by every group."""
    on_machine = _available_on_machine(proc)
    in_groups = memory_room_bytes(proc)
    return on_machine if in_groups is None else min(on_machine, in_groups)


def memory_room_bytes(proc: Path = PROC) -> int | None:
    """What the tightest limit leaves; None if no group has one."""
    return min((level.room_bytes for level in memory_levels(proc)), default=None)


def memory_levels(proc: Path = PROC) -> list[MemoryLevel]:
    """Every limit that counts for this process, from its own group to the topmost it can see."""
    found = []
    for folder in folders("memory", proc=proc):
        for limit in _LIMITS:
            level = _read_level(folder, limit)
            if level is not None:
                found.append(level)
    return found


def folders(controller: str, pid: int | str = "self", proc: Path = PROC) -> Iterator[Path]:
    """The folders of a process's groups, from its own up; of both versions where both are used."""
    mounts = read_mounts(proc / "self/mountinfo")
    for hierarchy, group in _groups(proc / str(pid) / "cgroup"):
        if hierarchy and controller not in hierarchy:
            continue
        mount = _mount_for(controller if hierarchy else None, mounts)
        if mount is not None:
            yield from _upwards(mount, group)


def _groups(path: Path) -> Iterator[tuple[tuple[str, ...], PurePosixPath]]:
    """Controllers and group of each line; version 2 has no controllers in its line."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        yield tuple(filter(None, controllers.split(","))), PurePosixPath(group or "/")


def _mount_for(controller: str | None, mounts: list[Mount]) -> Mount | None:
    if controller is None:
        return next((mount for mount in mounts if mount.type == "cgroup2"), None)
    return next(
        (mount for mount in mounts if mount.type == "cgroup" and controller in mount.options), None
    )


def _upwards(mount: Mount, group: PurePosixPath) -> Iterator[Path]:
    """A container may see only its own part of the tree, whatever the group is called outside."""
    top = Path(mount.point)
    inside = group.relative_to(mount.root) if group.is_relative_to(mount.root) else PurePosixPath()
    if ".." in inside.parts:
        inside = PurePosixPath()
    own = top / inside
    for folder in (own, *own.parents):
        yield folder
        if folder == top:
            return


def _read_level(folder: Path, files: _Limit) -> MemoryLevel | None:
    limit_bytes = _read_number(folder / files.limit)
    used_bytes = _read_number(folder / files.used)
    if limit_bytes is None or used_bytes is None or limit_bytes >= UNLIMITED_BYTES:
        return None
    stat = _read_stat(folder / "memory.stat")
    unwritten = sum(stat.get(name, 0) for name in files.unwritten)
    reclaimable = max(0, stat.get(files.inactive, 0) - unwritten)
    return MemoryLevel(str(folder / files.limit), limit_bytes, used_bytes, reclaimable)


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # not there, or `max`
        return None


def _read_stat(path: Path) -> dict[str, int]:
    try:
        pairs = (line.split() for line in path.read_text(encoding="ascii").splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) > 1 and pair[1].isdigit()}
    except (OSError, ValueError):
        return {}


def must_be_there(proc: Path = PROC) -> bool:
    """Whether memory is never promised that is not there: a page too many is not waited for then,
    and whoever uses it dies."""
    return _read_number(proc / "sys/vm/overcommit_memory") == NEVER_MORE_THAN_THERE_IS


def _available_on_machine(proc: Path) -> int:
    found = {name.rstrip(":"): value * 1024 for name, value in _read_stat(proc / "meminfo").items()}
    if "MemAvailable" in found:
        return max(0, min(found["MemAvailable"], _promisable(found, proc)))
    import psutil  # not needed on Linux, where every millisecond of a start counts

    return int(psutil.virtual_memory().available)


def _promisable(found: dict[str, int], proc: Path) -> int:
    """What of the limit on promises is left, by counters that are not exact on many cores."""
    if "CommitLimit" not in found or not must_be_there(proc):
        return UNLIMITED_BYTES
    inexact = found.get("MemTotal", 0) // INEXACT
    return found["CommitLimit"] - found.get("Committed_AS", 0) - RESERVED_BYTES - inexact
