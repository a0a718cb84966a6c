"""What lies in a store, and who works on it: the answer of `instride list` (schema 1).

Ends and sizes are compared with the manifests, not every byte. Nothing is locked or written.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from instride.errors import NoStoreError
from instride.reasons import Reason
from instride.store.directory import (
    FORMS,
    LATEST,
    MANIFEST_NAME,
    TEMPORARY_NAME,
    Checkpoint,
    checkpoints_in,
    leftovers_in,
)
from instride.store.latest import is_stale
from instride.store.lock import holder_of
from instride.store.manifest import Manifest, manifests_folder
from instride.store.presence import is_gone

SCHEMA = 1
State = Literal["committed", "foreign", "damaged", "unreadable"]


class CheckpointEntry(msgspec.Struct, frozen=True):
    name: str
    step: int
    size_bytes: int
    state: State
    """`damaged`: its end or its size is not what was written. Only `verify` reads every byte.
    `unreadable`: it may not be read, and nobody knows."""
    age_s: float
    """Since it was saved; for a foreign file, since it was changed."""
    serial: int | None
    """Counts the commits of a store."""
    metric: float | None
    call_s: float | None
    """What training paid for `save()`."""
    durable_s: float | None
    """From the call until the file was durable."""
    is_newest: bool
    """The last that was committed: what a training resumes from."""
    is_latest: bool
    """Where the link `latest` points to."""
    unsafe: list[str]
    """Where in the state there are values that `torch.load(weights_only=True)` refuses."""
    ratio: float | None = None
    """What a pack is of its original; null for what is no pack."""
    base: str | None = None
    """The pack that is needed to read this one."""
    is_base_gone: bool = False
    """The base is not there: this one cannot be read."""


class PackEntry(msgspec.Struct, frozen=True):
    """A pack that has not the name of a step."""

    name: str
    size_bytes: int
    ratio: float | None
    """What it is of its original; null where that cannot be read."""
    base: str | None
    """The pack that is needed to read this one."""
    is_damaged: bool
    """Its end is missing, its index is not what was written, or its base is not there."""


class LeftoverEntry(msgspec.Struct, frozen=True):
    """An unfinished file: being written, if somebody works here; else left by a crash."""

    name: str
    """Relative to the directory."""
    size_bytes: int
    is_stray_manifest: bool = False
    """It describes a checkpoint that is not there, and that nothing unfinished will become."""


class OwnerEntry(msgspec.Struct, frozen=True):
    """Whose writer holds the store."""

    host: str
    trainer_pid: int
    writer_pid: int
    is_training: bool
    """False: the training is gone, and its writer finishes what it had staged."""
    is_here: bool
    """False: on another machine, where it may be gone; only a lock that is free tells."""


class Listing(msgspec.Struct, frozen=True):
    """What `instride list --json` prints."""

    schema: int
    directory: str
    checkpoints: list[CheckpointEntry]
    """Oldest step first."""
    leftovers: list[LeftoverEntry]
    owner: OwnerEntry | None
    """Null: nobody works here now."""
    total_bytes: int
    packs: list[PackEntry] = []
    """Packs that have not the name of a step, by name."""
    is_latest_stale: bool = False
    """`latest` is a file, not a link, and another one than the newest checkpoint."""


def list_store(
    directory: Path, look_into: Callable[[Path], PackEntry | None] | None = None
) -> Listing:
    """Look at a directory of checkpoints. Raises NoStoreError if it cannot be looked at.

    `look_into` tells what is in a pack.
    """
    check_directory(directory)
    checkpoints = checkpoints_in(directory)
    newest = max((c.serial for c in checkpoints if c.is_ours), default=None)
    latest = latest_of(directory)
    now_s = time.time()
    entries = [_entry(c, newest, latest, now_s) for c in checkpoints]
    listed = {entry.name for entry in entries}
    return Listing(
        schema=SCHEMA,
        directory=str(directory),
        checkpoints=entries,
        packs=[
            pack
            for path in _smaller_forms(directory)
            if look_into and path.name not in listed and path.is_file()
            if (pack := look_into(path))
        ],
        leftovers=_leftovers(directory),
        owner=owner_of(directory),
        total_bytes=sum(entry.size_bytes for entry in entries),
        is_latest_stale=is_stale(directory),
    )


def _smaller_forms(directory: Path) -> list[Path]:
    return sorted(path for form in FORMS for path in directory.glob(f"*.{form}"))


def check_directory(directory: Path) -> None:
    """Raise NoStoreError, with what the system says, if there is no directory to read, or if its
    manifests may not be read: every checkpoint would be taken for somebody else's."""
    try:
        with os.scandir(directory):
            pass
    except OSError as error:
        # Unlike that of a path, this raises nothing where the folder above is closed.
        is_file = os.path.isfile(directory)  # noqa: PTH113
        hint = "hint.directory" if is_file else "hint"
        raise NoStoreError(str(directory), Reason.of(error), hint=hint) from error
    manifests = manifests_folder(directory / LATEST)
    try:
        with os.scandir(manifests):
            pass
    except PermissionError as error:
        raise NoStoreError(str(manifests), Reason.of(error)) from error
    except OSError:
        return  # a directory without checkpoints has none


