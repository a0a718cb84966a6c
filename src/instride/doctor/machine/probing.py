"""How fast a directory takes data: written and synced, and written past the page cache.

The file has no name by the time it is written, so that nothing is left behind whatever happens.
Targets take turns, round by round: what else the machine does at the time hits them alike.
"""

from __future__ import annotations

import mmap
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from instride.doctor.machine.landings import SilentError, answer_of
from instride.reasons import Reason

FIRST_BYTES = 1 << 20
LARGEST_BYTES = 32 << 20
MOST_BYTES = 256 << 20
"""Written to one target in one way, at most."""
MOST_S = 1.0
"""For one target in one way."""
GRACE_S = 1.0
"""Beyond the time of all: a sync may have to wait for what others wrote."""
SPARE_BYTES = 2_000_000_000
"""A filesystem with less free than that is not written to."""
_DIRECT = getattr(os, "O_DIRECT", 0)


class Probed(msgspec.Struct, frozen=True):
    """Speeds; None where there was no answer in time, or not this way."""

    synced_bytes_per_s: float | None
    direct_bytes_per_s: float | None
    error: Reason | None = None
    """What the system said when nothing could be written."""


class _Round(msgspec.Struct, frozen=True):
    num_bytes: int
    seconds: float


class _Target:
    """One directory, written to in one way."""

    def __init__(self, folder: Path, data: memoryview, is_direct: bool, left_s: float) -> None:
        self._folder = folder
        self._data = data
        self._is_direct = is_direct
        self._left_s = left_s
        self._next_bytes = FIRST_BYTES
        self._rounds: list[_Round] = []
        self.error: OSError | None = None
        self.is_over = False

    def write_once(self, patience_s: float) -> None:
        """One round; the next one is twice as large as long as the time allows it."""
        num_bytes = self._next_bytes
        try:
            seconds = answer_of(lambda: self._write(num_bytes), patience_s)
        except (OSError, SilentError) as error:
            self.error = error if isinstance(error, OSError) else None
            self.is_over = True
            return
        self._rounds.append(_Round(num_bytes, seconds))
        self._left_s -= seconds
        self._next_bytes = min(2 * num_bytes, LARGEST_BYTES)
        expected_s = seconds * self._next_bytes / num_bytes
        written = sum(each.num_bytes for each in self._rounds)
        self.is_over = expected_s > self._left_s or written + self._next_bytes > MOST_BYTES

    def _write(self, num_bytes: int) -> float:
        with tempfile.TemporaryFile(dir=self._folder, prefix=".instride-", buffering=0) as file:
            if self._is_direct:
                _pass_the_cache(file.fileno())
            begin = time.perf_counter()
            written = 0
            while written < num_bytes:
                piece = self._data[: min(len(self._data), num_bytes - written)]
                written += os.write(file.fileno(), piece)
            os.fsync(file.fileno())
            return time.perf_counter() - begin

    @property
    def speed(self) -> float | None:
        """The median of the largest rounds: small ones tell more of the delay than of the speed."""
        if not self._rounds:
            return None
        largest = max(each.num_bytes for each in self._rounds)
        times = [each.seconds for each in self._rounds if each.num_bytes == largest]
        return largest / max(1e-9, statistics.median(times))


def probe(folders: Sequence[Path], longest_s: float) -> list[Probed]:
    """Measure directories side by side, in so many seconds altogether."""
    end = time.monotonic() + longest_s + GRACE_S
    data = mmap.mmap(-1, 4 << 20)  # aligned to pages, as direct writes want it
    data.write(os.urandom(len(data)))  # nothing that a filesystem could compress
    each_s = min(MOST_S, longest_s / max(1, 2 * len(folders)))
    synced = [_Target(folder, memoryview(data), False, each_s) for folder in folders]
    direct = [_Target(folder, memoryview(data), True, each_s) for folder in folders]
    _take_turns(synced, end)
    if _DIRECT:
        _take_turns([way for way, other in zip(direct, synced, strict=True) if other.speed], end)
    return [
        Probed(one.speed, other.speed, _said(one))
        for one, other in zip(synced, direct, strict=True)
    ]


def _take_turns(targets: Sequence[_Target], end: float) -> None:
    while running := [target for target in targets if not target.is_over]:
        for target in running:
            target.write_once(max(0.01, end - time.monotonic()))


def _said(target: _Target) -> Reason | None:
    return None if target.error is None else Reason.of(target.error)


def _pass_the_cache(descriptor: int) -> None:
    """Set afterwards: some filesystems make the file first and refuse the flag then."""
    import fcntl  # where there is no O_DIRECT, there may be no fcntl either

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | _DIRECT)
