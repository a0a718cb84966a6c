"""How many cores this process may use, and whether there is anything faster beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path

from instride.system.cgroups import PROC, folders
from instride.system.disks import SYS

DEV = Path("/dev")
ACCELERATORS = ("nvidia[0-9]*", "dxg", "kfd", "accel/accel*", "davinci[0-9]*")
"""Devices of NVIDIA, of Windows below WSL, of AMD, and of others."""


def usable_cores(proc: Path = PROC) -> int:
    """Cores that can be kept busy; a part of one counts as one."""
    counts = [_affinity(), *(max(1, ceil(quota)) for quota in quotas(proc))]
    return min(counts)


def _affinity() -> int:
    return len(cores_of_process()) or os.cpu_count() or 1


def cores_of_process(proc: Path = PROC, sys_root: Path = SYS) -> set[int]:
    """Those that this process may run on; empty where nobody can tell.

    A thread that is kept on one core, as OpenMP does with those that compute (`OMP_PROC_BIND`),
    does not stand for its process, though what it starts is kept there too: all threads count then.
    Several cores are somebody's choice, such as those near a GPU, and threads that were there
    before it must not undo that. Where a core runs two threads at a time, the system counts each
    half as a core, and OpenMP keeps a thread on both (`OMP_PLACES=cores`)."""
    if not hasattr(os, "sched_getaffinity"):
        return set()
    found = os.sched_getaffinity(0)
    if len(found) > 1 and not found <= _halves_beside(min(found), sys_root):
        return found
    with suppress(OSError):
        for thread in (proc / "self/task").iterdir():
            with suppress(OSError):  # it has just ended
                found |= os.sched_getaffinity(int(thread.name))
    return found


def _halves_beside(number: int, sys_root: Path) -> set[int]:
    """All that the system counts as a core and that are one, with that of this number; none where
    it does not say."""
    path = sys_root / f"devices/system/cpu/cpu{number}/topology/thread_siblings_list"
    with suppress(OSError, ValueError):
        parts = [part.split("-") for part in path.read_text(encoding="ascii").strip().split(",")]
        return {each for part in parts for each in range(int(part[0]), int(part[-1]) + 1)}
    return set()


def leave_core_of_parent(pid: int = 0) -> None:
    """Let the calling thread, or a process that was just started, run wherever this process may,
    and not only where the thread that started it computes."""
    cores = cores_of_process()
    with suppress(OSError):
        if cores and os.sched_getaffinity(pid) != cores:
            os.sched_setaffinity(pid, cores)


def quotas(proc: Path = PROC) -> Iterator[float]:
    """Cores that each group above this process may use, where one is limited."""
    for folder in folders("cpu", proc=proc):
        shares = _read(folder / "cpu.max")
        if not shares:
            shares = [*_read(folder / "cpu.cfs_quota_us"), *_read(folder / "cpu.cfs_period_us")]
        if len(shares) == 2 and min(shares) > 0:
            yield shares[0] / shares[1]


def _read(path: Path) -> list[float]:
    """The numbers of a file; none where it is missing or says `max`."""
    try:
        return [float(word) for word in path.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []


def has_accelerator(dev: Path = DEV) -> bool:
    """Whether a training could run on more than the cores; True where there is no telling."""
    if sys.platform != "linux":
        return True
    return any(next(dev.glob(pattern), None) is not None for pattern in ACCELERATORS)
