"""Directories as they are found: read-only, deleted, and with clocks that jumped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

import instride
from instride.errors import SaveFailedError
from instride.store.directory import newest_first
from instride.store.manifest import read_manifest, write_manifest
from instride.store.retention import Keep, doomed
from tests.crash.checks import assert_holds, assert_sound, path_of, steps_in
from tests.crash.mounts import break_down, mounted, remount
from tests.crash.trainings import Weights, save
from tests.crash.zygote import Zygote

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")]


def test_a_damaged_checkpoint_of_ours_is_replaced_by_a_whole_one(store: Path) -> None:
    with path_of(store, 2).open("r+b") as file:
        file.truncate(1000)

    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        save(saver, weights, 2).wait(60)

    assert assert_sound(store) == 2


def test_leftovers_of_ours_are_swept_by_the_next_owner(store: Path) -> None:
    manifests = store / ".instride" / "manifests"
    leftovers = [
        store / ".step_00000003.pt.0123abcd.tmp",
        manifests / "step_00000003.pt.0123456789abcdef.json",
        manifests / "step_00000002.pt.0123456789abcdef.json",
        manifests / ".step_00000003.pt.0123456789abcdef.json.0123abcd.tmp",
    ]
    for path in leftovers:
        path.write_bytes(b"{}")
    (store / ".latest.0123abcd.tmp").symlink_to("step_00000003.pt")

    with instride.Saver(store, weights=Weights()):
        pass

    assert [
        path.name for path in [*leftovers, store / ".latest.0123abcd.tmp"] if path.exists()
    ] == []
    assert assert_sound(store) == 2


def test_a_store_that_cannot_be_made_lets_training_go_on_until_it_can(
    zygote: Zygote, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    store = tmp_path / "file" / "store"
    weights = Weights()
    with pytest.warns(RuntimeWarning, match="nothing can be saved now"):
        saver = instride.Saver(store, weights=weights)
    with pytest.raises(SaveFailedError, match="Not a directory"):
        save(saver, weights, 1).wait(60)

    (tmp_path / "file").unlink()
    save(saver, weights, 2).wait(60)
    assert _refused_to_others(zygote, store)
    saver.close()

    assert assert_sound(store) == 2


def test_a_store_that_is_read_only_lets_training_go_on_until_it_is_not(
    zygote: Zygote, store: Path, tmp_path: Path
) -> None:
    with mounted("tmpfs", tmp_path / "disk", 64 << 20) as disk:
        shutil.copytree(store, disk / "store", symlinks=True)
        store = disk / "store"
        remount(disk, "ro")
        weights = Weights()
        with pytest.warns(RuntimeWarning, match="nothing can be saved now"):
            saver = instride.Saver(store, weights=weights)
        assert saver.restore() == 3
        assert weights.is_of(2)
        with pytest.raises(SaveFailedError, match="Read-only"):
            save(saver, weights, 3).wait(60)

        remount(disk, "rw")
        save(saver, weights, 4).wait(60)
        assert _refused_to_others(zygote, store)
        saver.close()

        assert assert_sound(store) == 4


def test_a_store_whose_disk_breaks_down_lets_training_go_on_and_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    with mounted("ext4", tmp_path / "disk", 96 << 20) as disk:
        store = disk / "store"
        weights = Weights()
        saver = instride.Saver(store, keep=instride.Keep(last=2), weights=weights)
        for step in (1, 2, 3):
            save(saver, weights, step).wait(60)

        break_down(disk)
        for step in (4, 5):
            with pytest.raises(SaveFailedError, match="Read-only"):
                save(saver, weights, step).wait(60)
        assert saver.restore() == 4
        assert weights.is_of(3)
        with pytest.raises(SaveFailedError, match="Read-only"):
            saver.close()

        assert assert_sound(store) == 3


def test_a_store_that_is_deleted_while_it_is_used_is_made_anew_and_still_owned(
    zygote: Zygote, store: Path
) -> None:
    weights = Weights()
    saver = instride.Saver(store, weights=weights)
    save(saver, weights, 3).wait(60)
    store.rename(store.with_name("moved"))
    shutil.rmtree(store.with_name("moved"))

    save(saver, weights, 4).wait(60)

    assert steps_in(store) == [4]
    assert _refused_to_others(zygote, store)
    saver.close()
    assert assert_sound(store) == 4
    assert (store / ".instride" / "journal.jsonl").exists()


def test_a_store_that_somebody_else_made_anew_is_not_written_to(
    zygote: Zygote, store: Path
) -> None:
    weights = Weights()
    saver = instride.Saver(store, weights=weights)
    store.rename(store.with_name("moved"))
    other = zygote.start("open_store", store=store)
    assert other.hear()[0] == "owned"

    with pytest.raises(SaveFailedError, match=f"pid {other.pid}"):
        save(saver, weights, 3).wait(60)
    assert steps_in(store) == []

    other.tell()
    assert other.wait() == 0
    save(saver, weights, 4).wait(60)
    saver.close()
    assert assert_sound(store) == 4


@pytest.mark.parametrize("created_s", [0.0, -1e9, 4e9])
def test_what_is_newest_does_not_depend_on_clocks(created_s: float, store: Path) -> None:
    path = path_of(store, 1)
    manifest = read_manifest(path)
    assert manifest is not None
    write_manifest(path, msgspec.structs.replace(manifest, created_s=created_s))
    os.utime(path, (4e9, 4e9))

    assert [checkpoint.step for checkpoint in newest_first(store)] == [2, 1]
    assert [each.step for each in doomed(newest_first(store), Keep(last=1))] == [1]
    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=1), weights=weights) as saver:
        assert saver.restore() == 3
        save(saver, weights, 3).wait(60)
    assert steps_in(store) == [3]


def test_after_a_return_to_an_earlier_step_that_one_is_newest(store: Path) -> None:
    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=2), weights=weights) as saver:
        assert saver.restore(step=1) == 2
        weights.become(1)
        saver.save(1).wait(60)

    assert [checkpoint.step for checkpoint in newest_first(store)] == [1, 2]
    assert_holds(path_of(store, 1), 1)


def _refused_to_others(zygote: Zygote, store: Path) -> bool:
    other = zygote.start("open_store", store=store)
    kind, text = other.hear()
    assert other.wait() == 0
    return kind == "StoreInUseError" and f"pid {os.getpid()} " in text
