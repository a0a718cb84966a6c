"""Deleting what need not be kept, by hand: the answer of `instride prune` (schema 1).

The same rule as the writer's, under the same lock, and as careful: what stays is read back first.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from instride.errors import NoCheckpointError
from instride.store.checking import Checked, Watcher, check_one
from instride.store.directory import Checkpoint, checkpoints_in
from instride.store.latest import latest_mended
from instride.store.listing import OwnerEntry, check_directory, owner_of
from instride.store.lock import Owner, StoreLock, in_use, started_at
from instride.store.refusing import naming_what_cannot_be_written
from instride.store.removing import remove
from instride.store.retention import Keep, doomed

SCHEMA = 1
POLL_S = 0.05


class PrunedEntry(msgspec.Struct, frozen=True):
    name: str
    step: int
    size_bytes: int
    metric: float | None


class Pruning(msgspec.Struct, frozen=True):
    """What `instride prune --json` prints."""

    schema: int
    directory: str
    is_dry: bool
    """Nothing was deleted: this is what would go."""
    deleted: list[PrunedEntry]
    """Gone, or what would go; the first committed first."""
    kept: list[PrunedEntry]
    damaged: list[Checked]
    """Or unreadable: left alone, and not counted. From the newest on every byte was read until
    one was whole."""
    num_foreign: int
    """Files that instride did not write, which are left alone."""
    freed_bytes: int
    owner: OwnerEntry | None
    """Who works on the store now, so that only a dry run is possible."""


def prune(
    directory: Path,
    keep: Keep,
    *,
    dry_run: bool,
    watcher: Watcher | None = None,
) -> Pruning:
    """Delete what `keep` does not keep, or tell what that would be.

    Raises StoreInUseError while a living training owns the store, NoCheckpointError where nothing
    whole is left that could be kept, UnwritableError where nothing can be deleted.
    """
    check_directory(directory)
    if not any(checkpoint.is_ours for checkpoint in checkpoints_in(directory)):
        raise NoCheckpointError(directory, is_listed=True)
    if dry_run:
        return _prune(directory, keep, watcher, is_dry=True)
    with naming_what_cannot_be_written(directory), _owning(directory):
        return _prune(directory, keep, watcher, is_dry=False)


def _prune(directory: Path, keep: Keep, watcher: Watcher | None, *, is_dry: bool) -> Pruning:
    present = checkpoints_in(directory)
    damaged, good = _set_damaged_aside([c for c in present if c.is_ours], watcher)
    others = [checkpoint for checkpoint in present if not checkpoint.is_ours]
    damaged += [check_one(checkpoint.path) for checkpoint in others if checkpoint.was_ours]
    if not good:
        raise NoCheckpointError(directory, is_listed=True)
    going = doomed([*good, *others], keep)  # what stays out of reach keeps its base
    if not is_dry:
        with latest_mended(directory):
            for checkpoint in going:
                remove(checkpoint.path)
    gone = {checkpoint.path for checkpoint in going}
    return Pruning(
        schema=SCHEMA,
        directory=str(directory),
        is_dry=is_dry,
        deleted=[_entry(checkpoint) for checkpoint in going],
        kept=[_entry(checkpoint) for checkpoint in good if checkpoint.path not in gone],
        damaged=damaged,
        num_foreign=sum(not checkpoint.was_ours for checkpoint in others),
        freed_bytes=sum(checkpoint.size_bytes for checkpoint in going),
        owner=owner_of(directory) if is_dry else None,
    )


def _set_damaged_aside(
    ours: list[Checkpoint], watcher: Watcher | None
) -> tuple[list[Checked], list[Checkpoint]]:
    """Read from the newest on until one is whole: that one outlives whatever the rule says."""
    damaged = []
    good = sorted(ours, key=lambda checkpoint: checkpoint.serial)
    while good:
        if watcher is not None:
            watcher.begin(good[-1].size_bytes)
        checked = check_one(good[-1].path, watcher.advance if watcher is not None else None)
        if checked.state == "whole":
            break
        damaged.append(checked)
        good.pop()
    return damaged, good


@contextmanager
def _owning(directory: Path) -> Iterator[None]:
    """Own the store for a moment. A training that starts meanwhile waits, as it does for a writer
    that finishes for a training that is gone: hence no living trainer is named."""
    lock = StoreLock(directory)
    try:
        pid = os.getpid()
        started = started_at(pid) or 0
        me = Owner(socket.gethostname(), 0, 0, pid, is_leaving=True, writer_started=started)
        _take(lock, me, directory)
        try:
            yield
        finally:
            lock.leave()
    finally:
        lock.release()


def _take(lock: StoreLock, me: Owner, directory: Path) -> None:
    while True:
        try:
            holder = lock.try_take(me)
        except BlockingIOError:
            holder = me  # somebody has just taken it, and not yet said who it is
        if holder is None:
            return
        if holder.is_alive:
            raise in_use(directory, holder, "hint.prune")
        time.sleep(POLL_S)


def _entry(checkpoint: Checkpoint) -> PrunedEntry:
    manifest = checkpoint.manifest
    return PrunedEntry(
        checkpoint.path.name,
        checkpoint.step,
        checkpoint.size_bytes,
        manifest.metric if manifest else None,
    )
