"""Checkpoints that cannot be looked at just now: nothing is deleted for that, nor taken for new."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from instride.errors import DamagedError
from instride.store.checking import check
from instride.store.directory import LATEST, checkpoints_in, is_taken, leftovers_in
from instride.store.latest import mend_latest
from instride.store.listing import list_store
from instride.store.manifest import (
    manifests_folder,
    manifests_of,
    read_manifest,
    read_token,
    write_manifest,
)
from instride.store.naming import Naming
from instride.store.presence import is_gone
from instride.store.pruning import prune
from instride.store.retention import Keep
from instride.store.verifying import verify
from tests.integration.commands import as_nobody
from tests.unit.store.committing import commit
from tests.unit.store.unreachable import move_away, refuse_to_look_at


def make_a_delta(checkpoint: Path, base: Path) -> None:
    """Let a manifest say that the file needs another one."""
    manifest = read_manifest(checkpoint)
    assert manifest is not None
    write_manifest(checkpoint, msgspec.structs.replace(manifest, base=base.name))


def test_a_link_that_leads_nowhere_is_not_gone_and_what_is_no_file_is(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "file").touch()

    assert not is_gone(tmp_path / "link")
    assert not is_gone(tmp_path / "file")
    assert is_gone(tmp_path / "nothing")
    assert is_gone(tmp_path / "file" / "below")


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE, errno.ELOOP])
def test_what_the_system_does_not_say_is_raised(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    refuse_to_look_at(path, code, monkeypatch)

    with pytest.raises(OSError, match="file"):
        is_gone(path)
    with pytest.raises(OSError, match="file"):
        is_taken(path)  # and no save takes its name


def test_the_manifest_of_what_is_out_of_reach_is_no_leftover(tmp_path: Path) -> None:
    store, cold = tmp_path / "store", tmp_path / "cold"
    store.mkdir()
    checkpoint = commit(store, 10)
    away = move_away(checkpoint, cold)

    assert list(leftovers_in(store)) == []
    assert Naming(store, Keep()).sweep().names == []

    away.rename(cold)
    assert [found.is_ours for found in checkpoints_in(store)] == [True]


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
def test_what_cannot_be_looked_at_keeps_its_manifest_and_the_rest_is_swept(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, gone = commit(tmp_path, 10), commit(tmp_path, 20)
    [manifest], [stray] = manifests_of(checkpoint), manifests_of(gone)
    gone.unlink()
    refuse_to_look_at(checkpoint, code, monkeypatch)

    swept = Naming(tmp_path, Keep()).sweep()

    assert swept.names == [stray.name]
    assert (swept.left, swept.why) == ([manifest.name], os.strerror(code))
    assert manifest.exists()


def test_a_store_whose_manifests_are_closed_is_told_of_and_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the directories above are closed to others than root
    commit(Path(), 10)
    folder = manifests_folder(Path("step"))
    tmp_path.chmod(0o755)
    folder.chmod(0)
    told = []
    try:
        with as_nobody():
            swept = Naming(Path(), Keep()).sweep()
    finally:
        folder.chmod(0o755)

    swept.tell(lambda kind, **fields: told.append((kind, fields)))
    assert told == [("sweep-failed", {"names": ["manifests"], "why": "Permission denied"})]


def test_what_is_out_of_reach_is_listed_as_new_as_it_was(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    for step in (10, 20):
        checkpoint = commit(store, step)
    move_away(checkpoint, tmp_path / "cold")

    old, new = checkpoints_in(store)

    assert (new.step, new.is_ours, new.was_ours, new.may_be_read) == (20, False, True, False)
    assert new.serial > old.serial
    assert not new.is_damaged  # nobody knows
    assert [entry.state for entry in list_store(store).checkpoints] == ["committed", "unreadable"]
    assert [each.state for each in check(store).checkpoints] == ["whole", "unreadable"]


def test_what_is_out_of_reach_and_as_new_as_nobody_knows_is_tried_first(tmp_path: Path) -> None:
    checkpoint = commit(tmp_path, 10)
    [manifest] = manifests_of(checkpoint)
    manifest.write_bytes(b"{}")
    move_away(checkpoint, tmp_path / "cold")

    assert [found.is_damaged for found in checkpoints_in(tmp_path)] == [True]


def test_the_next_save_is_newer_than_what_is_out_of_reach(tmp_path: Path) -> None:
    """Else the two would be one save when it comes back, and the older be restored."""
    store, cold = tmp_path / "store", tmp_path / "cold"
    store.mkdir()
    away = move_away(commit(store, 10), cold)
    serial = Naming(store, Keep()).next_serial(store / "step_00000011.pt")
    away.rename(cold)

    assert serial > checkpoints_in(store)[0].serial


def test_the_base_of_what_is_out_of_reach_stays(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    base, delta = commit(store, 10), commit(store, 20)
    make_a_delta(delta, base)
    move_away(delta, tmp_path / "cold")
    newest = commit(store, 30)

    assert Naming(store, Keep(last=1)).prune(newest) == []
    pruning = prune(store, Keep(last=1), dry_run=False)

    assert pruning.deleted == []
    assert [(each.name, each.state) for each in pruning.damaged] == [(delta.name, "unreadable")]
    assert pruning.num_foreign == 0
    assert base.exists()


@pytest.mark.parametrize("target", ["step_00000020.pt", "../cold/mine.pt"])
def test_a_link_to_what_is_out_of_reach_is_left_alone(target: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    for step in (10, 20):
        checkpoint = commit(store, step)
    move_away(checkpoint, tmp_path / "cold")
    (store / LATEST).unlink()
    (store / LATEST).symlink_to(target)

    mend_latest(store)

    assert str((store / LATEST).readlink()) == target


def test_a_manifest_that_may_not_be_read_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    checkpoint = commit(Path(), 10)
    [manifest] = manifests_of(checkpoint)
    manifest.chmod(0)
    with as_nobody(), pytest.raises(PermissionError):
        verify(checkpoint)
    manifest.write_bytes(b"{}")
    manifest.chmod(0o644)
    assert manifest.name.split(".")[2] == read_token(checkpoint)
    with pytest.raises(DamagedError, match="its manifest differs"):
        verify(checkpoint)
