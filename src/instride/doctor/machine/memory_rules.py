"""Rules on memory: whether a snapshot fits, swapping, shared memory, dirty pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from instride.doctor.machine.landings import Landing
from instride.doctor.machine.memory import DirtyLimits, Swap, Swapped
from instride.doctor.machine.readings import percent, size, speed
from instride.doctor.model import (
    Bytes,
    Certainty,
    Finding,
    Fix,
    FixKind,
    Reading,
    Seconds,
    Share,
    Speed,
)
from instride.system.cgroups import MemoryLevel
from instride.system.psi import Pressure

SWAPPING_BYTES_PER_S = 1e6
MUCH_SWAP_BYTES = 1_000_000_000
MUCH_SWAP_SHARE = 0.5
SHORT_OF_MEMORY = 0.05
"""Share of a minute in which tasks waited for memory."""
SMALL_SHM_BYTES = 512 << 20
LONG_FLUSH_S = 30.0


def check_snapshot(
    landings: Sequence[Landing], on_machine_bytes: int, levels: Sequence[MemoryLevel]
) -> Iterator[Finding]:
    """snapshot-does-not-fit, for the largest checkpoint that is known."""
    size_bytes = max((landing.checkpoint_bytes for landing in landings), default=0)
    tightest = min(levels, key=lambda level: level.room_bytes, default=None)
    available_bytes = on_machine_bytes
    reading = Reading("MemAvailable", size(on_machine_bytes))
    if tightest is not None and tightest.room_bytes < on_machine_bytes:
        available_bytes = tightest.room_bytes
        used = size(tightest.used_bytes - tightest.reclaimable_bytes)
        reading = Reading(tightest.limit_file, f"{size(tightest.limit_bytes)}, {used} in use")
    if size_bytes > available_bytes:
        yield Finding(
            "snapshot-does-not-fit",
            {"size": Bytes(size_bytes), "available": Bytes(available_bytes)},
            (reading,),
            fixes=(_largest_processes(),),
        )


def check_swapping(
    before: Swapped, after: Swapped, seconds: float, pressure: Pressure | None
) -> Iterator[Finding]:
    """swapping-now, or memory-short where nothing is swapped and tasks wait all the same."""
    moved = after.in_bytes - before.in_bytes + after.out_bytes - before.out_bytes
    now = moved / seconds
    waits = () if pressure is None else (_waiting(pressure),)
    largest = _largest_processes()
    if after.in_bytes > before.in_bytes and now >= SWAPPING_BYTES_PER_S:
        reading = Reading("pswpin and pswpout in /proc/vmstat", speed(now))
        yield Finding("swapping-now", {"speed": Speed(now)}, (reading, *waits), fixes=(largest,))
    elif pressure is not None and pressure.some.avg60 >= SHORT_OF_MEMORY:
        share = Share(pressure.some.avg60)
        yield Finding("memory-short", {"share": share}, waits, fixes=(largest,))


def check_swap(swap: Swap) -> Iterator[Finding]:
    """swap-in-use: it may be of no harm, if what was swapped out is never wanted."""
    if swap.used_bytes >= MUCH_SWAP_BYTES and swap.used_bytes >= MUCH_SWAP_SHARE * swap.total_bytes:
        yield Finding(
            "swap-in-use",
            {"used": Bytes(swap.used_bytes), "total": Bytes(swap.total_bytes)},
            (Reading("/proc/swaps", f"{size(swap.used_bytes)} of {size(swap.total_bytes)}"),),
            Certainty.PERHAPS,
            (Fix(FixKind.COMMAND, "grep VmSwap /proc/[0-9]*/status | sort -n -k 2 | tail"),),
        )


def check_shm(shm_bytes: int, is_container: bool) -> Iterator[Finding]:
    """small-shm."""
    if shm_bytes > SMALL_SHM_BYTES:
        return
    if is_container:
        fix = Fix(FixKind.LINE, "docker run --shm-size=8g")
    else:
        fix = Fix(FixKind.COMMAND, "sudo mount -o remount,size=8G /dev/shm")
    reading = Reading("/dev/shm", size(shm_bytes))
    yield Finding("small-shm", {"size": Bytes(shm_bytes)}, (reading,), Certainty.LIKELY, (fix,))


def check_dirty_limits(limits: DirtyLimits, path: Path, bytes_per_s: float) -> Iterator[Finding]:
    """dirty-limits: what may wait in memory, against how fast the disk takes it."""
    seconds = limits.limit_bytes / bytes_per_s
    if seconds < LONG_FLUSH_S:
        return
    lower = "sudo sysctl -w vm.dirty_background_bytes=268435456 vm.dirty_bytes=1073741824"
    yield Finding(
        "dirty-limits",
        {
            "path": str(path),
            "limit": Bytes(limits.limit_bytes),
            "speed": Speed(bytes_per_s),
            "seconds": Seconds(seconds),
        },
        (Reading("sysctl", limits.reading),),
        Certainty.PERHAPS,
        (Fix(FixKind.COMMAND, lower),),
    )


def _largest_processes() -> Fix:
    if sys.platform == "win32":
        text = 'powershell -Command "Get-Process | Sort-Object WS | Select-Object -Last 10"'
    elif sys.platform == "darwin":
        text = "ps -axmo pid,rss,comm | head"
    else:
        text = "ps -eo pid,rss,comm --sort=-rss | head"
    return Fix(FixKind.COMMAND, text)


def _waiting(pressure: Pressure) -> Reading:
    avg10, avg60 = percent(pressure.some.avg10), percent(pressure.some.avg60)
    return Reading("/proc/pressure/memory", f"some avg10={avg10} avg60={avg60}")
