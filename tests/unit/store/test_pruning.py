"""`prune` deletes what the rule lets go, and never what could be needed."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from instride.errors import NoCheckpointError, StoreInUseError, UnwritableError
from instride.store.checking import Watcher
from instride.store.directory import LATEST
from instride.store.latest import is_stale
from instride.store.lock import Owner, StoreLock, holder_of
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.store.committing import commit, flip, large, owned_by_this_process


def steps_in(directory: Path) -> list[int]:
    return sorted(int(path.stem[5:]) for path in directory.glob("step_*.pt"))


def manifests_in(directory: Path) -> list[int]:
    folder = directory / ".instride" / "manifests"
    return sorted(int(path.name[5:13]) for path in folder.iterdir())


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for step in range(100, 700, 100):
        commit(tmp_path, step, b"weights of %d" % step, metric=abs(step - 210))
    return tmp_path


@pytest.fixture
def latest(store: Path) -> Path:
    """A copy of the oldest, as a filesystem without links has it, or whoever copied a store."""
    (link := store / LATEST).unlink()
    shutil.copy(store / "step_00000100.pt", link)
    return link


@pytest.fixture
def refuse_links(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the system make no links: at all, or as long as a file is there."""
    make = os.symlink

    def refuse(code: int, until_gone: Path | None = None) -> None:
        def symlink(*arguments: Any) -> None:
            if until_gone is None or until_gone.exists():
                raise OSError(code, os.strerror(code))
            make(*arguments)

        monkeypatch.setattr(os, "symlink", symlink)

    return refuse


def test_what_is_not_kept_goes_with_its_manifest(store: Path) -> None:
    pruning = prune(store, Keep(last=2, every=300, best=1), dry_run=False)

    assert [entry.step for entry in pruning.deleted] == [100, 400]
    assert steps_in(store) == manifests_in(store) == [200, 300, 500, 600]
    assert [entry.step for entry in pruning.kept] == [200, 300, 500, 600]


def test_a_latest_that_is_a_copy_of_what_goes_leads_to_the_newest(
    store: Path, latest: Path
) -> None:
    """Looked at afterwards it would be a copy of nothing, and so somebody's file."""
    prune(store, Keep(last=1), dry_run=False)

    assert steps_in(store) == [600]
    assert latest.readlink() == Path("step_00000600.pt")
    assert not is_stale(store)


def test_a_latest_that_leads_to_what_goes_leads_to_the_newest(store: Path) -> None:
    (latest := store / LATEST).unlink()
    latest.symlink_to("step_00000100.pt")

    prune(store, Keep(last=1), dry_run=False)

    assert latest.readlink() == Path("step_00000600.pt")


def test_a_latest_that_is_somebodys_file_stays(store: Path, latest: Path) -> None:
    latest.write_bytes(b"somebody's")

    prune(store, Keep(last=1), dry_run=False)

    assert steps_in(store) == [600]
    assert latest.read_bytes() == b"somebody's"


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP])
def test_it_is_done_also_where_there_are_no_links(
    code: int, store: Path, latest: Path, refuse_links: Callable[..., None]
) -> None:
    """As on exFAT: `latest` is a copy there."""
    refuse_links(code)

    prune(store, Keep(last=1), dry_run=False)

    assert steps_in(store) == [600]
    assert latest.read_bytes() == b"weights of 100"


@pytest.mark.parametrize("code", [errno.EIO, errno.EROFS])
def test_where_the_link_cannot_be_made_for_another_reason_nothing_goes(
    code: int, store: Path, latest: Path, refuse_links: Callable[..., None]
) -> None:
    refuse_links(code)

    with pytest.raises(UnwritableError):
        prune(store, Keep(last=1), dry_run=False)

    assert len(steps_in(store)) == 6
    assert latest.read_bytes() == b"weights of 100"


def test_on_a_full_disk_the_link_is_made_once_there_is_room(
    store: Path, latest: Path, refuse_links: Callable[..., None]
) -> None:
    """Or prune could not make any where it is needed most."""
    refuse_links(errno.ENOSPC, until_gone=store / "step_00000100.pt")

    prune(store, Keep(last=1), dry_run=False)

    assert steps_in(store) == [600]
    assert latest.readlink() == Path("step_00000600.pt")


