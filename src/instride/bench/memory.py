"""How much memory a process and everything that it started take together.

Summed is the proportional share of each (PSS), so that memory which several of them see counts
once. That takes a tenth of a second where there is much of it, in which a page that one process has
looked at for the first time would count for both as a whole. So files in memory that are open are
left out of it, and counted by what they hold. Reading walks all pages: a run that is timed must not
be watched.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

VARIABLE = "INSTRIDE_BENCH_RUN"
"""Inherited by every process of a run: by it those are found that left the family."""
LOOK_S = 0.02
PROC = Path("/proc")
MAPPING = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+) *(.*)$", re.MULTILINE)
"""The inode of a mapping, and its name."""
PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)
FILE_IN_MEMORY = "/memfd:"
BLOCK_BYTES = 512
"""Of `st_blocks`, whatever the filesystem."""


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
        self.peak_bytes = max(self.peak_bytes, memory_bytes(found))


def processes_with(mark: bytes, proc: Path = PROC) -> list[Path]:
    """The processes that have a variable in the environment that they were started with."""
    return [
        folder
        for folder in proc.iterdir()
        if folder.name.isdecimal() and mark in _read(folder / "environ").split(b"\0")
    ]


def memory_bytes(processes: Collection[Path]) -> int:
    """What they take together; nothing of those that have gone."""
    files = {inode: size for process in processes for inode, size in _files_in_memory(process)}
    return sum(files.values()) + sum(_share_bytes(process, files) for process in processes)


def _files_in_memory(process: Path) -> Iterator[tuple[int, int]]:
    """Those that are open: the inode of each, and the bytes of its pages."""
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                if str(link.readlink()).startswith(FILE_IN_MEMORY):
                    status = link.stat()
                    yield status.st_ino, status.st_blocks * BLOCK_BYTES


def _share_bytes(process: Path, but: Collection[int]) -> int:
    """The share of a process in the memory of the machine, but for some files in memory."""
    text = _read(process / "smaps")
    total = 0
    for mapping in MAPPING.finditer(text):
        is_counted = mapping[2].startswith(FILE_IN_MEMORY.encode()) and int(mapping[1]) in but
        share = None if is_counted else PSS.search(text, mapping.end())
        total += int(share[1]) * 1024 if share else 0
    return total


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""