def latest_of(directory: Path) -> str | None:
    """The name that the link `latest` points to."""
    try:
        return str((directory / LATEST).readlink())
    except OSError:
        return None


def owner_of(directory: Path) -> OwnerEntry | None:
    holder = holder_of(directory)
    if holder is None:
        return None
    is_here = holder.host == socket.gethostname()
    return OwnerEntry(holder.host, holder.trainer_pid, holder.writer_pid, holder.is_alive, is_here)


def state_of(checkpoint: Checkpoint) -> State:
    if not checkpoint.may_be_read:
        return "unreadable"
    if checkpoint.is_damaged:
        return "damaged"
    return "committed" if checkpoint.is_ours else "foreign"


def _entry(
    checkpoint: Checkpoint, newest: int | None, latest: str | None, now_s: float
) -> CheckpointEntry:
    manifest = checkpoint.manifest
    created_s = manifest.created_s if manifest else _changed_s(checkpoint.path, now_s)
    timings: Mapping[str, float] = _timings(manifest)
    return CheckpointEntry(
        name=checkpoint.path.name,
        step=checkpoint.step,
        size_bytes=checkpoint.size_bytes,
        state=state_of(checkpoint),
        age_s=max(0.0, now_s - created_s),
        serial=manifest.serial if manifest else None,
        metric=manifest.metric if manifest else None,
        call_s=timings.get("call_s"),
        durable_s=timings.get("durable_s"),
        ratio=_ratio(manifest),
        base=checkpoint.base,
        is_base_gone=_is_base_gone(checkpoint),
        is_newest=checkpoint.is_ours and checkpoint.serial == newest,
        is_latest=checkpoint.path.name == latest,
        unsafe=manifest.unsafe if manifest else [],
    )


def _is_base_gone(checkpoint: Checkpoint) -> bool:
    try:
        return checkpoint.base is not None and is_gone(checkpoint.path.with_name(checkpoint.base))
    except OSError:
        return False  # nobody can tell just now


def _timings(manifest: Manifest | None) -> Mapping[str, float]:
    """What a save cost; nobody knows that of a script's own."""
    if manifest is None or manifest.by_agent:
        return {}
    return msgspec.structs.asdict(manifest.timings)


def _ratio(manifest: Manifest | None) -> float | None:
    if manifest is None or not manifest.original_bytes:
        return None
    return manifest.size_bytes / manifest.original_bytes


def _changed_s(path: Path, now_s: float) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return now_s  # deleted while we looked


def _leftovers(directory: Path) -> list[LeftoverEntry]:
    """A manifest comes before the name of what it describes: beside a file that is to get that
    name, it is as unfinished as that."""
    left = list(leftovers_in(directory))
    unfinished = {match[1] for path in left if (match := TEMPORARY_NAME.fullmatch(path.name))}
    entries = []
    for path in left:
        match = MANIFEST_NAME.fullmatch(path.name)
        is_stray = match is not None and match[1] not in unfinished
        with suppress(OSError):  # finished while we looked
            size_bytes = path.lstat().st_size
            name = str(path.relative_to(directory))
            entries.append(LeftoverEntry(name, size_bytes, is_stray))
    return entries
