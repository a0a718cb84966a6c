"""From an image to a checkpoint: written, named, read back; then what need not be kept goes."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import msgspec
from blake3 import blake3

from instride.errors import DamagedError
from instride.faults import reached
from instride.reasons import Reason
from instride.store.atomic import make_directory, removed_on_failure
from instride.store.manifest import NO_CHECK, Manifest, read_manifest
from instride.store.naming import Naming, Swept
from instride.store.retention import Keep
from instride.store.verifying import check_size
from instride.writer.describing import manifest_of
from instride.writer.hands import Crew
from instride.writer.page import SharedPage
from instride.writer.reading_back import Checksum, ReadBack
from instride.writer.writing import Job, write_image

FULL = {errno.ENOSPC, errno.EDQUOT}
READING_HANDS = 4
"""Hardly anybody waits for what is read back, and each hand has memory of its own to read into."""


class Outcome(msgspec.Struct, frozen=True):
    path: Path
    size_bytes: int
    staged_s: float
    durable_s: float
    is_direct: bool


class _Newest(msgspec.Struct, frozen=True):
    """What was committed last: what it is read back by is still in memory."""

    path: Path
    manifest: Manifest
    sums: list[str]

    def is_described_by(self, path: Path, manifest: Manifest) -> bool:
        """Whether a manifest that was found on the disk is the one that was written for it."""
        unsealed = msgspec.structs.replace(manifest, check=NO_CHECK)
        return path == self.path and unsealed == self.manifest


class Commits:
    """Commits snapshots of one trainer, one after the other."""

    def __init__(self, directory: Path | None, keep: Keep, page: SharedPage, crew: Crew) -> None:
        self._crew = crew
        self._directory = directory
        self._naming = Naming(directory, keep, self._reached)
        self._page = page
        self._newest: _Newest | None = None
        self._verified: Path | None = None

    def sweep(self) -> Swept:
        """Delete what a crash left. Only for the owner of a store."""
        return self._naming.sweep()

    def commit(self, job: Job, arena: memoryview) -> Outcome:
        """Write a snapshot and give it its name. Raises OSError, or StreamEndedError."""
        path = self._naming.place_of(Path(job.begin.path))
        make_directory(path.parent)
        temporary = self._naming.temporary_for(path)
        with removed_on_failure(temporary):
            written = write_image(job, arena, self._page, temporary, self._crew)
            finish = job.await_rest()
            serial = self._naming.next_serial(path)
            manifest = manifest_of(path, finish, written, serial)
            self._naming.publish(temporary, path, manifest)
        self._newest = _Newest(path, manifest, written.sums)
        durable_s = time.monotonic() - finish.called_s
        return Outcome(
            path, written.size_bytes, manifest.timings.staged_s, durable_s, written.is_direct
        )

    def verify(self, path: Path) -> None:
        """Read a new checkpoint of a store back: only if it is whole may others go. Raises
        DamagedError or OSError."""
        if self._directory is not None:
            self._read_back(path)
            self._reached("verified")

    def prune(self, path: Path) -> None:
        """Delete what need not be kept, beside a checkpoint that is known to be whole."""
        self._naming.prune(path)

    @property
    def is_latest_stale(self) -> bool:
        return self._naming.is_latest_stale

    def make_room(self) -> bool:
        """On a full disk: delete what would go after this save anyway, one checkpoint at a time;
        whether there was any."""
        return bool(self._naming.make_room(self._is_whole))

    def _is_whole(self, path: Path) -> bool:
        if self._verified == path:
            return True
        try:
            self._read_back(path)
        except (DamagedError, OSError):
            return False
        return True

    def _read_back(self, path: Path) -> None:
        """Compare what lies on the disk with the manifest. Raises DamagedError or OSError."""
        manifest = read_manifest(path)
        if manifest is None:
            raise DamagedError(path, Reason("gone-manifest"))
        check_size(path, manifest)
        if self._newest is not None and self._newest.is_described_by(path, manifest):
            file = ReadBack(path, self._newest.sums, Checksum, self._page)
        else:
            file = ReadBack(path, manifest.pieces, blake3, self._page)
        try:
            self._crew.run(file.do_one, num_bytes=manifest.size_bytes, most_hands=READING_HANDS)
        finally:
            file.close()
        self._verified = path

    def _reached(self, phase: str) -> None:
        self._page.count_progress()
        reached(phase)


def free_bytes(directory: Path) -> int:
    """What an ordinary user may still write there."""
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize


def num_more_that_fit(path: Path) -> int:
    """How many checkpoints of that size still fit beside it."""
    manifest = read_manifest(path)
    size = manifest.size_bytes if manifest else path.stat().st_size
    return free_bytes(path.parent) // max(1, size)
