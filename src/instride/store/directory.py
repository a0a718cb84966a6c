"""What lies in a store: committed checkpoints, strangers, and leftovers of a crash."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.places import PACK
from instride.store.manifest import (
    PRIVATE,
    Manifest,
    decode_manifest,
    last_written,
    manifest_path,
    manifests_of,
    may_be_read,
    read_manifest,
)
from instride.store.presence import is_gone
from instride.store.small_files import read_small

FORMS = ("pack", "zst", "lz4")
"""What a checkpoint may end with that was made smaller."""
_FORM = rf"(?:\.(?:{'|'.join(FORMS)}))"
_STEP = rf"step_[0-9]{{8,}}\.pt{_FORM}?"
STEP_NAME = re.compile(rf"step_([0-9]{{8,}})\.pt{_FORM}?")
TEMPORARY_NAME = re.compile(rf"\.({_STEP}|latest)\.[0-9a-f]{{8}}\.tmp")
MANIFEST_NAME = re.compile(rf"({_STEP}|.+{_FORM})\.[0-9a-f]{{16}}\.json")
TEMPORARY_MANIFEST = re.compile(rf"\.{MANIFEST_NAME.pattern}\.[0-9a-f]{{8}}\.tmp")
LATEST = "latest"


class Checkpoint(msgspec.Struct, frozen=True):
    """A file with the name of a checkpoint; ours if it has a manifest."""

    path: Path
    step: int
    size_bytes: int
    manifest: Manifest | None
    was_ours: bool = False
    """Whether a file of that name was committed here once."""
    may_be_read: bool = True
    """False: it is closed to us, or out of reach just now, and may be whole."""
    last_known: Manifest | None = None
    """What was written for that name last, as long as the file itself may not be read: how new it
    is, and what it cannot be read without."""

    @property
    def is_ours(self) -> bool:
        return self.manifest is not None and self.manifest.size_bytes == self.size_bytes

    @property
    def is_damaged(self) -> bool:
        """By its end or its size: the rest is only known to whoever reads it. What may not be read
        counts only if nobody knows how new it is."""
        return self.was_ours and not self.is_ours and self.last_known is None

    @property
    def _described(self) -> Manifest | None:
        return self.manifest or self.last_known

    @property
    def base(self) -> str | None:
        """The file beside it that it cannot be read without."""
        return self._described.base if self._described else None

    @property
    def serial(self) -> int:
        return self._described.serial if self._described else 0


def name_of(step: int) -> str:
    """The file of a step; names sort as the steps do."""
    return f"step_{step:08d}.pt"


def is_taken(path: Path) -> bool:
    """Whether something has the name that no checkpoint of ours ever had. What was ours and is
    damaged, or was overwritten by somebody, still counts as ours: the two look the same. Raises
    OSError where that cannot be told."""
    return not is_gone(path) and not manifests_of(path)


def checkpoints_in(directory: Path) -> list[Checkpoint]:
    """Everything with the name of a checkpoint, and what the agent made of files of any name;
    oldest step first. Raises OSError if the directory, or the manifests, cannot be looked at."""
    made_by_agent = _made_by_agent(directory)
    found = []
    for path in _files(directory):
        match = STEP_NAME.fullmatch(path.name)
        step = int(match[1]) if match else made_by_agent.get(path.name)
        if step is None:
            continue
        checkpoint = _look_at(path, step)
        if checkpoint is not None:
            found.append(checkpoint)
    return sorted(found, key=lambda checkpoint: checkpoint.step)


def _look_at(path: Path, step: int) -> Checkpoint | None:
    """What lies there; None for what is gone by now, or no file. What does not let itself be looked
    at is there all the same: to pass over it would be to take an older one for the newest."""
    try:
        status = path.stat()
    except FileNotFoundError:
        if is_gone(path):
            return None  # deleted while we looked; else a link to what is out of reach
        status = None
    except OSError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        return None  # opening a pipe would wait for ever
    manifest = read_manifest(path) if status is not None else None
    was_ours = manifest is not None or bool(manifests_of(path))
    is_open = manifest is not None or (status is not None and may_be_read(path))
    last_known = None if is_open else last_written(path)
    size_bytes = status.st_size if status is not None else 0
    return Checkpoint(path, step, size_bytes, manifest, was_ours, is_open, last_known)


def _made_by_agent(directory: Path) -> dict[str, int]:
    """The steps of files whose names are a script's, and only a manifest tells what they are."""
    found = {}
    for path in _files(directory / PRIVATE / "manifests"):
        match = MANIFEST_NAME.fullmatch(path.name)
        if match is None or STEP_NAME.fullmatch(match[1]):
            continue
        with suppress(OSError):
            manifest = decode_manifest(read_small(path))
            if manifest is not None and manifest.by_agent and manifest.step is not None:
                found[match[1]] = manifest.step
    return found


def packs_in(directory: Path) -> list[Path]:
    """Packs, whatever their names are."""
    return [path for path in _files(directory) if path.suffix == PACK and path.is_file()]


def committed_in(directory: Path) -> list[Checkpoint]:
    """Those that instride committed, oldest step first."""
    return [checkpoint for checkpoint in checkpoints_in(directory) if checkpoint.is_ours]


def newest_first(directory: Path) -> list[Checkpoint]:
    """Those that instride committed, the last commit first."""
    return sorted(committed_in(directory), key=lambda c: c.serial, reverse=True)


def leftovers_in(
    directory: Path, on_error: Callable[[Path, OSError], None] | None = None
) -> Iterator[Path]:
    """What a crash left: unfinished files, and manifests of files that never got their name. What
    cannot be looked at is none, and `on_error` is told.

    Only the owner of the store may ask: what is being written looks the same. Names that are not
    a step's are those of `instride.save`, which owns no directory and may be at work in this one.
    """
    for path in _files(directory):
        if TEMPORARY_NAME.fullmatch(path.name):
            yield path
    for path in _files(directory / PRIVATE / "manifests"):
        match = MANIFEST_NAME.fullmatch(path.name)
        try:
            is_stray = match is not None and not _describes(directory / match[1], path)
        except OSError as error:
            if on_error is not None:
                on_error(path, error)
            continue
        if is_stray or TEMPORARY_MANIFEST.fullmatch(path.name):
            yield path


def _describes(checkpoint: Path, manifest: Path) -> bool:
    """Whether the file is there; a damaged one, and one that is out of reach, keeps its manifest.
    Raises OSError where that cannot be told."""
    if is_gone(checkpoint):
        return False
    current = read_manifest(checkpoint)
    return current is None or manifest_path(checkpoint, current.token) == manifest


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
