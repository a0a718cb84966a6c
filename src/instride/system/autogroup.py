"""Autogroups: one per session, and among them nice values and the idle class count for nothing.

With `kernel.sched_autogroup_enabled`, the kernel first shares a core among the sessions that want
it, and only then among the tasks of each. What counts between two sessions is the nice value of
the groups themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

PROC = Path("/proc")
_LINE = re.compile(r"/autogroup-(\d+) nice (-?\d+)\s*")


class Autogroup(msgspec.Struct, frozen=True):
    id: int
    nice: int


def is_enabled(proc: Path = PROC) -> bool:
    """False too where the kernel has no autogroups."""
    try:
        return (proc / "sys/kernel/sched_autogroup_enabled").read_text().strip() == "1"
    except OSError:
        return False


def of(pid: int | str = "self", proc: Path = PROC) -> Autogroup | None:
    """The group of a process; None if there is none, or it may not be read."""
    try:
        match = _LINE.fullmatch((proc / str(pid) / "autogroup").read_text())
    except (OSError, ValueError):
        return None
    return Autogroup(int(match[1]), int(match[2])) if match else None
