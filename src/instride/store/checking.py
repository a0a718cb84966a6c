"""Every byte of checkpoints against their manifests: the answer of `instride verify` (schema 1)."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from instride.errors import DamagedError, NoCheckpointError, NoStoreError
from instride.reasons import NOT_ALLOWED, Reason, fill
from instride.store.directory import FORMS, STEP_NAME, checkpoints_in, packs_in
from instride.store.latest import is_stale
from instride.store.listing import check_directory
from instride.store.manifest import Manifest, manifests_of, read_manifest
from instride.store.verifying import check_size, differing, differing_pieces, verify

SCHEMA = 1
KNOW_THEMSELVES = tuple(f".{form}" for form in FORMS)
"""Files that hold checksums of their own, and can be verified without a manifest."""
OUT_OF_REACH = (*NOT_ALLOWED, Reason("os.ENOENT"))
"""What the system says of a file whose name is there: of the last, a link to somewhere else."""
State = Literal["whole", "damaged", "foreign", "unreadable"]


class Checked(msgspec.Struct, frozen=True):
    name: str
    step: int | None
    size_bytes: int
    state: State
    """`foreign`: it has no manifest, and there is nothing to compare it with; `unreadable`: it may
    not be read, and nobody knows."""
    reason: str | None
    """Why it is not whole, by the name of the reason."""
    facts: dict[str, str | int | float]
    """What the reason is told with."""
    why: str | None
    """The reason in English."""
    damaged_pieces: list[int]
    """Which pieces differ, counted from 0, where the manifest itself could be read."""
    piece_bytes: int | None


class Verdict(msgspec.Struct, frozen=True):
    """What `instride verify --json` prints."""

    schema: int
    path: str
    """As it was named."""
    directory: str
    """Where the checkpoints lie."""
    checkpoints: list[Checked]
    """Oldest step first."""
    num_damaged: int
    num_bytes: int
    """Read and compared."""
    num_unreadable: int = 0
    is_latest_stale: bool = False
    """Of a directory: `latest` is a file, not a link, and another one than the newest."""


class Watcher(msgspec.Struct, frozen=True):
    """Is told how far the reading is, for people who wait."""

    begin: Callable[[int], None]
    """So many bytes are going to be read."""
    advance: Callable[[int], None]


def check(
    path: Path, watcher: Watcher | None = None, verify_form: Callable[[Path], object] | None = None
) -> Verdict:
    """Verify a checkpoint, or all in a directory, packs of any name included; damage is told, not
    raised.

    What was made smaller knows its own hashes: `verify_form` compares those of a file that has no
    manifest.

    Raises NoCheckpointError where there is nothing that instride wrote.
    """
    paths = _paths(path)
    if watcher is not None:
        watcher.begin(sum(_size(each) for each in paths))
    advance = watcher.advance if watcher is not None else None
    checked = [check_one(each, advance, verify_form) for each in paths]
    ours = [each for each in checked if each.state != "foreign"]
    if not ours:
        if path.is_dir():
            raise NoCheckpointError(path, is_listed=True)
        raise NoCheckpointError(path, is_foreign=True)
    return Verdict(
        schema=SCHEMA,
        path=str(path),
        directory=str(path if path.is_dir() else path.parent),
        checkpoints=checked,
        num_damaged=sum(each.state == "damaged" for each in checked),
        num_unreadable=sum(each.state == "unreadable" for each in checked),
        num_bytes=sum(c.size_bytes for c in ours if c.state == "whole" or c.damaged_pieces),
        is_latest_stale=path.is_dir() and is_stale(path),
    )


def check_one(
    path: Path,
    advance: Callable[[int], None] | None = None,
    verify_form: Callable[[Path], object] | None = None,
) -> Checked:
    """Compare one file with its manifest."""
    manifest = read_manifest(path)
    knows_itself = path.suffix in KNOW_THEMSELVES
    pieces: list[int] = []
    reason: Reason | None = None
    try:
        if manifest is None and verify_form and knows_itself and not manifests_of(path):
            verify_form(path)
        elif manifest is None:
            verify(path)
        else:
            check_size(path, manifest)
            pieces = list(differing_pieces(path, manifest, advance))
    except DamagedError as error:
        why = error.facts["why"]
        assert isinstance(why, Reason)
        reason = why
    except OSError as error:
        reason = Reason.of(error)
    if reason is None and manifest is not None and read_manifest(_base(path, manifest)) is None:
        reason = Reason("no-base", {"base": manifest.base or ""})
    if pieces and manifest is not None:
        reason = differing(pieces[0], manifest)
    return Checked(
        name=path.name,
        step=_step(path, manifest),
        size_bytes=_size(path),
        state=_state(reason),
        reason=None if reason is None else reason.name,
        facts={} if reason is None else dict(reason.facts),
        why=None if reason is None else fill("{why}", {"why": reason}),
        damaged_pieces=pieces,
        piece_bytes=manifest.piece_bytes if manifest else None,
    )


def _step(path: Path, manifest: Manifest | None) -> int | None:
    match = STEP_NAME.fullmatch(path.name)
    return int(match[1]) if match else manifest.step if manifest else None


def _state(reason: Reason | None) -> State:
    if reason is None:
        return "whole"
    if reason in OUT_OF_REACH:
        return "unreadable"
    return "foreign" if reason.name == "no-manifest" else "damaged"


def _paths(path: Path) -> list[Path]:
    """The files behind what was named; a manifest goes by the name that a link points to."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise NoStoreError(str(path), Reason.of(error)) from error
    if stat.S_ISREG(mode):
        file = path.resolve()
        manifest = read_manifest(file)
        return [file] if manifest is None or not manifest.base else [file, _base(file, manifest)]
    if not stat.S_ISDIR(mode):
        raise NoStoreError(str(path), Reason("no-file"))
    check_directory(path)
    named = [checkpoint.path for checkpoint in checkpoints_in(path)]
    return [*named, *(pack for pack in packs_in(path) if pack not in named)]


def _base(path: Path, manifest: Manifest) -> Path:
    """What a file cannot be read without: itself, if it is no delta."""
    return path.with_name(manifest.base or path.name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
