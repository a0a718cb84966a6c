"""From a durable file to a checkpoint of a store: manifest, name, link; and what may go for it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.faults import reached
from instride.store.atomic import give_name, temporary_beside
from instride.store.directory import (
    STEP_NAME,
    Checkpoint,
    checkpoints_in,
    is_taken,
    leftovers_in,
    newest_first,
)
from instride.store.latest import is_stale, mend_latest, point_latest
from instride.store.lock import holder_of
from instride.store.manifest import (
    Manifest,
    manifest_path,
    manifests_folder,
    manifests_of,
    write_manifest,
)
from instride.store.presence import is_gone
from instride.store.removing import remove
from instride.store.retention import Keep, doomed
from instride.store.unowned import sweep_dead, temporary_of_ours

STRANGER = "a file of that name is there that instride did not write"


class Written(msgspec.Struct, frozen=True):
    """A whole, durable file without a name."""

    size_bytes: int
    pieces: list[str]
    token: str
    is_direct: bool = False
    """Whether it went past the page cache."""
    sums: list[str] = []
    """Checksums of the pieces, to read the file back by."""


class Swept(msgspec.Struct):
    """What became of what a crash left."""

    names: list[str] = []
    """Deleted."""
    left: list[str] = []
    """It could not be told whether they are needed, or they could not be deleted."""
    why: str = ""
    """What the system said of the first of these."""

    def leave(self, path: Path, error: OSError) -> None:
        self.left.append(path.name or str(path))
        self.why = self.why or error.strerror or str(error)

    def tell(self, note: Callable[..., object]) -> None:
        """Write lines of a journal."""
        if self.names:
            note("swept", names=self.names)
        if self.left:
            note("sweep-failed", names=self.left, why=self.why)


class Naming:
    """Gives files their names, in a store or, without one, wherever somebody wants them."""

    def __init__(
        self,
        directory: Path | None,
        keep: Keep,
        reached: Callable[[str], None] = reached,
    ) -> None:
        self._directory = directory
        self._keep = keep
        self._reached = reached
        self._looked_at: set[Path] = set()

    def sweep(self) -> Swept:
        """Delete what a crash left. Only for the owner of a store.

        A store that cannot be looked at raises nothing: training must be able to start, and saves
        will say what is wrong with it.
        """
        swept = Swept()
        if self._directory is None:
            return swept
        try:
            for path in leftovers_in(self._directory, swept.leave):
                try:
                    path.unlink()
                except OSError as error:
                    swept.leave(path, error)
                else:
                    swept.names.append(path.name)
        except OSError as error:
            swept.leave(Path(error.filename or self._directory), error)
        with suppress(OSError):
            mend_latest(self._directory)
        return swept

    def place_of(self, path: Path) -> Path:
        """Where a file of that name goes. Raises OSError for what must not be replaced.

        In a store, a name of ours may be somebody else's file. `instride.save` was given the name
        by its user, and replaces what is there; through a link, what that leads to.
        """
        if self._directory is not None:
            if is_taken(path):
                raise FileExistsError(errno.EEXIST, STRANGER)
            return path
        place = Path(os.path.realpath(path))
        if not is_gone(place) and not stat.S_ISREG(mode := place.lstat().st_mode):
            if stat.S_ISDIR(mode):
                raise OSError(errno.EISDIR, "it is a directory")
            raise OSError(errno.EINVAL, "what is there is no ordinary file")
        holder = holder_of(place.parent) if STEP_NAME.fullmatch(place.name) else None
        if holder is not None and holder.is_at_work:
            who = f"the store belongs to the training with pid {holder.trainer_pid}"
            raise OSError(errno.EBUSY, who)
        return place

    def temporary_for(self, place: Path) -> Path:
        """A name for the file as long as it is not whole."""
        if self._directory is not None:
            return temporary_beside(place)  # whoever owns the store next will sweep it
        if place.parent not in self._looked_at:
            self._looked_at.add(place.parent)
            sweep_dead(place.parent)
            sweep_dead(manifests_folder(place))
        return temporary_of_ours(place.parent)

    def publish(self, temporary: Path, place: Path, manifest: Manifest) -> None:
        """Give a durable file its name. Raises OSError: then it has none, and nothing changed."""
        self.place_of(place)  # somebody may have come while the file was written
        if self._directory is None:
            _take_permissions(temporary, place)
        write_manifest(place, manifest, None if self._directory else temporary_of_ours)
        self._reached("manifest")
        give_name(temporary, place)
        self._reached("renamed")
        with suppress(OSError):  # the checkpoint has its name: what follows is for convenience
            forget_older_manifests(place, manifest.token)
            if self._directory is not None:
                point_latest(place)
                self._reached("linked")

    def next_serial(self, path: Path) -> int:
        """Also behind what is out of reach just now, or that would be as new when it comes back."""
        return max((c.serial for c in checkpoints_in(path.parent)), default=0) + 1

    @property
    def is_latest_stale(self) -> bool:
        """Whether a file has the name of the link to the newest checkpoint of the store."""
        return self._directory is not None and is_stale(self._directory)

    def prune(self, newest: Path) -> list[Path]:
        """Delete what need not be kept, beside a checkpoint that is known to be whole."""
        if self._directory is None:
            return []
        going = doomed(checkpoints_in(self._directory), self._keep)
        return [self._delete(checkpoint) for checkpoint in going if checkpoint.path != newest]

    def make_room(self, is_whole: Callable[[Path], bool]) -> list[Path]:
        """On a full disk: delete what would go after this save anyway, one checkpoint at a time.

        What stays must have been read back first: the save in flight may yet fail.
        """
        if self._directory is None or self._keep.last is None or self._keep.last < 2:
            return []
        one_less = msgspec.structs.replace(self._keep, last=self._keep.last - 1)
        candidates = doomed(checkpoints_in(self._directory), one_less)
        newest = newest_first(self._directory)
        if not candidates or not is_whole(newest[0].path):
            return []
        return [self._delete(candidates[0])]

    def _delete(self, checkpoint: Checkpoint) -> Path:
        remove(checkpoint.path)
        self._reached("deleted")
        return checkpoint.path


def forget_older_manifests(path: Path, token: str) -> None:
    """Delete those of files that had the name before."""
    current = manifest_path(path, token)
    for old in manifests_of(path):
        if old != current:
            old.unlink(missing_ok=True)


def _take_permissions(temporary: Path, place: Path) -> None:
    """Let a new file be for those whom the one that it replaces was for, as far as we may."""
    with suppress(OSError):
        before = place.stat()
        temporary.chmod(stat.S_IMODE(before.st_mode))
        if hasattr(os, "chown"):
            os.chown(temporary, before.st_uid, before.st_gid)
