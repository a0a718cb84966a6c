"""Which cores idle while others are busy."""

from __future__ import annotations

import os
import threading
import time
from math import inf
from pathlib import Path

from instride.governor.gauge import IDLE_FIELDS, LEAST_LOOK_S
from instride.system.cgroups import PROC

BUSY, IDLE = 0.5, 0.1
"""Shares of time: a core that computes, and one that is spare."""
FEWEST_CORES = 0.25
"""Idle ones, from which on threads get on that take what nobody else wants."""
AGAIN_S = 5.0
"""Counters that are younger than this tell nothing new."""

Ticks = dict[int, tuple[int, int]]
"""Of each core: idle, and all."""


class CoreWatch:
    """Compares the counters of the cores with those of some seconds before."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._lock = threading.Lock()
        self._before: Ticks = {}
        self._looked_s = float("-inf")
        self._spare: set[int] = set()

    def spare(self) -> set[int]:
        """Cores to keep to; empty where all are busy, none is, or it is not known yet."""
        with self._lock:
            now_s = time.monotonic()
            if now_s - self._looked_s >= AGAIN_S:
                self._looked_s = now_s
                after = read_ticks(self._proc)
                self._spare = spare_of(self._before, after)
                self._before = after
            return self._spare & os.sched_getaffinity(0)


class IdleWatch:
    """Says whether a machine has anything left, from what it had since the last look."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._lock = threading.Lock()
        self._before = read_ticks(proc)
        self._looked_s = time.monotonic()
        self._has_idled = True

    def has_idled(self) -> bool:
        """Whether a good part of a core was idle; so it is taken to be where nobody can tell."""
        with self._lock:
            now_s = time.monotonic()
            if now_s - self._looked_s >= LEAST_LOOK_S:
                self._looked_s = now_s
                after = read_ticks(self._proc)
                ours = {core: after[core] for core in usable(after)}
                self._has_idled = idle_cores(self._before, ours) >= FEWEST_CORES
                self._before = after
            return self._has_idled


def usable(ticks: Ticks) -> set[int]:
    """The cores that this process may run on: others may idle as they please."""
    return set(ticks) & os.sched_getaffinity(0)


def idle_cores(before: Ticks, after: Ticks) -> float:
    """How many cores idled between two readings, all parts of them together."""
    known = [core for core in after if core in before]
    return sum(1 - _busy(before[core], after[core]) for core in known) if known else inf


def spare_of(before: Ticks, after: Ticks) -> set[int]:
    """Cores that idled between two readings, if some others were busy."""
    busy = {core: _busy(before[core], after[core]) for core in after if core in before}
    if not any(share >= BUSY for share in busy.values()):
        return set()
    return {core for core, share in busy.items() if share <= IDLE}


def _busy(before: tuple[int, int], after: tuple[int, int]) -> float:
    idle, total = after[0] - before[0], after[1] - before[1]
    return 1 - idle / total if total > 0 else 0.0


def read_ticks(proc: Path = PROC) -> Ticks:
    found: Ticks = {}
    try:
        lines = (proc / "stat").read_text(encoding="ascii").splitlines()
        for line in lines:
            name, *words = line.split()
            if name.startswith("cpu") and name != "cpu":
                ticks = [int(word) for word in words[:8]]
                found[int(name[3:])] = sum(ticks[IDLE_FIELDS]), sum(ticks)
    except (OSError, ValueError):
        return {}
    return found