def test_a_disk_that_is_still_too_full_for_the_link_is_told_of(
    store: Path, latest: Path, refuse_links: Callable[..., None]
) -> None:
    refuse_links(errno.ENOSPC)

    with pytest.raises(UnwritableError):
        prune(store, Keep(last=1), dry_run=False)

    assert steps_in(store) == [600]


@pytest.mark.parametrize("keep", [Keep(last=1), Keep(last=3, every=200), Keep(last=1, best=2)])
def test_a_dry_run_shows_exactly_what_then_goes(keep: Keep, store: Path) -> None:
    before = steps_in(store)

    shown = prune(store, keep, dry_run=True)

    assert steps_in(store) == before
    assert prune(store, keep, dry_run=False).deleted == shown.deleted
    assert steps_in(store) == [entry.step for entry in shown.kept]


def test_a_living_training_is_not_interfered_with_but_can_be_looked_at(store: Path) -> None:
    lock = owned_by_this_process(store)

    with pytest.raises(StoreInUseError) as refused:
        prune(store, Keep(last=1), dry_run=False)

    assert "--dry-run" in refused.value.hint
    assert len(steps_in(store)) == 6
    shown = prune(store, Keep(last=1), dry_run=True)
    assert len(shown.deleted) == 5
    assert shown.owner is not None
    lock.release()


def test_a_writer_that_finishes_for_a_dead_training_is_waited_for(store: Path) -> None:
    lock = StoreLock(store)
    assert lock.try_take(Owner(socket.gethostname(), 0, 0, 0)) is None
    pruner = threading.Thread(target=prune, args=(store, Keep(last=1)), kwargs={"dry_run": False})
    pruner.start()

    assert len(steps_in(store)) == 6
    lock.release()
    pruner.join(30)

    assert steps_in(store) == [600]


def test_a_training_that_starts_meanwhile_waits_instead_of_being_refused(store: Path) -> None:
    holders: list[Owner] = []

    def look(num_bytes: int) -> None:
        raw = (store / ".instride" / "lock").read_bytes()
        holders.append(msgspec.json.decode(raw, type=Owner))

    prune(store, Keep(last=1), dry_run=False, watcher=Watcher(look, lambda num_bytes: None))

    assert [holder.is_alive for holder in holders] == [False]
    assert holder_of(store) is None


def test_a_damaged_newest_does_not_cost_the_last_good_one(tmp_path: Path) -> None:
    for step in (1, 2, 3, 4):
        commit(tmp_path, step, large(step))
    for step in (3, 4):
        flip(tmp_path / f"step_{step:08d}.pt", 10)

    pruning = prune(tmp_path, Keep(last=1), dry_run=False)

    assert [entry.step for entry in pruning.kept] == [2]
    assert [entry.step for entry in pruning.damaged] == [4, 3]
    assert steps_in(tmp_path) == [2, 3, 4]


def test_nothing_is_deleted_where_nothing_is_whole(tmp_path: Path) -> None:
    for step in (1, 2):
        flip(commit(tmp_path, step, large(step)), 10)

    with pytest.raises(NoCheckpointError):
        prune(tmp_path, Keep(last=1), dry_run=False)

    assert steps_in(tmp_path) == [1, 2]


def test_files_of_others_and_damaged_ends_are_left_alone(store: Path) -> None:
    (store / "step_00000050.pt").write_bytes(b"not ours")
    (store / "model.pt").write_bytes(b"not ours")
    flip(store / "step_00000100.pt", -1)

    pruning = prune(store, Keep(last=1), dry_run=False)

    assert pruning.num_foreign == 1
    assert [entry.reason for entry in pruning.damaged] == ["other-end"]
    assert steps_in(store) == [50, 100, 600]
    assert (store / "model.pt").exists()


def test_a_directory_without_checkpoints_of_ours_is_not_made_a_store(tmp_path: Path) -> None:
    (tmp_path / "step_00000050.pt").write_bytes(b"not ours")

    with pytest.raises(NoCheckpointError):
        prune(tmp_path, Keep(last=1), dry_run=False)

    assert not (tmp_path / ".instride").exists()
