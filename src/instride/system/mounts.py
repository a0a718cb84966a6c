"""Which filesystem a path is on.

Linux tells through mountinfo, a tree of mounts: a mount may hide others below it, and a path may
lie on a mount that another one covers. Elsewhere psutil lists the partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath

import msgspec

MOUNTINFO = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    point: str
    """Where it is mounted."""
    type: str
    """As the kernel calls it: `ext4`, `nfs4`, `9p`, `fuse.sshfs`."""
    source: str
    """A device, `server:/export`, or any text for what has no device."""
    options: tuple[str, ...]
    """Those of the mount, then those of the filesystem."""
    root: str = "/"
    """What part of the filesystem is mounted here."""
    device: str = ""
    """Its number, as `major:minor`, where there are numbers."""


class _Entry(msgspec.Struct, frozen=True):
    id: str
    parent: str
    mount: Mount


def mount_of(path: str | PurePath, mountinfo: Path = MOUNTINFO) -> Mount | None:
    """The mount that a path is on, also before it exists; None where the system does not say."""
    resolved = Path(path).expanduser().resolve()
    try:
        entries = _read_entries(mountinfo)
    except OSError:
        return _by_device(resolved, _partitions())
    return _walk(resolved, entries)


def read_mounts(mountinfo: Path = MOUNTINFO) -> list[Mount]:
    """All mounts, in the order they were made; hidden ones too."""
    try:
        return [entry.mount for entry in _read_entries(mountinfo)]
    except OSError:
        return _partitions()


def _read_entries(mountinfo: Path) -> list[_Entry]:
    text = mountinfo.read_text(encoding="utf-8", errors="surrogateescape")
    entries = (_parse(line) for line in text.split("\n"))
    return [entry for entry in entries if entry is not None]


def _parse(line: str) -> _Entry | None:
    """One line: `36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda1 rw,discard`."""
    before, dash, after = line.partition(" - ")
    own, rest = before.split(" "), after.split(" ")
    if not dash or len(own) < 6 or len(rest) < 2:
        return None
    id, parent, device, root, point, options = own[:6]
    shared = rest[2].split(",") if len(rest) > 2 else []
    every = tuple(dict.fromkeys(map(_unescape, [*options.split(","), *shared])))
    mount = Mount(
        _unescape(point), _unescape(rest[0]), _unescape(rest[1]), every, _unescape(root), device
    )
    return _Entry(id, parent, mount)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def _walk(path: PurePath, entries: list[_Entry]) -> Mount | None:
    """Go down as the kernel does: from the root to whatever is mounted on the way."""
    ids = {entry.id for entry in entries}
    on_the_way = [entry for entry in entries if path.is_relative_to(entry.mount.point)]
    tops = [entry for entry in on_the_way if entry.parent not in ids or entry.parent == entry.id]
    found = _nearest(tops)
    if found is None:
        return None
    seen = {found.id}
    while following := _nearest(
        each for each in on_the_way if each.parent == found.id and each.id not in seen
    ):
        found = following
        seen.add(found.id)
    return found.mount


def _nearest(entries: Iterable[_Entry]) -> _Entry | None:
    """The one met first on the way down; of two at one place the later, which covers the other."""
    return min(reversed(list(entries)), key=lambda entry: len(entry.mount.point), default=None)


def _partitions() -> list[Mount]:
    import psutil  # not needed on Linux, where every millisecond of a start counts

    return [
        Mount(part.mountpoint, part.fstype, part.device, tuple(part.opts.split(",")))
        for part in psutil.disk_partitions(all=True)
    ]


def _by_device(path: Path, mounts: list[Mount]) -> Mount | None:
    """macOS shows folders of one volume below the mount of another: the names alone mislead."""
    existing = next((each for each in (path, *path.parents) if each.exists()), path)
    number = _device_number(existing)
    same = [mount for mount in mounts if _device_number(Path(mount.point)) == number is not None]
    above = [mount for mount in mounts if path.is_relative_to(mount.point)]
    chosen = [mount for mount in same if mount in above] or same or above
    return max(chosen, key=lambda mount: len(mount.point), default=None)


def _device_number(path: Path) -> int | None:
    try:
        return path.stat().st_dev
    except OSError:
        return None
