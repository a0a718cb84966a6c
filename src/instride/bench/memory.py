"""How much memory a process and everything that it started take together.

Summed is the proportional share of each (PSS), so that memory which several of them see counts
once. Reading it walks all their pages: a run that is timed must not be watched.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from pathlib import Path

VARIABLE = "INSTRIDE_BENCH_RUN"
"""Inherited by every process of a run: by it those are found that left the family."""
LOOK_S = 0.02
PROC = Path("/proc")
PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


class PeakMemory:
    """Watches the processes of a run, from a thread."""

    def __init__(self, run: str, proc: Path = PROC) -> None:
        self._mark = f"{VARIABLE}={run}".encode()
        self._proc = proc
        self.peak_bytes = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Look no more; the highest sum that was seen."""
        self._is_over.set()
        self._thread.join()
        return self.peak_bytes

    def _watch(self) -> None:
        while not self._is_over.wait(LOOK_S):
            self.look()

    def look(self) -> None:
        found = processes_with(self._mark, self._proc)
        total = sum(pss_bytes(process) for process in found)
        self.peak_bytes = max(self.peak_bytes, total)


def processes_with(mark: bytes, proc: Path = PROC) -> list[Path]:
    """The processes that have a variable in the environment that they were started with."""
    return [
        folder
        for folder in proc.iterdir()
        if folder.name.isdecimal() and mark in _read(folder / "environ").split(b"\0")
    ]


def pss_bytes(process: Path) -> int:
    """The share of a process in the memory of the machine; 0 when it has gone."""
    found = PSS.search(_read(process / "smaps_rollup"))
    return int(found[1]) * 1024 if found else 0


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""
