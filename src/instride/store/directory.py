"""What lies in a store: committed checkpoints, strangers, and leftovers of a crash."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.places import PACK
from instride.store.manifest import (
    PRIVATE,
    Manifest,
    decode_manifest,
    manifest_path,
    manifests_of,
    may_be_read,
    read_manifest,
)
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
    """False: it counts as damaged as long as it is closed to us, and may be whole."""

    @property
    def is_ours(self) -> bool:
        return self.manifest is not None and self.manifest.size_bytes == self.size_bytes

    @property
    def is_damaged(self) -> bool:
        """By its end or its size: the rest is only known to whoever reads it."""
        return self.was_ours and not self.is_ours

    @property
    def base(self) -> str | None:
        """The file beside it that it cannot be read without."""
        return self.manifest.base if self.manifest else None

    @property
    def serial(self) -> int:
        return self.manifest.serial if self.manifest else 0


def name_of(step: int) -> str:
    """The file of a step; names sort as the steps do."""
    return f"step_{step:08d}.pt"


def is_taken(path: Path) -> bool:
    """Whether something has the name that no checkpoint of ours ever had. What was ours and is
    damaged, or was overwritten by somebody, still counts as ours: the two look the same."""
    return os.path.lexists(path) and not manifests_of(path)


def checkpoints_in(directory: Path) -> list[Checkpoint]:
    """Everything with the name of a checkpoint, and what the agent made of files of any name;
    oldest step first."""
    made_by_agent = _made_by_agent(directory)
    found = []
    for path in _files(directory):
        match = STEP_NAME.fullmatch(path.name)
        step = int(match[1]) if match else made_by_agent.get(path.name)
        if step is None:
            continue
        try:
            status = path.stat()
        except OSError:
            continue  # deleted while we looked
        if not stat.S_ISREG(status.st_mode):
            continue  # opening a pipe would wait for ever
        manifest = read_manifest(path)
        was_ours = manifest is not None or bool(manifests_of(path))
        is_open = manifest is not None or may_be_read(path)
        found.append(Checkpoint(path, step, status.st_size, manifest, was_ours, is_open))
    return sorted(found, key=lambda checkpoint: checkpoint.step)


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


def leftovers_in(directory: Path) -> Iterator[Path]:
    """What a crash left: unfinished files, and manifests of files that never got their name.

    Only the owner of the store may ask: what is being written looks the same. Names that are not
    a step's are those of `instride.save`, which owns no directory and may be at work in this one.
    """
    for path in _files(directory):
        if TEMPORARY_NAME.fullmatch(path.name):
            yield path
    for path in _files(directory / PRIVATE / "manifests"):
        match = MANIFEST_NAME.fullmatch(path.name)
        is_stray = match is not None and not _describes(directory / match[1], path)
        if is_stray or TEMPORARY_MANIFEST.fullmatch(path.name):
            yield path


def _describes(checkpoint: Path, manifest: Path) -> bool:
    """Whether the file is there; a damaged one keeps its manifest, as evidence."""
    if not checkpoint.exists():
        return False
    current = read_manifest(checkpoint)
    return current is None or manifest_path(checkpoint, current.token) == manifest


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
