"""Whether a file that lies there is what was written: read from the disk, once for each file."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from instride.agent.wholeness import End, Identity, end_of
from instride.agent.working import do_aside
from instride.errors import DamagedError
from instride.governor.pace import Pace
from instride.store.verifying import verify

READ_BYTES = 4 << 20
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError),
    ValueError,  # a name that is no text, a record that starts before the file
    RuntimeError,  # a record that calls itself encrypted, or packed in a way that nobody knows
)
"""What zipfile raises for bytes that are not what they were: any bit of a header may have flipped,
and an agent that ended by it would leave the directory to fill up."""


class Proofs:
    """Remembers what was read since the start."""

    def __init__(self, pace: Pace, tick: Callable[[], None]) -> None:
        self._pace = pace
        self._tick = tick
        self._known: dict[Path, tuple[Identity, bool]] = {}

    def note(self, path: Path) -> None:
        """It was compared with its original before it got its name."""
        self._known[path] = Identity.of(path.stat()), True

    def holds(self, path: Path, *, is_made: bool) -> bool:
        """`is_made`: by the agent, so that there is a manifest; else its own checksums count."""
        try:
            identity = Identity.of(path.stat())
        except OSError:
            return False
        known = self._known.get(path)
        if known is None or known[0] != identity:
            check = self._fits_manifest if is_made else self._fits_itself
            self._known[path] = identity, do_aside(lambda: check(path), self._tick)
        return self._known[path][1]

    def _fits_manifest(self, path: Path) -> bool:
        try:
            verify(path, progress=self._take_turn)
        except (DamagedError, OSError):
            return False
        return True

    def _take_turn(self, num_bytes: int) -> None:
        with self._pace.turn(num_bytes):
            return

    def _fits_itself(self, path: Path) -> bool:
        """Compare a zip with its checksums; where a format has none, look for its end. Nothing is
        unpickled."""
        if end_of(path) is End.MISSING:
            return False
        if not zipfile.is_zipfile(path):
            return True
        try:
            with zipfile.ZipFile(path) as archive:
                return all(self._fits(archive, info) for info in archive.infolist())
        except DAMAGE:
            return False

    def _fits(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
        """zipfile compares the checksum of a record when all of it was read."""
        left = info.file_size
        with archive.open(info) as record:
            while left > 0:
                with self._pace.turn(min(left, READ_BYTES)):
                    num_bytes = len(record.read(READ_BYTES))
                if not num_bytes:
                    return False
                left -= num_bytes
            return record.read(1) == b""
