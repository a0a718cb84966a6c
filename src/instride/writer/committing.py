"""From a durable file to a checkpoint: manifest, name, link, read-back, retention."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.errors import DamagedError
from instride.faults import reached
from instride.reasons import Reason
from instride.store.atomic import give_name, point_link, temporary_beside
from instride.store.directory import (
    LATEST,
    Checkpoint,
    committed_in,
    leftovers_in,
    newest_first,
)
from instride.store.manifest import (
    Manifest,
    Timings,
    manifest_path,
    manifests_of,
    read_manifest,
    write_manifest,
)
from instride.store.removing import remove
from instride.store.retention import Keep, doomed
from instride.writer.hands import Crew
from instride.writer.page import PROGRESS, SharedPage
from instride.writer.pieces import ReadBack
from instride.writer.writing import Job, Written, write_image

FULL = {errno.ENOSPC, errno.EDQUOT}


class Outcome(msgspec.Struct, frozen=True):
    path: Path
    size_bytes: int
    staged_s: float
    durable_s: float


class Commits:
    """Commits snapshots of one trainer, one after the other."""

    def __init__(self, directory: Path | None, keep: Keep, page: SharedPage, crew: Crew) -> None:
        self._crew = crew
        self._directory = directory
        self._keep = keep
        self._page = page
        self._verified: Path | None = None

    def sweep(self) -> list[str]:
        """Delete what a crash left. Only for the owner of a store."""
        swept: list[str] = []
        if self._directory is None:
            return swept
        for path in leftovers_in(self._directory):
            with suppress(OSError):
                path.unlink()
                swept.append(path.name)
        return swept

    def commit(self, job: Job, arena: memoryview) -> Outcome:
        """Write a snapshot and give it its name. Raises OSError, or StreamEndedError."""
        path = Path(job.begin.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            written = write_image(job, arena, self._page, temporary, self._crew)
            finish = job.await_rest()
            staged_s = max(0.0, finish.staged_s - finish.called_s)
            durable_s = max(0.0, time.monotonic() - finish.called_s)
            timings = Timings(finish.call_s, finish.waited_s, staged_s, durable_s)
            write_manifest(path, self._manifest(path, job, written, timings))
            self._reached("manifest")
            give_name(temporary, path)
            self._reached("renamed")
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        with suppress(OSError):  # the checkpoint has its name: what follows is for convenience
            self._forget_older_manifests(path, written.token)
            self._point_latest(path)
        return Outcome(path, written.size_bytes, staged_s, time.monotonic() - finish.called_s)

    def _point_latest(self, path: Path) -> None:
        if self._directory is None:
            return
        link = self._directory / LATEST
        if link.is_symlink() or not link.exists():  # else it is somebody's file
            point_link(link, path.name)
        self._reached("linked")

    def _manifest(self, path: Path, job: Job, written: Written, timings: Timings) -> Manifest:
        finish = job.await_rest()
        return Manifest(
            name=path.name,
            token=written.token,
            size_bytes=written.size_bytes,
            pieces=written.pieces,
            created_s=finish.created_s,
            serial=self._next_serial(path.parent),
            step=finish.step,
            metric=finish.metric,
            unsafe=finish.unsafe,
            timings=timings,
            versions=finish.versions,
        )

    def _next_serial(self, directory: Path) -> int:
        newest = newest_first(directory)
        return newest[0].serial + 1 if newest else 1

    def _forget_older_manifests(self, path: Path, token: str) -> None:
        current = manifest_path(path, token)
        for old in manifests_of(path):
            if old != current:
                old.unlink(missing_ok=True)

    def tidy(self, path: Path) -> list[Path]:
        """Read a new checkpoint back; only if it is whole, delete what need not be kept."""
        if self._directory is None:
            return []
        self._read_back(path)
        self._reached("verified")
        return [
            self._delete(checkpoint) for checkpoint in self._doomed() if checkpoint.path != path
        ]

    def _doomed(self) -> list[Checkpoint]:
        assert self._directory is not None
        return doomed(committed_in(self._directory), self._keep)

    def _delete(self, checkpoint: Checkpoint) -> Path:
        remove(checkpoint.path)
        self._reached("deleted")
        return checkpoint.path

    def make_room(self) -> list[Path]:
        """On a full disk: delete what would go after this save anyway, one checkpoint at a time.

        What stays must have been read back first: the save in flight may yet fail.
        """
        if self._directory is None or self._keep.last is None or self._keep.last < 2:
            return []
        one_less = msgspec.structs.replace(self._keep, last=self._keep.last - 1)
        candidates = doomed(committed_in(self._directory), one_less)
        newest = newest_first(self._directory)
        if not candidates or not self._is_whole(newest[0].path):
            return []
        return [self._delete(candidates[0])]

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
        file = ReadBack(path, manifest, self._page)
        try:
            self._crew.run(file.do_one)
        finally:
            file.close()
        self._verified = path

    def _reached(self, phase: str) -> None:
        self._page[PROGRESS] += 1
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
