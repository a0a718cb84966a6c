"""Whether the nice value of a process counts against another one.

Linux first shares a core among groups, and only then among the tasks of a group. Groups are
control groups with a CPU weight and, for tasks outside all of those, autogroups. Two processes
compete with the weights of the groups in which they part; nice values and the idle class count
inside a group only.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from instride.system import autogroup
from instride.system.autogroup import Autogroup
from instride.system.cgroups import PROC, folders

_ORDINARY = 1024
_IDLE = 3
"""Weights of a task of nice 0, and of an idle group, as the kernel has them."""


class Parting(msgspec.Struct, frozen=True):
    """The group of a process that competes with a group of another one."""

    file: str
    """Where its weight is set."""
    value: str
    """What stands there."""
    lowered: str
    """What to write there so that it yields."""
    weight: float


class Position(msgspec.Struct, frozen=True):
    """Where a process stands in the tree of scheduling groups."""

    pid: int
    groups: tuple[Path, ...]
    """Control groups with a weight, the topmost first."""
    autogroup: Autogroup | None
    """None if it does not count."""


def position_of(pid: int, proc: Path = PROC) -> Position:
    groups = [folder for folder in folders("cpu", pid, proc) if _has_weight(folder)]
    counts = not groups and autogroup.is_enabled(proc)
    own = autogroup.of(pid, proc) if counts else None
    return Position(pid, tuple(reversed(groups)), own)


def parting(position: Position, other: Position) -> Parting | None:
    """What counts against another process in place of the nice value; None if that one does."""
    others = dict(enumerate(other.groups))
    for depth, group in enumerate(position.groups):
        if others.get(depth) != group:
            return _of_group(group)
    own = position.autogroup
    if own is None or own == other.autogroup:
        return None
    file = f"/proc/{position.pid}/autogroup"
    return Parting(file, f"/autogroup-{own.id} nice {own.nice}", "19", _weight(own.nice))


def weight_of(position: Position, other: Position) -> float:
    """What a process brings against another one, if its own nice value is 0."""
    found = parting(position, other)
    return _ORDINARY if found is None else found.weight


def _weight(nice: int) -> float:
    return float(_ORDINARY / 1.25**nice)


def _has_weight(folder: Path) -> bool:
    """Version 2 gives the file to all but the root; version 1 marks the root by another one."""
    if (folder / "cpu.weight").exists():
        return True
    return (folder / "cpu.shares").exists() and not (folder / "release_agent").exists()


def _of_group(folder: Path) -> Parting:
    name, scale, least = "cpu.weight", _ORDINARY / 100, "1"
    if not (folder / name).exists():
        name, scale, least = "cpu.shares", 1.0, "2"
    value = _read(folder / name)
    weight = int(value) * scale if value.isdigit() else float(_ORDINARY)
    idle = _read(folder / "cpu.idle")
    if idle:
        weight = _IDLE if idle == "1" else weight
        return Parting(str(folder / "cpu.idle"), idle, "1", weight)
    return Parting(str(folder / name), value, least, weight)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
