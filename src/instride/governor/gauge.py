"""What the machine does and waits for, between two looks."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from instride.governor.outlook import Strain
from instride.system import psi
from instride.system.cores import usable_cores

PROC = Path("/proc")
LEAST_LOOK_S = 0.5
"""Counters of cores are coarse: over less than this they tell little."""
NEARLY_ALL = 0.9
IDLE_FIELDS = slice(3, 5)
"""Of the first line of /proc/stat: idle, and idle while a disk works."""


class Look(msgspec.Struct, frozen=True):
    """Counters at one moment; None where nobody counts."""

    at_s: float
    io_s: float | None
    memory_s: float | None
    idle_s: float | None
    """All cores together."""
    total_s: float | None
    own_s: float
    """Processor time of this process."""
    cpu_s: float | None = None
    """In which somebody waited for a core."""


def look(proc: Path = PROC) -> Look:
    idle_s, total_s = _cores(proc)
    return Look(
        time.monotonic(), _stalled_s("io", proc), _stalled_s("memory", proc), idle_s, total_s,
        sum(os.times()[:4]), _stalled_s("cpu", proc),
    )  # fmt: skip


def strain(before: Look, after: Look) -> Strain:
    """What others wait for, if we did nothing in between."""
    passed_s = after.at_s - before.at_s
    if passed_s <= 0:
        return Strain()
    idle = _share(before.idle_s, after.idle_s, passed_s)
    cores = usable_cores()
    if idle is not None:
        idle = min(idle, float(cores))
    return Strain(
        _share(before.io_s, after.io_s, passed_s),
        _share(before.memory_s, after.memory_s, passed_s),
        idle,
        idle is not None and idle >= NEARLY_ALL * cores,
        _share(before.cpu_s, after.cpu_s, passed_s),
    )


def busy_cores_of_others(before: Look, after: Look) -> float | None:
    """Cores that others kept busy between two looks."""
    passed_s = after.at_s - before.at_s
    if passed_s <= 0 or before.total_s is None or after.total_s is None:
        return None
    idle_s = (after.idle_s or 0.0) - (before.idle_s or 0.0)
    busy_s = after.total_s - before.total_s - idle_s
    return max(0.0, (busy_s - (after.own_s - before.own_s)) / passed_s)


def waited_for_a_core_s(proc: Path = PROC) -> float:
    """How long the calling thread could have run and did not, since it was started."""
    try:
        return int((proc / "thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _share(before: float | None, after: float | None, passed_s: float) -> float | None:
    return None if before is None or after is None else max(0.0, after - before) / passed_s


def _stalled_s(kind: psi.Kind, proc: Path) -> float | None:
    pressure = psi.read(kind, proc / "pressure")
    return None if pressure is None else pressure.some.total_s


def _cores(proc: Path) -> tuple[float | None, float | None]:
    """Seconds that the cores have idled, and have been there."""
    try:
        with (proc / "stat").open(encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return None, None
    a_second = os.sysconf("SC_CLK_TCK")
    return sum(ticks[IDLE_FIELDS]) / a_second, sum(ticks) / a_second
