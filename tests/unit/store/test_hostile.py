"""Stores that somebody tampered with: told, never believed, never waited for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blake3 import blake3

from instride.places import PRIVATE
from instride.store.atomic import point_link
from instride.store.checking import check
from instride.store.directory import LATEST, checkpoints_in
from instride.store.latest import mend_latest
from instride.store.listing import list_store
from instride.store.lock import holder_of
from instride.store.manifest import NO_CHECK, manifests_of, read_manifest
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.store.committing import commit


def forge(checkpoint: Path, **changes: Any) -> None:
    """Write a manifest that is sealed as it should be, and says what it should not."""
    [path] = manifests_of(checkpoint)
    fields = {**msgspec.json.decode(path.read_bytes()), **changes, "check": NO_CHECK}
    raw = msgspec.json.format(msgspec.json.encode(fields), indent=1)
    path.write_bytes(raw.replace(NO_CHECK.encode(), blake3(raw).hexdigest().encode()))


@pytest.mark.parametrize(
    "changes",
    [
        {"pieces": []},
        {"pieces": ["0" * 64] * 9},
        {"piece_bytes": -1},
        {"piece_bytes": 0},
        {"size_bytes": -5},
        {"base": "../../etc/passwd"},
        {"base": ".."},
        {"base": "a\0b"},
    ],
)
def test_a_manifest_that_cannot_be_true_is_none(tmp_path: Path, changes: dict[str, Any]) -> None:
    commit(tmp_path, 1)
    forged = commit(tmp_path, 2)
    assert read_manifest(forged) is not None
    forge(forged, **changes)
    assert read_manifest(forged) is None
    assert [each.state for each in check(tmp_path).checkpoints] == ["whole", "damaged"]
    assert len(list_store(tmp_path).checkpoints) == 2
    assert prune(tmp_path, Keep(last=1), dry_run=True).deleted == []


def test_a_manifest_that_nests_without_end_is_none(tmp_path: Path) -> None:
    checkpoint = commit(tmp_path, 1)
    [manifest] = manifests_of(checkpoint)
    manifest.write_bytes(b'{"name":' + b"[" * 200_000)
    assert read_manifest(checkpoint) is None
    assert [found.is_damaged for found in checkpoints_in(tmp_path)] == [True]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_pipes_and_devices_in_the_place_of_a_manifest_or_the_lock_are_not_read(
    tmp_path: Path, make: Any
) -> None:
    checkpoint = commit(tmp_path, 1)
    [manifest] = manifests_of(checkpoint)
    manifest.unlink()
    make(manifest)
    lock = tmp_path / PRIVATE / "lock"
    lock.unlink(missing_ok=True)
    make(lock)
    assert read_manifest(checkpoint) is None
    assert holder_of(tmp_path) is None


def test_latest_leads_to_what_is_left_after_deleting(tmp_path: Path) -> None:
    commit(tmp_path, 1)
    newest = commit(tmp_path, 2)
    point_link(tmp_path / LATEST, "step_00000001.pt")  # as a crash between two names leaves it
    prune(tmp_path, Keep(last=1), dry_run=False)
    assert (tmp_path / LATEST).resolve() == newest


def test_a_link_to_somebodys_own_file_stays(tmp_path: Path) -> None:
    commit(tmp_path, 1)
    own = tmp_path / "mine.pt"
    own.write_bytes(b"mine")
    point_link(tmp_path / LATEST, own.name)
    mend_latest(tmp_path)
    assert (tmp_path / LATEST).resolve() == own
